import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { call, say, type ModelRequest } from "@pass-over/rehearsal"
import { meet, type Action, type Rule } from "../../../src/pass-over/domain/right"
import { bash, doing, writing, type DoOptions, type Step } from "../support/does"
import { createWorld, endWorld, type World } from "../support/opencode"

setDefaultTimeout(120_000)

const held = {} as { world: World }

// Dora passes work to wren, who may do everything. What dora herself may not do, wren may not do for her.
const everything = { "*": "allow" }
const dora = {
  edit: { "*": "allow", "secret/*": "deny", "docs/*": "ask" },
  bash: { "*": "allow", "git push*": "deny" },
  webfetch: "deny",
}

beforeAll(async () => {
  held.world = await createWorld({
    // What is asked and allowed is looked at in the project itself.
    global: { defaults: { isolation: "none" } },
    config: {
      agent: {
        dora: { mode: "primary", description: "Asks", prompt: "You ask.", permission: { ...everything, ...dora } },
        wren: { mode: "subagent", description: "Does", prompt: "You do.", permission: everything },
      },
    },
    files: { "secret/key.txt": "key\n", "docs/a.md": "old\n", "src/a.ts": "old\n" },
  })
})
afterEach(() => held.world.box.write(".opencode/pass-over.json", "{}"))
afterAll(async () => {
  held.world.model.verify()
  expect(await endWorld(held.world)).toEqual([])
})

const at = (path: string) => join(held.world.box.project, path)
const content = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), "utf8") : undefined)

/** Lets wren do one thing after the other for dora. */
const does = (steps: Step[], options: DoOptions = {}) =>
  doing({ ...held.world, from: "dora", to: "wren" }, steps, options)

const write = (path: string, text = "new\n"): Step => writing(at(path), text)

describe("a child never does what its originator may not", () => {
  test("a path that is denied to the originator is denied to the child, who may do everything", async () => {
    const { told } = await does([write("secret/key.txt"), write("src/a.ts")])
    expect(told[0]).toContain(
      "E013 PERMISSION_DENIED: wren may not edit secret/key.txt in this pass: the rules of dora forbid it.",
    )
    expect(content("secret/key.txt")).toBe("key\n")
    expect(content("src/a.ts")).toBe("new\n")
  })

  test("a command that is denied to the originator is denied to the child, also behind another", async () => {
    const { told } = await does([bash("true && git push --dry-run"), bash("echo fine")])
    expect(told[0]).toContain("E013 PERMISSION_DENIED: wren may not bash")
    expect(told[1]).toContain("fine")
  })

  test("a tool that is denied to the originator is not even shown to the child", async () => {
    const { tools } = await does([bash("true")])
    expect(tools).toContain("bash")
    expect(tools).not.toContain("webfetch")
  })

  test("what the originator would be asked about, the user is asked about", async () => {
    const no = await does([write("docs/a.md", "refused\n")], { reply: "reject" })
    expect(no.asked.some(({ permission, patterns }) => permission === "edit" && patterns[0] === "docs/a.md")).toBe(true)
    expect(content("docs/a.md")).toBe("old\n")
    await does([write("docs/a.md", "allowed\n")], { reply: "once" })
    expect(content("docs/a.md")).toBe("allowed\n")
  })

  test('an "always" of the user does not open what the originator is denied', async () => {
    await does([write("docs/a.md", "always\n")], { reply: "always" })
    expect(content("docs/a.md")).toBe("always\n")
    const { told } = await does([write("secret/key.txt")])
    expect(told[0]).toContain("E013")
    expect(content("secret/key.txt")).toBe("key\n")
  })
})

describe("what narrows further", () => {
  test("read_only leaves nothing that changes anything", async () => {
    const { tools, told } = await does([bash("echo no > src/a.ts")], { pass: { constraints: ["read_only"] } })
    expect(tools).not.toContain("write")
    expect(told[0]).not.toContain("fine")
  })

  test("paths are held to", async () => {
    const { told } = await does([write("src/b.ts"), write("other.ts")], { pass: { constraints: ["paths: src/*"] } })
    expect(told[1]).toContain('the constraint "paths: src/*" forbids it')
    expect(content("src/b.ts")).toBe("new\n")
    expect(content("other.ts")).toBeUndefined()
  })

  test("a constraint that nothing enforces is refused before anything starts", async () => {
    const { model, server, passes } = held.world
    const before = (await passes()).length
    model.play({
      agents: {
        dora: [
          call("pass_over", { subagent: "wren", objective: "Do it", reason: "test", constraints: ["be careful"] }),
          (request: ModelRequest) => say(request.result("pass_over") ?? "nothing"),
        ],
      },
    })
    const answer = await server.prompt({ agent: "dora", text: "Go." })
    expect(answer.text).toContain('E013 PERMISSION_DENIED: The constraint "be careful" cannot be enforced.')
    expect(await passes()).toHaveLength(before)
  })

  test("a grant in the pair is the only thing that widens", async () => {
    held.world.box.write(
      ".opencode/pass-over.json",
      JSON.stringify({ pairs: { "dora->wren": { grant: [{ permission: "edit", pattern: "secret/granted.txt" }] } } }),
    )
    const { told } = await does([write("secret/granted.txt"), write("secret/key.txt")])
    expect(content("secret/granted.txt")).toBe("new\n")
    expect(told[1]).toContain("E013")
  })
})

/** As many small paths and commands as a hundred, in one pass: each must end as the rules of both say. */
test("a hundred probes end as the rules of both agents say", async () => {
  const allow: Rule = { permission: "*", pattern: "*", action: "allow" }
  const rules = (name: string, of: Record<string, Action>): Rule[] =>
    Object.entries(of).map(([pattern, action]) => ({ permission: name, pattern, action }))
  const layers = [
    { who: "wren", rules: [allow] },
    {
      who: "dora",
      rules: [
        allow,
        ...rules("edit", dora.edit as Record<string, Action>),
        ...rules("bash", dora.bash as Record<string, Action>),
      ],
    },
  ]
  const names = ["secret", "src", "lib", "secret/deep", "other"]
  const probes = Array.from({ length: 100 }, (_, index) => `${names[index % names.length]}/probe${index}.txt`)
  await does(probes.map((path) => write(path)))
  for (const path of probes) {
    const may = meet(layers, "edit", [path]).action
    expect([path, content(path) !== undefined]).toEqual([path, may === "allow"])
  }
})
