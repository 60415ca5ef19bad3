import { expect, test } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { attend } from "../src/pass-over/service/command"
import { attendStarts } from "../src/pass-over/service/start"
import { enter } from "../src/server/presence"
import { createHome, type Home } from "./cli/support"
import { createEngineWorld, type EngineWorld } from "./pass-over/support/engine"
import { settle } from "./pass-over/support/fake-clock"

const DOCUMENT = join(import.meta.dir, "../../../docs/library.md")
const BEFORE = "export const total = (a, b) => a - b\n"

const blocks = [...readFileSync(DOCUMENT, "utf8").matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, text = ""]) => text)

type Script = Parameters<EngineWorld["host"]["script"]>[1]

/** Runs a snippet of the document as a script of its own in a project that an opencode has open. */
async function run(home: Home, snippet: string, audit: Script, env: Record<string, string> = {}) {
  const world = createEngineWorld({ path: home.database, seed: 60_000 })
  const presence = await enter(world.engine)
  world.project.directory = home.project
  world.engine.projects.set(home.project, world.project)
  world.host.script("audit", audit)
  // Beside this test, because there the package is found by its name.
  const script = join(import.meta.dir, `.snippet-${process.pid}-${Bun.hash(snippet).toString(36)}.ts`)
  writeFileSync(script, snippet)
  const timer = setInterval(() => void tick().catch(() => {}), 20)
  const tick = async () => {
    await attendStarts(world.engine, () => "alive")
    await attend(world.engine)
    await world.clock.advance(500)
    await settle()
  }
  const start = (more: Record<string, string> = {}) =>
    Bun.spawn([process.execPath, script], {
      cwd: home.project,
      env: { ...process.env, ...env, ...more },
      stdio: ["ignore", "pipe", "pipe"],
    })
  const done = async (child: ReturnType<typeof start>) => {
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, out, err }
  }
  return {
    world,
    start: async (more?: Record<string, string>) => done(start(more)),
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await Bun.file(script).delete()
      await presence.leave()
      world.engine.store.close()
    },
  }
}

function project(home: Home) {
  mkdirSync(join(home.project, "src"))
  writeFileSync(join(home.project, "src/total.ts"), BEFORE)
}

test("the document's scripts are these three", () => expect(blocks).toHaveLength(3))

test("passing work on, and applying what came back", async () => {
  using home = createHome()
  project(home)
  const edit = {
    type: "file_modification",
    path: "src/total.ts",
    edits: [{ old_string: "a - b", new_string: "a + b" }],
    reason: "a sum adds",
  }
  await using ran = await run(home, blocks[0]!, async (child) => {
    const findings = [{ severity: "error", category: "logic_error", message: "it subtracts" }]
    await child.return({ decision: "approved", findings, artifacts: [edit] })
    child.step()
  })
  expect(await ran.start()).toEqual({ code: 0, out: "error: it subtracts\n", err: "" })
  expect(readFileSync(join(home.project, "src/total.ts"), "utf8")).toBe(BEFORE.replace("-", "+"))
})

test("returning for an agent whose command this is", async () => {
  using home = createHome()
  const held: { said?: Promise<{ code: number; err: string }> } = {}
  await using ran = await run(home, blocks[1]!, async (child) => {
    const [pass] = await ran.world.engine.store.list({})
    held.said ??= ran.start({ PASS_OVER_ID: pass!.id })
    await held.said
    child.step()
  })
  const { world } = ran
  const sent = await world.ask({ objective: "Does it build?" })
  if (!sent.ok) throw new Error(sent.refusal.message)
  const outcome = await sent.runner.outcome
  expect((await held.said)?.err).toBe("")
  expect(outcome.output.summary).toMatchObject({ decision: "rejected", findings: ["tsc finds 3 errors"] })
})

test("and the names that the guide gives", async () => {
  using home = createHome()
  await using ran = await run(home, blocks[2]!, async () => {})
  expect(await ran.start()).toMatchObject({ code: 0, err: "" })
})
