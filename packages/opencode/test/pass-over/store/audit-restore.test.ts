import { describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { openAudit } from "../../../src/pass-over"
import { AuditLine, canonical, GENESIS } from "../../../src/pass-over/domain/audit-log"
import type { GateAnswer } from "../../../src/pass-over/domain/gate"
import type { Pass } from "../../../src/pass-over/domain/pass"
import type { PassOverPreferences } from "../../../src/pass-over/domain/preference"
import { attendGates } from "../../../src/pass-over/service/act"
import type { Ask } from "../../../src/pass-over/service/api-send"
import { apply } from "../../../src/pass-over/service/change/apply"
import { undo } from "../../../src/pass-over/service/change/undo"
import { answered } from "../../../src/pass-over/service/deliver"
import { answerGate } from "../../../src/pass-over/service/gate"
import { askHeld } from "../../../src/pass-over/service/held"
import { readPass } from "../../../src/pass-over/service/read-pass"
import { appendLines } from "../../../src/pass-over/store/audit-file"
import { logFiles } from "../../../src/pass-over/store/audit-folder"
import { sha256 } from "../../../src/pass-over/store/record"
import { createChangeWorld } from "../support/change"
import { outcomeOf, started } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"
import { createFolder } from "../support/folder"

const LOGS = ".opencode/pass-over-logs"
const SECRET = "The sign is wrong."
const REJECTED = { decision: "rejected", decision_reason: SECRET, findings: [SECRET] }
const yes: GateAnswer = { verdict: "approve", note: null, by: "ada", surface: "the terminal" }
const no: GateAnswer = { ...yes, verdict: "reject" }
const dead = () => "dead" as const

const OLDER = z.looseObject({ outcome: z.looseObject({ delivery: z.unknown() }).optional() })

/** Lines as they were written before the delivery stood in them, with a chain that holds. */
function older(directory: string) {
  for (const path of logFiles(join(directory, LOGS))) {
    let prev = GENESIS
    const lines = readFileSync(path, "utf8").trimEnd().split("\n")
    const without = lines.map((text) => {
      const line = AuditLine.parse(JSON.parse(text))
      const { gate: _gate, metadata: _metadata, ...detail } = OLDER.parse(line.detail ?? {})
      if (detail.outcome) delete detail.outcome.delivery
      const kept = { ...line, detail: Object.keys(detail).length > 0 ? detail : null, prev }
      prev = sha256(canonical(kept, kept.prev))
      return JSON.stringify({ ...kept, hash: prev })
    })
    writeFileSync(path, `${without.join("\n")}\n`)
  }
}

async function restored(path: string, directory: string) {
  const opened = openAudit({ path, directory, log_directory: LOGS })
  if (!opened.ok) throw new Error(opened.problem)
  expect(await opened.audit.restore()).toMatchObject({ ok: true, passes: 1, outcomes: 1 })
  opened.audit.close()
}

type Scene = {
  pair?: NonNullable<PassOverPreferences["pairs"]>[string]
  report?: object
  ask?: Partial<Ask>
  afterwards?: (first: EngineWorld, pass: Pass) => Promise<void>
  old?: boolean
}

/** A pass that somebody has to see first, in a world whose database is lost and restored afterwards. */
async function lost(scene: Scene) {
  const { pair = { auto_return: false }, report = REJECTED, ask = {}, afterwards = async () => {}, old = false } = scene
  const folder = createFolder()
  using first = createEngineWorld()
  first.project.directory = folder.path
  first.engine.projects.set(folder.path, first.project)
  first.preferences.push({ origin: "project", path: "p", preferences: { pairs: { "alice->audit": pair } } })
  first.host.script("audit", async (child) => {
    child.tool("read", { filePath: "a.ts" }, SECRET)
    await child.return(report)
    child.step()
    await child.told
  })
  const runner = await started(first, ask)
  await outcomeOf(first, runner)
  await settle(20)
  await afterwards(first, runner.pass)
  await first.engine.store.flushAudit(["ses_root"], (lines) => appendLines(folder.at(LOGS), lines))
  if (old) older(folder.path)
  await restored(folder.at("fresh.db"), folder.path)
  const world = createEngineWorld({ path: folder.at("fresh.db"), owner: "2", seed: 1_000 })
  world.project.directory = folder.path
  world.engine.projects.set(folder.path, world.project)
  const { id } = runner.pass
  const reads = async () => {
    const read = await readPass(world.engine, world.project, { session_id: "ses_root", id })
    return read.ok ? read.text : read.refusal.message
  }
  return {
    id,
    world,
    reads,
    [Symbol.dispose]: () => (world[Symbol.dispose](), folder[Symbol.dispose]()),
  }
}

const says = (given: GateAnswer) => async (first: EngineWorld, pass: Pass) => {
  const [gate] = await first.engine.store.gates({ pass_over_id: pass.id, kind: "delivery" })
  await answerGate(first.engine, gate!.gate_id, given)
}

const carried = (given: GateAnswer) => async (first: EngineWorld, pass: Pass) => {
  await says(given)(first, pass)
  await attendGates(first.engine)
  await settle(20)
}

describe.each([
  ["as lines are written now", false],
  ["as lines were written before they told of the delivery", true],
])("a held result that is restored, %s", (_how, old) => {
  test("is held, and the person is asked once more", async () => {
    using it = await lost({ old })
    expect(await it.reads()).toContain("held for a person")
    expect(await it.reads()).not.toContain(SECRET)
    await askHeld(it.world.engine, it.world.project, dead)
    const [gate] = await it.world.engine.store.gates({ kind: "delivery", status: ["pending"] })
    await answerGate(it.world.engine, gate!.gate_id, yes)
    await attendGates(it.world.engine)
    expect(it.world.host.delivered).toMatchObject([{ text: expect.stringContaining(SECRET) }])
    expect(await it.reads()).toContain(SECRET)
  })

  test("stays kept back where a person has said no, and nobody is asked again", async () => {
    using it = await lost({ old, afterwards: carried(no) })
    expect(await it.reads()).toContain("was kept back from alice")
    expect(await it.reads()).not.toContain(SECRET)
    await askHeld(it.world.engine, it.world.project, dead)
    expect(await it.world.engine.store.gates({})).toEqual([])
  })

  test("can be read where it had arrived, and is not sent a second time", async () => {
    using it = await lost({ old, afterwards: carried(yes) })
    expect(await it.reads()).toContain(SECRET)
    const { output } = (await it.world.engine.store.outcome(it.id))!
    expect(output.metadata.returned_at).toBeNumber()
    await askHeld(it.world.engine, it.world.project, dead)
    expect(await it.world.engine.store.undelivered(it.world.project.directory)).toEqual([])
  })

  test("is not for its originator where nothing was to come back", async () => {
    using it = await lost({ old, ask: { return_required: false } })
    expect(await it.reads()).not.toContain(SECRET)
  })

  test("is none where the settings let it by", async () => {
    using it = await lost({ old, pair: { auto_return: true } })
    expect(await it.reads()).toContain(SECRET)
    expect((await it.world.engine.store.outcome(it.id))?.output.metadata).not.toHaveProperty("returned_at")
  })
})

test("a no that was given and not carried out yet holds after a restore, and a yes lets it be read", async () => {
  using refused = await lost({ afterwards: says(no) })
  expect(await refused.reads()).toContain("was kept back from alice")
  using allowed = await lost({ afterwards: says(yes) })
  expect(await allowed.reads()).toContain(SECRET)
})

test("a result of which the lines do not hold every finding was one to be held, for all that is known", async () => {
  const findings = [{ severity: "error", message: `${SECRET} ${"x".repeat(5_000)}` }]
  const report = { decision: "approved", decision_reason: "fine", findings }
  using older = await lost({ report, old: true })
  expect(await older.reads()).toContain("held for a person")
  using unasked = await lost({ report, ask: { return_required: false } })
  expect(await unasked.reads()).not.toContain(SECRET)
})

test("what was delivered before is said to have been, at its own time, and what its subagent let apply itself", async () => {
  const at: { delivered?: number } = {}
  using it = await lost({
    report: { ...REJECTED, auto_apply_allowed: true },
    pair: { auto_return: true },
    afterwards: async (first, { call_id, session_id }) => {
      await first.clock.advance(5_000)
      await answered(first.engine, first.project, { session_id, call_id: call_id!, message_id: "msg_root" })
      at.delivered = first.clock.now()
    },
  })
  const { output } = (await it.world.engine.store.outcome(it.id))!
  expect(output.metadata.returned_at).toBe(at.delivered)
  expect(output.auto_apply_allowed).toBe(true)
})

describe.each([
  ["as lines are written now", false],
  ["as lines were written before", true],
])("an application that is restored, %s", (_how, old) => {
  async function scene(undone: boolean) {
    const world = await createChangeWorld()
    world.put("a.txt", "one\n")
    const change = await world.change([{ path: "a.txt", old: "one\n", new: "two\n" }])
    await world.accept(change)
    world.clock.advance(1_000)
    const done = await apply(world.deps, { ...world, change, actor: "ada" })
    if (!done.ok) throw new Error(done.refusal.message)
    if (undone) await undo(world.deps, { ...world, application: done.application, actor: "bob" })
    const { directory, session_id, id } = world.pass
    await world.store.flushAudit([session_id], (lines) => appendLines(world.folder.at("project", LOGS), lines))
    if (old) older(world.folder.at("project"))
    const before = (await world.store.outcome(id))!.output
    await restored(world.folder.at("fresh.db"), directory)
    using after = createEngineWorld({ path: world.folder.at("fresh.db"), owner: "2" })
    const { output } = (await after.engine.store.outcome(id))!
    world[Symbol.dispose]()
    return { before, after: output }
  }

  test("is told with who it was and when", async () => {
    const { before, after } = await scene(false)
    expect(before.metadata).toMatchObject({ applied: true, applied_by: "ada" })
    expect(after.metadata).toEqual(before.metadata)
  })

  test("is none where it was taken back", async () => {
    const { before, after } = await scene(true)
    expect(before.metadata.applied).toBe(false)
    expect(after.metadata).toEqual(before.metadata)
  })
})
