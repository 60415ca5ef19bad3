import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { call, say, type ModelRequest } from "@pass-over/rehearsal"
import { bash, doing, writing, type DoOptions, type Step } from "../support/does"
import { createWorld, endWorld, type World } from "../support/opencode"

setDefaultTimeout(120_000)

const held = {} as { world: World }

// A tool of the user's own, as of an MCP server: it writes, and nobody knows that it does.
const SCRIBBLE = `import { writeFileSync } from "node:fs"
import { join } from "node:path"
export default {
  description: "scribbles",
  args: {},
  execute: async (_args, { directory }) => (writeFileSync(join(directory, "scribbled"), "x"), "scribbled it"),
}
`

const everything = { "*": "allow" }
const agent = (mode: string, permission: object = {}) => ({
  mode,
  description: "Does",
  prompt: "You do.",
  permission: { ...everything, ...permission },
})

beforeAll(async () => {
  held.world = await createWorld({
    global: { defaults: { isolation: "none" } },
    preferences: {},
    config: { agent: { dora: agent("primary"), sena: agent("primary", { edit: "deny" }), wren: agent("subagent") } },
    files: {
      "secret/key.txt": "key\n",
      "docs/a.md": "old\n",
      "pack/secret/key.txt": "key\n",
      "pack/lib/a.ts": "old\n",
      ".opencode/tool/scribble.ts": SCRIBBLE,
    },
  })
})
afterEach(() => prefer({}))
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const at = (path: string) => join(held.world.box.project, path)
const content = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), "utf8") : undefined)
const prefer = (preferences: object) => held.world.box.write(".opencode/pass-over.json", JSON.stringify(preferences))
const write = (path: string, text?: string): Step => writing(at(path), text)
const does = (from: string, steps: Step[], options: DoOptions = {}) =>
  doing({ ...held.world, from, to: "wren" }, steps, options)

const scribble: Step = { name: "scribble", input: {} }

describe("a grant", () => {
  test("lets a child write where its originator may write nowhere, and only there", async () => {
    prefer({ pairs: { "sena->wren": { grant: [{ permission: "edit", pattern: "docs/*" }] } } })
    const { told, tools } = await does("sena", [write("docs/a.md"), write("other.md")])
    expect(tools).toContain("write")
    expect(content("docs/a.md")).toBe("new\n")
    expect(told[1]).toContain(
      "E013 PERMISSION_DENIED: wren may not edit other.md in this pass: the rules of sena forbid it.",
    )
    expect(content("other.md")).toBeUndefined()
  })

  test("lifts nothing that the call itself has shut", async () => {
    prefer({ pairs: { "dora->wren": { grant: [{ permission: "*", pattern: "*" }] } } })
    const shut = { pass: { constraints: ["no_paths: secret"] } }
    const { told, tools } = await does("dora", [write("secret/key.txt"), write("granted.md")], shut)
    expect(told[0]).toContain('the constraint "no_paths: secret" forbids it')
    expect([content("secret/key.txt"), content("granted.md")]).toEqual(["key\n", "new\n"])
    expect(tools).not.toContain("bash")
    expect(tools).not.toContain("scribble")
  })
})

describe("who may not modify files", () => {
  test("has neither a shell nor a tool that nobody knows where it works in the project itself", async () => {
    const free = await does("dora", [scribble, bash("rm scribbled; echo done")])
    expect(free.told.join()).toContain("scribbled it")
    expect(free.tools).toContain("scribble")
    prefer({ subagents: { wren: { can_modify_files: false } } })
    const { tools } = await does("dora", [bash("sed -i s/old/ruined/ pack/lib/a.ts"), scribble, write("never.md")])
    for (const name of ["bash", "scribble", "write", "edit"]) expect(tools).not.toContain(name)
    for (const name of ["read", "grep", "glob"]) expect(tools).toContain(name)
    expect([content("pack/lib/a.ts"), content("scribbled"), content("never.md")]).toEqual([
      "old\n",
      undefined,
      undefined,
    ])
  })

  test("has a shell in a tree of its own, and none of its work is kept", async () => {
    prefer({ subagents: { wren: { can_modify_files: false } } })
    const apart = { pass: { override: { isolation: "worktree" } } }
    const { told, tools } = await does("dora", [bash("echo ruined > pack/lib/a.ts; cat pack/lib/a.ts")], apart)
    expect(told[0]).toContain("ruined")
    expect(tools).not.toContain("scribble")
    expect(content("pack/lib/a.ts")).toBe("old\n")
  })
})

describe("paths", () => {
  test("are what lies under them, and leave no tool that nobody knows", async () => {
    const { told, tools } = await does("dora", [write("docs/b.md"), write("b.md")], {
      pass: { constraints: ["paths: ./docs/"] },
    })
    expect(told[1]).toContain('the constraint "paths: ./docs/" forbids it')
    expect([content("docs/b.md"), content("b.md")]).toEqual(["new\n", undefined])
    expect(tools).not.toContain("scribble")
  })

  test("that would match nothing are refused before anything starts", async () => {
    const { answer } = await refused("no_paths: /etc, secret keys")
    expect(answer).toContain('E013 PERMISSION_DENIED: The constraint "no_paths: /etc, secret keys" cannot be enforced')
    expect(answer).toContain('"/etc" is not read as a path')
  })

  test.each([
    ["below the top of its repository", () => at("pack")],
    ["outside of git", () => join(held.world.box.root, "plain")],
  ])("are told from the project on %s, also in a tree of its own", async (_, folder) => {
    const { box, model } = held.world
    const directory = folder()
    const file = (path: string) => join(directory, path)
    for (const [path, text] of [
      ["secret/key.txt", "key\n"],
      ["lib/a.ts", "old\n"],
    ] as const) {
      mkdirSync(dirname(file(path)), { recursive: true })
      writeFileSync(file(path), text)
    }
    await using server = await box.serve({ directory })
    await server.client.app.agents()
    for (const isolation of [{}, { override: { isolation: "worktree" } }]) {
      const steps = [writing(file("secret/key.txt")), writing(file("lib/b.ts")), writing(file("elsewhere.ts"))]
      const pass = { constraints: ["no_paths: secret", "paths: lib, secret"], ...isolation }
      const { told } = await doing({ model, server, from: "dora", to: "wren" }, steps, { pass })
      expect(told[0]).toContain('the constraint "no_paths: secret" forbids it')
      expect(told[1]).toContain("Wrote file successfully")
      expect(told[2]).toContain('the constraint "paths: lib, secret" forbids it')
      expect(readFileSync(file("secret/key.txt"), "utf8")).toBe("key\n")
    }
  })
})

/** A pass that is not let in. */
async function refused(constraint: string) {
  const { model, server } = held.world
  model.play({
    agents: {
      dora: [
        call("pass_over", { subagent: "wren", objective: "Do it", reason: "test", constraints: [constraint] }),
        (request: ModelRequest) => say(request.result("pass_over") ?? "nothing"),
      ],
    },
  })
  return { answer: (await server.prompt({ agent: "dora", text: "Go." })).text }
}
