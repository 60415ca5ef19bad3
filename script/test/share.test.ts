import { expect, test } from "bun:test"
import { Glob } from "bun"
import { join } from "node:path"
import { deal } from "./share"

const root = join(import.meta.dir, "../..")
const all = [...new Glob("packages/opencode/test/**/*.test.ts").scanSync(root)]

test("every file is dealt once", () => {
  const dealt = deal(root, { cwd: "packages/opencode", among: ["test"] }, 4)
  expect(dealt).toHaveLength(4)
  expect(
    dealt
      .flat()
      .map((file) => file.replace("./", "packages/opencode/"))
      .toSorted(),
  ).toEqual(all.toSorted())
})

test("what belongs elsewhere is left out, and a name that only begins alike is not", () => {
  const [one = []] = deal(
    root,
    { cwd: "packages/opencode", among: ["test/pass-over"], without: ["test/pass-over/s"] },
    1,
  )
  const [two = []] = deal(
    root,
    { cwd: "packages/opencode", among: ["test/pass-over"], without: ["test/pass-over/store"] },
    1,
  )
  expect(one.length).toBeGreaterThan(two.length)
  expect(two.filter((file) => file.includes("/store/"))).toEqual([])
})

test("there are never more shares than files, and a folder without tests is a mistake", () => {
  expect(deal(root, { cwd: "packages/opencode", among: ["test/door.test.ts"] }, 3)).toEqual([["./test/door.test.ts"]])
  expect(() => deal(root, { cwd: "packages/opencode", among: ["test/nowhere"] }, 3)).toThrow("no tests")
})
