import { expect, test } from "bun:test"
import { translate, translateAll } from "../../src/pass-over/domain/translate"

test("one directory takes the place of several, each by its whole name", () => {
  const text = "/project/a.ts /trees/1/b.ts /trees/10/c.ts /projects/d.ts /project. /project.ts '/trees/1'"
  expect(translate(text, ["/trees/1", "/project"], "/trees/2")).toBe(
    "/trees/2/a.ts /trees/2/b.ts /trees/10/c.ts /projects/d.ts /trees/2. /project.ts '/trees/2'",
  )
  expect(translate(text, "/project", "/project")).toBe(text)
})

test("what has its new name already keeps it, also where that lies below the old one", () => {
  const [home, tree] = ["/home/ada", "/home/ada/.local/trees/1"]
  expect(translate(`${tree}/a.ts ${home}/a.ts ${home}`, home, tree)).toBe(`${tree}/a.ts ${tree}/a.ts ${tree}`)
  expect(translate(`${tree}/a.ts ${home}/a.ts`, tree, home)).toBe(`${home}/a.ts ${home}/a.ts`)
})

test("in whatever a text stands, and never in a name of a field", () => {
  const given = { "/project": ["/project/a.ts", 1, null, { path: "/trees/1/b.ts" }] }
  expect(translateAll(given, ["/project", "/trees/1"], "/t")).toEqual({
    "/project": ["/t/a.ts", 1, null, { path: "/t/b.ts" }],
  })
})
