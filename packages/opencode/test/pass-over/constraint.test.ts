import { describe, expect, test } from "bun:test"
import { posix } from "node:path"
import { constraintLayers, CONSTRAINTS, rulesOf, unenforceable } from "../../src/pass-over/domain/constraint"
import { demands, type Place } from "../../src/pass-over/domain/demand"
import { meet, type Action, type Rule } from "../../src/pass-over/domain/right"
import { against, rightTo } from "../../src/pass-over/service/right"
import { place, rights } from "./support/rights"

describe("constraints", () => {
  const may = (constraint: string, permission: string, pattern = "*") =>
    meet(constraintLayers([constraint]), permission, [pattern]).action

  test("each does what it says", () => {
    expect([
      may("read_only", "edit"),
      may("read_only", "bash"),
      may("read_only", "mcp_tool"),
      may("read_only", "read"),
    ]).toEqual(["deny", "deny", "deny", "allow"])
    for (const name of ["no_network", "no_external_calls"]) {
      expect([may(name, "webfetch"), may(name, "bash"), may(name, "mcp_tool"), may(name, "edit")]).toEqual([
        "deny",
        "deny",
        "deny",
        "allow",
      ])
    }
    expect([
      may("paths: src/*, docs/*", "edit", "src/a"),
      may("paths: src/*", "edit", "x"),
      may("paths: src/*", "bash"),
      may("paths: src/*", "read"),
    ]).toEqual(["allow", "deny", "deny", "allow"])
    expect([may("no_paths: src/*", "edit", "src/a"), may("no_paths: src/*", "edit", "x")]).toEqual(["deny", "allow"])
    for (const constraint of ["paths: src", "no_paths: secret"]) {
      for (const tool of ["mcp_write", "multiedit", "bash", "shell", "task"]) expect(may(constraint, tool)).toBe("deny")
      for (const tool of ["read", "grep", "webfetch", "external_directory"]) expect(may(constraint, tool)).toBe("allow")
    }
    for (const name of ["bash", "Bash", "shell"]) expect(may(`no_tools: ${name}`, "bash")).toBe("deny")
    for (const name of ["edit", "Write", "multiedit"]) expect(may(`no_tools: ${name}`, "edit")).toBe("deny")
    expect([
      may("tools: read, write", "edit"),
      may("tools: read", "bash"),
      may("no_tools: bash", "bash"),
      may("no_tools: bash", "read"),
    ]).toEqual(["allow", "deny", "deny", "allow"])
    expect([
      may("commands: npm test*", "bash", "npm test a"),
      may("commands: npm test*", "bash", "rm"),
      may("commands: npm test*", "edit"),
    ]).toEqual(["allow", "deny", "allow"])
  })

  // Of each: what is under it, and what is not.
  test.each<[path: string, under: string[], beside: string[]]>([
    ["src", ["src", "src/a.ts", "src/deep/a.ts"], ["srca", "a/src", "lib/a.ts", "../src/a.ts", "../x"]],
    ["src/", ["src/a.ts", "src/deep/a.ts"], ["srca", "lib/a.ts"]],
    ["./src", ["src/a.ts"], ["lib/a.ts"]],
    ["./src/*", ["src/a.ts", "src/deep/a.ts"], ["lib/a.ts", "../src/a.ts"]],
    ["src//deep/../", ["src/a.ts"], ["lib/a.ts"]],
    ["src\\deep", ["src/deep/a.ts"], ["src/a.ts"]],
    ["src/**", ["src/a.ts", "src/deep/a.ts"], ["lib/a.ts"]],
    ["src/**/*.ts", ["src/a.ts", "src/deep/a.ts"], ["src/a.js", "lib/a.ts"]],
    ["**/key", ["key", "a/key", "a/b/key/c"], ["a/mykey", "../key", "../a/key"]],
    ["a/**/b/**/c", ["a/b/c", "a/x/b/c", "a/b/x/c", "a/x/b/y/z/c/d"], ["a/c", "a/xb/c"]],
    ["*.md", ["a.md", "docs/a.md"], ["a.ts", "../a.md"]],
    ["app/[id]/page.tsx", ["app/[id]/page.tsx"], ["app/i/page.tsx"]],
    ["my?folder", ["my folder/a"], ["myfolder/a"]],
    [".", ["a", "src/a.ts"], ["../a"]],
    ["../shared", ["../shared/a"], ["shared/a", "src/a.ts"]],
    ["lib, src\n.env", ["lib/a", "src/a", ".env"], ["a", "x.env"]],
  ])("a path is what lies under it: %j", (path, under, beside) => {
    const said = (name: string, files: string[]) => files.map((file) => [file, may(`${name}: ${path}`, "edit", file)])
    const all = (files: string[], action: Action) => files.map((file) => [file, action])
    expect(said("paths", under)).toEqual(all(under, "allow"))
    expect(said("paths", beside)).toEqual(all(beside, "deny"))
    expect(said("no_paths", under)).toEqual(all(under, "deny"))
    // A star may take in what lies outside, which is no harm where it shuts.
    const inside = beside.filter((file) => !file.startsWith("../"))
    expect(said("no_paths", inside)).toEqual(all(inside, "allow"))
  })

  const inPack = { directory: "/repo/pack", worktree: "/repo", relative: posix.relative, resolve: posix.resolve }
  const nowhere = { ...inPack, directory: "/home/u/p", worktree: "/" }
  const copy = { ...inPack, directory: "/data/trees/tree-1", worktree: "/" }

  test.each<[path: string, where: Place, under: string[], beside: string[]]>([
    ["secret/*", nowhere, ["secret/key", "/home/u/p/secret/key"], ["src/a", "/home/u/secret/key", "/secret/key"]],
    ["secret", copy, ["secret/key", "/data/trees/tree-1/secret/key"], ["src/a", "/home/u/p/secret/key"]],
    ["*.md", nowhere, ["a.md", "docs/a.md"], ["a.ts", "/home/u/a.md", "/etc/a.md"]],
    ["secret", inPack, ["secret/key", "/repo/pack/secret/key"], ["key", "/repo/pack/a"]],
    ["pack/secret", inPack, ["secret/key"], ["a"]],
    ["./pack//secret/", inPack, ["secret/key"], ["a"]],
    ["../shared", inPack, ["/repo/shared/a"], ["/repo/pack/shared/a", "/repo/a"]],
    [".", inPack, ["a"], ["/repo/a", "/repo/other/a", "/etc/a"]],
  ])("a path is told from the project on, whatever the host calls it: %s", (path, where, under, beside) => {
    const said = (name: string, filePath: string) => {
      const pass = { subagent_id: "audit" } as Parameters<typeof against>[1]
      const call = { tool: "edit", args: { filePath }, place: where }
      return against({ ...rights(`${name}: ${path}`), last: false }, pass, call) === undefined ? "may" : "may not"
    }
    for (const file of under)
      expect([file, said("paths", file), said("no_paths", file)]).toEqual([file, "may", "may not"])
    for (const file of beside) expect([file, said("paths", file)]).toEqual([file, "may not"])
    for (const file of beside.filter((one) => !one.startsWith("/")))
      expect([file, said("no_paths", file)]).toEqual([file, "may"])
  })

  test("what was meant for the top of the repository is shut there, and opens nothing outside of the project", () => {
    const at = (constraint: string, filePath: string) =>
      rightTo(rights(constraint), "edit", demands("edit", { filePath }, inPack)[0]?.patterns ?? [], { within: "pack" })
        .action
    expect([at("no_paths: shared", "/repo/shared/a"), at("no_paths: shared", "/repo/pack/shared/a")]).toEqual([
      "deny",
      "deny",
    ])
    expect([at("paths: shared", "/repo/shared/a"), at("paths: shared", "/repo/pack/shared/a")]).toEqual([
      "deny",
      "allow",
    ])
  })

  const UNREAD = ['"src"', "'src'", "`src`", "src docs", "!src/a", "src/{a,b}", "{src}", "[src]", '["src"]', "[a, b]"]
  const AWAY = ["/home/u/p/src", "~/src", "C:\\src", "\\\\host\\src", "a/**/b/**/c/**/d/**", "src, /etc"]

  test.each([...UNREAD, ...AWAY])(
    "a path that would match nothing is refused, and not taken for a promise: %s",
    (path) => {
      for (const name of ["paths", "no_paths"]) {
        expect(rulesOf(`${name}: ${path}`)).toBeUndefined()
        expect(unenforceable([`${name}: ${path}`])).toMatchObject({
          code: "E013",
          message: expect.stringContaining("is not read as a path"),
          suggestion: expect.stringMatching(/^write paths from the project's folder on, with commas between them/i),
        })
      }
    },
  )

  test("a tool that is named as none can be is refused", () => {
    for (const constraint of ['no_tools: "bash"', "no_tools: bash edit", "tools: [read]"])
      expect(unenforceable([constraint])?.message).toContain("is not read as a tool")
    for (const constraint of ["no_tools: github_create-issue", "tools: read, mcp_*"])
      expect(unenforceable([constraint])).toBeUndefined()
  })

  test("a command is not a place to write into", () => {
    const bash = (constraint: string, command: string) => {
      const [demand] = demands("bash", { command }, place)
      return rightTo(rights(constraint), "bash", demand?.patterns ?? [], { unsure: demand?.unsure }).action
    }
    for (const command of [
      "git log > a.ts",
      "git log >> a.ts",
      "git log >| a.ts",
      "git log <> a.ts",
      "git log 2>a",
      "git log &> a",
    ])
      expect([command, bash("commands: git log*", command)]).toEqual([command, "deny"])
    expect([bash("commands: git log*", "git log -1"), bash("commands: make > log", "make > log")]).toEqual([
      "allow",
      "allow",
    ])
  })

  // What a shell can write with; nothing of it has to be known, because there is no shell.
  const WRITES = `
    tee a|dd of=a|sed -i s/a/b/ a|sed --in-place s/a/b/ a|perl -pi -e s/a/b/ a|python -c 'open("a","w")'|npm test
    git apply a|git checkout .|git stash|git config a b|git -c core.pager=x log|patch a|yarn build|cat a >a|cat a <> b
    ls <(rm a)|find . -delete|find . -exec rm a|find . -fprint a|xargs rm|env rm a|nohup rm a|time rm a|command rm a
    r\\m a|'rm' a|$X a|source a|. a|tar -x a|unzip a|curl -o a b|wget b|sort -o a b|uniq a b|awk '{print > "f"}'
    ln a b|install a b|truncate a|split a|ls|cat a`
    .split(/[|\n]/)
    .map((command) => command.trim())
    .filter(Boolean)

  test.each(["", ...WRITES, "cat a >| b", "cat <<E > a\nx\nE"])(
    "who only looks has no shell, whatever it is asked for and whoever grants it: %j",
    (command) => {
      const grant: Rule[] = [{ permission: "*", pattern: "*", action: "allow" }]
      for (const constraint of ["read_only", "paths: src", "no_paths: secret", "no_network"]) {
        for (const tool of ["bash", "shell"]) {
          const pass = { subagent_id: "audit" } as Parameters<typeof against>[1]
          const call = { tool, args: { command }, place }
          expect(against({ ...rights(constraint), grant, last: false }, pass, call)).toContain(constraint)
        }
      }
    },
  )

  test("what cannot be enforced is refused and not passed on as a wish", () => {
    expect(unenforceable(["read_only", "be nice"])).toMatchObject({
      code: "E013",
      message: 'The constraint "be nice" cannot be enforced.',
      suggestion: expect.stringContaining('"paths: …"'),
    })
    expect(unenforceable([`paths: ${"*a".repeat(1_500)}`])).toMatchObject({
      code: "E013",
      message: expect.stringContaining("is longer than 2000 characters"),
    })
    for (const wrong of ["paths", "paths:", "read_only: x", "toString", "constructor: a", ""])
      expect(rulesOf(wrong)).toBeUndefined()
    expect(
      unenforceable(
        Object.entries(CONSTRAINTS).map(([name, { takes }]) => (takes === "nothing" ? name : `${name}: x`)),
      ),
    ).toBeUndefined()
  })
})
