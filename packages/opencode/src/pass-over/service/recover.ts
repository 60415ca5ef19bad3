import { toolCallOf } from "../domain/call"
import { KEEPS } from "../domain/gate"
import type { OwnerID, SessionID } from "../domain/id"
import { worked } from "../domain/last-seen"
import type { Pass } from "../domain/pass"
import { NO_USAGE } from "../domain/run"
import { conclude, modeOf, stamped, surely, unmakeable, type Facts } from "./conclude"
import { readAside, takeLeft } from "./change/left"
import { bring, delivered } from "./deliver"
import type { Engine, Project } from "./engine"
import { recovered, unfinished } from "./left"
import { madeAbove } from "./lineage"
import { completeTranscript } from "./transcript"
import { within } from "./within"
import type { Claimed, Delivery, KnownOwner, Outcome, Settled } from "./port"

/** Whether a process is still there. `unknown` is one that we cannot see from here, as on another machine. */
export type Alive = (owner: KnownOwner) => "alive" | "dead" | "unknown"

// Who cannot be seen is taken for dead when nothing was heard of it for this long.
const LEASE_MS = 60_000
const KEPT_MS = 24 * 60 * 60 * 1_000
// One transaction's worth: it holds the write lock and opencode's event loop for a few milliseconds.
const CHUNK = 50
// An originator waits for a result that is whole, but not for ever.
const WHOLE_MS = 10_000
/** How many transcripts are read at once. */
const READERS = 4

function gone(engine: Engine, alive: Alive, owner: KnownOwner | { owner_id: OwnerID; lost: true }): boolean {
  if (owner.owner_id === engine.owner_id) return false
  if ("lost" in owner) return true
  const state = alive(owner)
  return state === "dead" || (state === "unknown" && engine.clock.now() - owner.time_heartbeat > LEASE_MS)
}

/** Whether its place among the owners may go. One that only fell silent may wake up: its next passes are its own. */
function forgotten(engine: Engine, alive: Alive, owner: Parameters<typeof gone>[2]): boolean {
  return "lost" in owner || alive(owner) === "dead" || engine.clock.now() - owner.time_heartbeat > KEPT_MS
}

/** What is known of a pass whose process is gone, before anything was read of its child. */
async function factsOf(engine: Engine, claimed: Claimed): Promise<Facts> {
  const { pass, staged, usage, attempts, seen } = claimed
  const at = engine.clock.now()
  const failure = staged ? undefined : unfinished(pass)
  return {
    pass,
    report: staged,
    failure,
    above: await madeAbove(engine.store, pass),
    messages: undefined,
    usage: usage ?? NO_USAGE,
    at,
    // What lies between its end and this moment is nobody's work.
    ...worked(pass, seen, at),
    attempt: recovered({ pass, attempts, failure, at }),
  }
}

async function settledOf(engine: Engine, claimed: Claimed): Promise<Settled | undefined> {
  const facts = await factsOf(engine, claimed)
  return conclude(engine.ids, facts, surely(facts, unmakeable(engine, facts.pass)), modeOf(claimed.pass))
}

/** Those that wait for a person: the question outlives the process that put it, and the pass with it (`adopt.ts`). */
async function asked(engine: Engine, claimed: readonly Claimed[]): Promise<Set<string>> {
  const unstarted = claimed.filter(({ pass }) => pass.status === "initial")
  const gates = await Promise.all(
    unstarted.map(({ pass }) =>
      engine.store.gates({
        pass_over_id: pass.id,
        kind: "confirmation",
        status: KEEPS,
        unacted: true,
      }),
    ),
  )
  return new Set(gates.flat().flatMap((gate) => gate.pass_over_id ?? []))
}

const breathe = ({ clock }: Engine) => new Promise<void>((resolve) => void clock.after(0, resolve))

/**
 * Gives every pass whose owner is gone its one outcome. It needs no host: what the child had done is read later, when
 * its project is open. Those that wait for a person are taken over where somebody can go on with them: in the projects
 * of `waiting_in`, where it is given. Comes back with how many there were.
 */
export async function recover(engine: Engine, alive: Alive, waiting_in?: readonly string[]): Promise<number> {
  const { owner_id } = engine
  let count = 0
  for (const owner of await engine.store.owners()) {
    if (!gone(engine, alive, owner)) continue
    for (;;) {
      const claimed = await engine.store.claim({ from: owner.owner_id, owner_id, limit: CHUNK, waiting_in })
      if (claimed.length === 0) break
      const waiting = await asked(engine, claimed)
      const over = claimed.filter(({ pass }) => !waiting.has(pass.id))
      const settling = await Promise.all(over.map((each) => settledOf(engine, each)))
      const settled = await engine.store.settleMany(settling.flatMap((each) => each ?? []))
      count += settled.length
      await breathe(engine)
    }
    if (forgotten(engine, alive, owner)) await engine.store.leave(owner.owner_id)
  }
  if (count > 0) engine.log("warn", `${count} interrupted passes were given their outcome`)
  return count
}

/**
 * The outcome with all that its child had done, where it could not wait for that. Whoever asks meanwhile gets the same;
 * it never throws, and gives what there is.
 */
export function whole(engine: Engine, project: Project, pass: Pass, outcome: Outcome): Promise<Outcome> {
  if (outcome.transcript === "read" || outcome.taken) return Promise.resolve(outcome)
  const known = engine.completing.get(pass.id)
  if (known) return known
  const work = complete(engine, project, pass, outcome)
    .catch((error: unknown) => {
      unread(engine, pass, error)
      return outcome
    })
    .finally(() => engine.completing.delete(pass.id))
  engine.completing.set(pass.id, work)
  return work
}

/** What could not be read stays marked as unread, and is read the next time that somebody asks or starts. */
function unread(engine: Engine, pass: Pass, error: unknown) {
  engine.log("warn", "a transcript could not be read", { pass_over_id: pass.id, error: String(error) })
  return false
}

/** What a child said and did; nothing only where its session is gone, and never because the host could not say. */
async function messagesOf({ host }: Project, child: SessionID) {
  try {
    return await host.messages(child)
  } catch (error) {
    if ((await host.directoryOf(child)) === undefined) return []
    throw error
  }
}

async function complete(engine: Engine, project: Project, pass: Pass, outcome: Outcome): Promise<Outcome> {
  const taking = engine.taking.get(pass.id)
  // What takes longer than anybody waits is there at the next start.
  if (taking && !(await within(engine.clock, WHOLE_MS, taking))) return outcome
  const reading = read(engine, project, { pass, outcome }).catch((error: unknown) => unread(engine, pass, error))
  await within(engine.clock, WHOLE_MS, reading)
  return (await engine.store.outcome(pass.id)) ?? outcome
}

type Unread = { pass: Pass; outcome: Outcome }

/** Adds what a child had done to an outcome that was written without it; whether it is whole now. */
async function read(engine: Engine, project: Project, { pass, outcome }: Unread): Promise<boolean> {
  if (pass.child_session_id === null) return false
  const messages = await messagesOf(project, pass.child_session_id)
  const report = await engine.store.staged(pass.id)
  const taken = await takeLeft(engine, project, pass)
  // Whoever ended it has said why; of one that was interrupted nobody could.
  const why = (await engine.store.attempts(pass.id)).at(-1)?.error_message ?? "the opencode that ran it has ended"
  const { completed_at = engine.clock.now(), wall_time_ms, subagent_compute_ms } = outcome.output.metadata
  const facts: Facts = {
    pass,
    report,
    failure: outcome.error_code ? { code: outcome.error_code, message: why } : undefined,
    // The chain was written down with the outcome.
    above: [],
    messages,
    usage: outcome.usage,
    at: completed_at,
    completed_at,
    wall_ms: wall_time_ms,
    waited_ms: wall_time_ms - subagent_compute_ms,
    attempt: undefined,
    taken,
  }
  const whole = surely(facts, unmakeable(engine, pass))
  const known = outcome.output.artifacts.length
  // What it returned comes first in both; what it was seen doing is added behind it.
  const added = report ? whole.output.artifacts.slice(known) : whole.output.artifacts
  await engine.store.enrich({ pass, output: whole.output, artifacts: stamped(engine.ids, added) })
  // For readers alone: nobody waits for it.
  void completeTranscript(engine, pass, messages).catch((error: unknown) =>
    engine.log("warn", "a transcript could not be completed", { pass_over_id: pass.id, error: String(error) }),
  )
  return true
}

type Skip = (pass: Pass) => boolean | Promise<boolean>

async function readAll(engine: Engine, project: Project, skip: Skip) {
  // What could not be read is not read again and again, and does not stand before what can be.
  const left = new Set<Pass["id"]>()
  for (;;) {
    const found = await engine.store.unread(project.directory, READERS + left.size)
    const batch = found.filter(({ pass }) => !left.has(pass.id))
    if (batch.length === 0) return
    await Promise.all(
      batch.map(async (each) => {
        if (await skip(each.pass)) return void left.add(each.pass.id)
        const whole = await read(engine, project, each).catch((error: unknown) => unread(engine, each.pass, error))
        if (!whole) left.add(each.pass.id)
      }),
    )
  }
}

/** Whether nobody runs what an owner left. */
export async function dead(engine: Engine, alive: Alive, owner_id: OwnerID) {
  const owner = await engine.store.owner(owner_id)
  return gone(engine, alive, owner ?? { owner_id, lost: true })
}

/** Nobody is bringing this result, and nobody will. */
async function abandoned(engine: Engine, alive: Alive, { pass, delivery }: { pass: Pass; delivery: Delivery }) {
  if (delivery.status === "held") return false
  if (delivery.status === "sending") return delivery.owner_id === null || dead(engine, alive, delivery.owner_id)
  // Its tool call may still be waiting in the process that runs it.
  if (delivery.mode === "tool") return dead(engine, alive, pass.owner_id)
  return engine.running.get(pass.id) === undefined
}

/** Brings what could not be delivered before, without starting a model: no money is spent without the user. */
async function bringAll(engine: Engine, project: Project, alive: Alive, skip: Skip) {
  for (const { pass, delivery } of await engine.store.undelivered(project.directory)) {
    if (!(await abandoned(engine, alive, { pass, delivery })) || (await skip(pass))) continue
    await bringLeft(engine, project, { pass, delivery }).catch((error: unknown) =>
      engine.log("warn", "a result waits for the next start", { pass_over_id: pass.id, error: String(error) }),
    )
  }
}

/** Brings a result whose tool call has gone on without it; nothing where the call has it. */
export async function bringLeft(
  engine: Engine,
  project: Project,
  { pass, delivery }: { pass: Pass; delivery: Delivery },
) {
  if (delivery.mode === "tool" && (await arrived(engine, project, pass))) return
  if (delivery.mode === "tool") await engine.store.redirect({ pass_over_id: pass.id, mode: "message" })
  await bring(engine, project, { pass, delivery: { ...delivery, mode: "message" }, start: false })
}

/** The tool call may have its answer stored, though nobody was left to write that down. */
async function arrived(engine: Engine, project: Project, pass: Pass): Promise<boolean> {
  if (pass.call_id === null) return false
  const names = [pass.call_id, toolCallOf(pass.call_id)]
  const messages = await project.host.messages(pass.session_id)
  const own = messages.filter(({ id }) => pass.message_id === null || id === pass.message_id)
  const part = own.flatMap((message) => message.parts).find((each) => names.includes(each.call_id ?? ""))
  if (part?.tool_status !== "completed") return false
  await delivered(engine, project, pass.id, pass.message_id)
  return true
}

/** Whether who ran a pass still looks after what came of it. */
async function tended(engine: Engine, alive: Alive, { id, owner_id }: Pass) {
  if (owner_id !== engine.owner_id) return !(await dead(engine, alive, owner_id))
  return engine.running.get(id) !== undefined || engine.bringing.has(id)
}

async function resumeBut(engine: Engine, project: Project, alive: Alive, skip: Skip) {
  try {
    await readAll(engine, project, skip)
    await bringAll(engine, project, alive, skip)
  } catch (error) {
    engine.log("warn", "what an earlier opencode left could not all be brought in", { error: String(error) })
  }
}

/** What a project finds when it is opened: outcomes to complete, results to bring. Never throws. */
export async function resume(engine: Engine, project: Project, alive: Alive) {
  await readAside(engine, project).catch((error: unknown) =>
    engine.log("warn", "what lies aside could not be read", { error: String(error) }),
  )
  await resumeBut(engine, project, alive, ({ id }) => engine.bringing.has(id))
}

/** The same while it is open: only what nobody looks after any more. */
export const resumeLeft = (engine: Engine, project: Project, alive: Alive) =>
  resumeBut(engine, project, alive, (pass) => tended(engine, alive, pass))
