import { describe, expect, test } from "bun:test"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { propose } from "../../../src/pass-over/domain/change/propose"
import { translate, translateAll } from "../../../src/pass-over/domain/translate"
import { checkProposals, proposedFiles } from "../../../src/pass-over/service/change/propose"
import { readReport } from "../../../src/pass-over/domain/report"
import { createChangeWorld } from "../support/change"

const report = (value: unknown) => {
  const read = readReport(value)
  if (!read.ok) throw new Error(read.problem)
  return read.report
}
const modify = (path: string, more: Record<string, unknown>) => ({
  type: "file_modification",
  path,
  reason: "so",
  ...more,
})

describe("a wish", () => {
  test.each([
    ["a new content", "old\n", { new_content: "new\n" }, "new\n"],
    ["a new file", null, { new_content: "new\n" }, "new\n"],
    [
      "edits",
      "a b c",
      {
        edits: [
          { old_string: "b", new_string: "$&" },
          { old_string: "c", new_string: "d" },
        ],
      },
      "a $& d",
    ],
    ["a deletion", "old\n", { deleted: true }, null],
    ["an old content that is right", "old\n", { old_content: "old\n", new_content: "" }, ""],
  ] as const)("for %s becomes exactly that", (_name, real, wish, text) => {
    expect(propose(real, { path: "a", ...wish })).toEqual({ ok: true, text })
  })

  test.each([
    ["an old content from memory", "old\n", { old_content: "Old\n", new_content: "new\n" }, "not what is in the file"],
    ["an old content of no file", null, { old_content: "x", new_content: "new\n" }, "no such file"],
    ["text that is not there", "a", { edits: [{ old_string: "b", new_string: "" }] }, "is not in the file"],
    ["text that is there twice", "b b", { edits: [{ old_string: "b", new_string: "" }] }, "2 times"],
    ["edits of no file", null, { edits: [{ old_string: "b", new_string: "" }] }, "no such file"],
    ["both ways at once", "b", { edits: [{ old_string: "b", new_string: "" }], new_content: "x" }, "not both"],
    ["the same again", "b", { new_content: "b" }, "changes nothing"],
    ["nothing", "b", {}, "neither"],
    ["a deletion of nothing", null, { deleted: true }, "no such file"],
  ] as const)("for %s is refused with the reason", (_name, real, wish, why) => {
    expect(propose(real, { path: "a", ...wish })).toMatchObject({ ok: false, problem: expect.stringContaining(why) })
  })
})

test("proposals are checked against the real files and become exact", async () => {
  using world = await createChangeWorld()
  world.put("src/a.ts", "one\ntwo\nthree\n", 0o755)
  world.put("empty.txt", "")
  const given = report({
    findings: [
      { message: "two is wrong", path: `${world.project}/src/a.ts`, line: 2, suggested_fix: "2", replaces: "two" },
      { message: "only words", path: "src/a.ts", suggested_fix: "think again" },
    ],
    artifacts: [
      modify(`${world.project}/src/a.ts`, { edits: [{ old_string: "one", new_string: "1" }] }),
      modify("./new.ts", { new_content: "new\n" }),
      modify("empty.txt", { new_content: "full\n" }),
    ],
  })
  const checked = await checkProposals(world.deps, world.project, given)
  if (!checked.ok) throw new Error(checked.problem)
  expect(checked.report.artifacts).toMatchObject([
    { path: "src/a.ts", old_content: "one\ntwo\nthree\n", new_content: "1\n2\nthree\n", reason: "so; two is wrong" },
    { path: "new.ts", old_content: "", new_content: "new\n" },
    { path: "empty.txt", old_content: "", new_content: "full\n" },
  ])
  const files = await proposedFiles(world.deps, world.project, checked.report)
  expect(files.map(({ path, old, new: after }) => [path, old?.mode ?? null, old?.bytes ?? null, after?.bytes])).toEqual(
    [
      ["src/a.ts", "100755", 14, 10],
      ["new.ts", null, null, 4],
      ["empty.txt", "100644", 0, 5],
    ],
  )
})

test("what does not fit goes back with every reason at once", async () => {
  using world = await createChangeWorld()
  world.put("a.ts", "a\n")
  world.put("latin.txt", new Uint8Array([0xe4, 0x0a]))
  world.put("image.png", new Uint8Array([0, 1]))
  symlinkSync("a.ts", join(world.project, "link.ts"))
  const artifacts = ["/etc/passwd", "../x", ".git/config", "opencode.json", "link.ts", "latin.txt", "image.png"].map(
    (path) => modify(path, { new_content: "x\n" }),
  )
  const checked = await checkProposals(
    world.deps,
    world.project,
    report({ artifacts: [...artifacts, modify("a.ts", { edits: [{ old_string: "b", new_string: "c" }] })] }),
  )
  const problem = checked.ok ? "" : checked.problem
  expect(problem.split("\n")).toHaveLength(8)
  for (const word of [
    "outside",
    "plain path",
    ".git",
    "opencode.json",
    "symbolic link",
    "UTF-8",
    "binary",
    "old_string",
  ]) {
    expect(problem).toContain(word)
  }
  expect(world.get("a.ts")).toBe("a\n")
})

test("a directory in a text gives way to another, and only that directory", () => {
  const [from, to] = ["/data/tree-1", "/project"]
  expect(translate("see /data/tree-1/src/a.ts:3 in /data/tree-1.", from, to)).toBe(
    "see /project/src/a.ts:3 in /project.",
  )
  expect(translate("/data/tree-12/a /data/tree-1.bak /data/tree-1-x", from, to)).toBe(
    "/data/tree-12/a /data/tree-1.bak /data/tree-1-x",
  )
  expect(translateAll({ a: ["/data/tree-1/x", 1, null], "/data/tree-1": true }, from, to)).toEqual({
    a: ["/project/x", 1, null],
    "/data/tree-1": true,
  })
})

test("a file keeps its line ends and its mark, which a child is not shown", () => {
  const real = "\uFEFFone\r\ntwo\r\nthree\r\n"
  const wants = (wish: Omit<Parameters<typeof propose>[1], "path">) => propose(real, { path: "x", ...wish })
  const text = "\uFEFFone\r\n2\r\nand\r\nthree\r\n"
  expect(wants({ edits: [{ old_string: "two\nthree", new_string: "2\nand\nthree" }] })).toEqual({ ok: true, text })
  expect(wants({ old_content: "one\ntwo\nthree\n", new_content: "one\n2\nand\nthree\n" })).toEqual({ ok: true, text })
  expect(wants({ new_content: "one\ntwo\nthree\n" })).toMatchObject({ ok: false, problem: "it changes nothing" })
  // One of mixed endings is left to whoever names them.
  expect(propose("a\r\nb\n", { path: "x", edits: [{ old_string: "a\nb", new_string: "c" }] })).toMatchObject({
    ok: false,
  })
})
