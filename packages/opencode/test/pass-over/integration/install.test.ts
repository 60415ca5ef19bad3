import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  call,
  createModel,
  createSandbox,
  say,
  type Model,
  type ModelRequest,
  type Sandbox,
} from "@pass-over/rehearsal"
import { createPackages, createRegistry, type Packed, type Registry } from "../support/package"

setDefaultTimeout(180_000)

const held = {} as { model: Model; box: Sandbox; packed: Packed[]; registry: Registry }

beforeAll(async () => {
  held.packed = await createPackages("0.1.0", "0.2.0")
  held.registry = createRegistry("opencode-pass-over")
  await held.registry.publish(held.packed[0]!)
  held.model = await createModel()
  held.box = await createSandbox({
    model: held.model,
    files: { "README.md": "# A project\n" },
    env: { npm_config_registry: held.registry.url },
  })
})
afterAll(async () => {
  held.model.verify()
  expect(await held.box.dispose()).toEqual([])
  held.model.stop()
  held.registry[Symbol.dispose]()
})

async function run(command: string[], env: Record<string, string> = {}) {
  const { box } = held
  const child = Bun.spawn(command, { cwd: box.project, env: { ...box.env, ...env }, stdio: ["ignore", "pipe", "pipe"] })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

const plugin = (...argv: string[]) => run([held.box.binary, "plugin", ...argv])

const versionIn = (folder: string) =>
  (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version

/** The folder that opencode keeps the installed package in. */
function installed(packed: Packed): string {
  const root = join(held.box.env.XDG_CACHE_HOME ?? "", "opencode/packages")
  const found = (readdirSync(root, { recursive: true }) as string[])
    .filter((path) => path.endsWith("node_modules/opencode-pass-over/package.json"))
    .map((path) => join(root, path, ".."))
    .find((folder) => versionIn(folder) === packed.version)
  if (!found) throw new Error("it is not installed")
  return found
}

const passOver = (packed: Packed, ...argv: string[]) =>
  run(["node", join(installed(packed), "bin/pass-over.mjs"), ...argv], { PASS_OVER_OPENCODE: held.box.binary })

const config = (name: string) =>
  JSON.parse(readFileSync(join(held.box.project, ".opencode", name), "utf8")) as { plugin?: unknown[] }

/** A pass from alice to audit, in an opencode that is started for it. */
async function pass(objective: string) {
  const { model, box } = held
  model.play({
    agents: {
      alice: [
        call("pass_over", { subagent: "audit", objective, reason: "code_review" }),
        (request: ModelRequest) => say(request.result("pass_over") ?? "nothing"),
      ],
      audit: call("pass_over_return", { decision: "approved", decision_reason: "Yes." }),
    },
  })
  await using server = await box.serve()
  return (await server.prompt({ agent: "alice", text: "Go." })).text
}

test("the package is small and holds what it should, and nothing of the sources", () => {
  const [first] = held.packed
  expect(first!.bytes).toBeLessThan(3_000_000)
  const paths = first!.files.map(({ path }) => path)
  for (const path of [
    "package.json",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "bin/pass-over.mjs",
    "bin/bunfig.toml",
    "schema/pass-over.schema.json",
    ...["index", "server", "tui", "cli", "api", "core", "config", "context", "audit"].map((name) => `dist/${name}.js`),
    "dist/panel/index.html",
  ]) {
    expect(paths).toContain(path)
  }
  expect(paths.filter((path) => /(?<!\.d)\.tsx?$|^src\/|^test\/|^script\/|node_modules/.test(path))).toEqual([])
  // The tokenizer is by far the largest part; it is there once.
  expect(first!.files.filter(({ path, size }) => path.startsWith("dist/chunk-") && size > 2_000_000)).toHaveLength(1)
})

test("one line installs both halves into a clean opencode, and a pass works from the package alone", async () => {
  const [first] = held.packed
  const done = await plugin("opencode-pass-over")
  expect([done.err, done.code]).toEqual([done.err, 0])
  expect(config("opencode.json").plugin).toEqual(["opencode-pass-over"])
  expect(config("tui.json").plugin).toEqual(["opencode-pass-over"])
  held.box.seed(join(held.box.project, ".opencode"))

  const { dependencies = {} } = JSON.parse(readFileSync(join(installed(first!), "package.json"), "utf8")) as {
    dependencies?: object
  }
  expect(dependencies).toEqual({})
  expect(await pass("Say yes")).toContain("audit: approved")
  const list = await passOver(first!, "list", "--json")
  expect([list.err, list.code]).toEqual(["", 0])
  expect(JSON.parse(list.out)).toMatchObject({ passes: [{ objective: "Say yes", result: { decision: "approved" } }] })
  const doctor = await passOver(first!, "doctor")
  expect([doctor.out, doctor.code]).toEqual([doctor.out, 0])
})

test("its terminal half is shown by opencode's own interface", async () => {
  const tui = await held.box.tui()
  await tui.waitFor(/Ask anything|opencode/i)
  await tui.type("/pass-over")
  await tui.waitFor("Passes of this project")
  await tui.send("Enter")
  await tui.waitFor(/→ audit Say yes\s+approved/)
  await tui.stop()
})

test("the command line starts a pass, with the library in a script beside it", async () => {
  const [first] = held.packed
  held.model.play({ agents: { audit: [call("pass_over_return", { decision: "approved" })] } })
  const ran = await passOver(first!, "run", "audit", "Look once more", "--json")
  expect([ran.err, ran.code]).toEqual(["", 0])
  expect(await held.box.leftovers(20_000)).toEqual([])

  const script = join(installed(first!), "..", "script.ts")
  writeFileSync(
    script,
    `import { ChainValidator, passOver } from "opencode-pass-over"
import { PassOverConfig } from "opencode-pass-over/config"
const { valid } = ChainValidator.validatePassOverChain({ originating_agent_id: "alice", subagent_id: "alice" })
console.log(JSON.stringify([valid, typeof passOver, PassOverConfig.validate({ defaults: { timeout_ms: 1000 } })]))`,
  )
  const said = await run([held.box.binary, script], { BUN_BE_BUN: "1" })
  expect(said).toEqual({ code: 0, out: '[false,"function",true]\n', err: "" })
})

test("a newer version takes the place of the older one and goes on with its passes", async () => {
  const [, second] = held.packed
  await held.registry.publish(second!)
  const done = await plugin("opencode-pass-over@0.2.0", "--force")
  expect([done.err, done.code]).toEqual([done.err, 0])
  expect(config("opencode.json").plugin).toEqual(["opencode-pass-over@0.2.0"])
  expect(config("tui.json").plugin).toEqual(["opencode-pass-over@0.2.0"])
  expect(await pass("Say yes again")).toContain("audit: approved")
  const list = await passOver(second!, "list", "--json")
  const { passes } = JSON.parse(list.out) as { passes: { objective: string }[] }
  expect(passes.map(({ objective }) => objective)).toEqual(["Say yes again", "Look once more", "Say yes"])
})

test("taken out of the two lists it is gone, and opencode is as it was", async () => {
  const { box } = held
  for (const name of ["opencode.json", "tui.json"]) {
    const path = join(box.project, ".opencode", name)
    const { plugin: _plugin, ...rest } = config(name)
    writeFileSync(path, JSON.stringify(rest))
  }
  await using server = await box.serve()
  const agents = (await server.client.app.agents()).data ?? []
  expect(agents.map(({ name }) => name)).toContain("build")
  expect(agents.map(({ name }) => name)).not.toContain("alice")
  // What it wrote down stays where it was; nothing of it is in the way.
  expect(existsSync(join(box.data, "opencode/pass-over.db"))).toBe(true)
})
