import { expect, test } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ChangeID } from "../../src/pass-over/domain/change/change"
import { proposedFiles } from "../../src/pass-over/service/change/propose"
import { attendReworks } from "../../src/pass-over/service/change/rework"
import { attendTells } from "../../src/pass-over/service/change/send-back"
import { changesOf } from "../../src/pass-over/service/change/deps"
import * as Schema from "../../src/server/schema-decide"
import { createEngineWorld } from "../pass-over/support/engine"
import { outcomeOf, started, VERDICT } from "../pass-over/support/drive"
import { BASE, createTestServer } from "./support/server"

const BEFORE = "one\ntwo\nthree\n"
const AFTER = "one\nTWO\nthree\n"

/** A pass that proposes a change to a file that is really there. */
async function scene() {
  const server = createTestServer()
  const world = createEngineWorld({ path: server.path })
  const directory = join(server.folder, "project")
  mkdirSync(directory)
  writeFileSync(join(directory, "a.txt"), BEFORE)
  world.project.directory = directory
  world.host.script("audit", async (child) => {
    await child.return({ status: "completed", ...VERDICT, findings: [] })
    child.step({})
  })
  const runner = await started(world, { subagent: "audit" })
  await outcomeOf(world, runner)
  const deps = changesOf(server.engine)
  if (!deps) throw new Error("no files")
  const artifact = {
    type: "file_modification" as const,
    path: "a.txt",
    old_content: BEFORE,
    new_content: AFTER,
    reason: "louder",
    confidence: "high" as const,
  }
  const report = { status: "completed" as const, findings: [], artifacts: [artifact], auto_apply_allowed: false }
  const files = await proposedFiles(deps, directory, report)
  const change_id: ChangeID = server.engine.ids.make("chg")
  await server.engine.store.saveChange({
    change_id,
    pass_over_id: runner.pass.id,
    directory,
    origin: "proposed",
    files,
    notes: [],
    from_change_id: null,
    time_created: Date.now(),
  })
  const post = (what: string, body: unknown) =>
    server.ask(`${BASE}/${runner.pass.id}/${what}`, { method: "POST", body: JSON.stringify(body) })
  return {
    server,
    world,
    id: runner.pass.id,
    post,
    read: () => readFileSync(join(directory, "a.txt"), "utf8"),
    write: (text: string) => writeFileSync(join(directory, "a.txt"), text),
    changes: async () => Schema.Changes.parse(await server.get(`/${runner.pass.id}/changes`)).items,
    [Symbol.dispose]: () => {
      world[Symbol.dispose]()
      server[Symbol.dispose]()
    },
  }
}

const accept = { verdicts: [{ path: "a.txt", hunk: null, accepted: true, reason: null }] }

test("a change is shown, accepted, applied and undone", async () => {
  using made = await scene()
  const [shown] = await made.changes()
  expect(shown?.files).toMatchObject([{ path: "a.txt", hunks: 1, taken: "none" }])
  expect(shown?.files[0]?.patch).toContain("+TWO")
  const reviewed = Schema.Change.parse(await (await made.post("review", accept)).json())
  expect(reviewed.files[0]?.taken).toBe("all")
  expect(made.read()).toBe(BEFORE)
  const applied = Schema.Written.parse(await (await made.post("apply", { approval: reviewed.approval })).json())
  expect(applied.application).toMatchObject({ kind: "apply", status: "done", actor: "tester" })
  expect(made.read()).toBe(AFTER)
  expect((await made.post("undo", {})).status).toBe(200)
  expect(made.read()).toBe(BEFORE)
})

const decline = { verdicts: [{ path: "a.txt", hunk: null, accepted: false, reason: "not so loud" }] }

test("what was declined goes back to be done again, by an opencode that has the project, and the answer says so", async () => {
  using made = await scene()
  const { host, engine, project } = made.world
  expect((await made.post("send-back", {})).status).toBe(409)
  await made.post("review", decline)
  engine.projects.set(project.directory, project)
  const posting = made.post("send-back", {})
  while ((await engine.store.tells(project.directory)).length === 0) await Bun.sleep(5)
  const [command] = await engine.store.tells(project.directory)
  await Promise.all([attendReworks(engine), attendReworks(engine)])
  const [, again] = await engine.store.list({})
  expect(again).toMatchObject({ continues_pass_id: made.id })
  expect(again?.objective).toContain("a.txt: not so loud")
  expect(await (await posting).json()).toEqual({
    state: "done",
    text: `audit does it again in its own session, as pass ${again?.id}.`,
  })
  expect(made.server.reworked).toEqual([command?.command_id ?? ""])
  expect(host.delivered.filter(({ text }) => text.includes("a.txt: not so loud"))).toMatchObject([
    { session_id: "ses_root", start: false },
  ])
})

test("what nobody has taken up yet is said to be so", async () => {
  using made = await scene()
  await made.post("review", decline)
  expect(await (await made.post("send-back", {})).json()).toMatchObject({ state: "handed_over" })
})

test("after an apply the originator is told what was left out, and goes on when its user does", async () => {
  using made = await scene()
  const reviewed = Schema.Change.parse(await (await made.post("review", accept)).json())
  await made.post("apply", { approval: reviewed.approval })
  const { host, engine } = made.world
  const pass = await engine.store.find(made.id)
  engine.projects.set(pass?.directory ?? "", made.world.project)
  await attendTells(engine)
  expect(host.delivered.filter(({ text }) => text.includes("declined"))).toEqual([])
  await made.post("undo", {})
  await made.post("review", decline)
  expect((await made.changes())[0]?.files[0]?.declined).toMatchObject([{ hunk: null, reason: "not so loud" }])
})

test("an approval of something else, or of what is no longer so, applies nothing", async () => {
  using made = await scene()
  const reviewed = Schema.Change.parse(await (await made.post("review", accept)).json())
  expect((await made.post("apply", { approval: "0".repeat(64) })).status).toBe(409)
  made.write("somebody else was here\n")
  expect((await made.post("apply", { approval: reviewed.approval })).status).toBe(409)
  expect(made.read()).toBe("somebody else was here\n")
  expect((await made.post("apply", {})).status).toBe(400)
})

test("words about a file that is not in the change are refused", async () => {
  using made = await scene()
  const answer = await made.post("review", { verdicts: [{ path: "b.txt", hunk: null, accepted: true, reason: null }] })
  expect(answer.status).toBeGreaterThanOrEqual(400)
  expect(await answer.json()).toMatchObject({ error: { code: expect.any(String) } })
})
