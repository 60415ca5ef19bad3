import { redactDeep } from "../domain/secret"
import { envelopeFile, type Envelope, type EnvelopeMeta, type EnvelopeVersion } from "../handoff/envelope"
import { homecoming, escalation } from "../handoff/package-view"
import { packageID, type HandoffDraft, type HandoffPackage } from "../handoff/package"
import { yaml } from "../handoff/yaml"
import { leftKey, type FlowEffect, type GateWork, type LeftBy, type PassWork, type RunState } from "../handoff/state"
import type { Task } from "../handoff/task"
import type { Engine } from "./engine"
import { metaOf } from "./flow-leave"
import { fileKey, marksOf } from "./flow-name"
import type { FlowWorld } from "./flow-pass"
import type { FlowFiles, FlowRun } from "./port-flow"

/** Where a run's files lie: `RUN_BASE` of `004`. */
const runBase = ({ plan, run_id }: FlowRun) => `${plan.run_base}/${run_id}`

type Kept = Pick<FlowRun, "session_id"> & { plan: Pick<FlowRun["plan"], "archive"> }

type Hashing = Pick<Engine, "hash">

const archive = ({ hash }: Hashing, { plan, session_id }: Kept) =>
  `${plan.archive}/${fileKey(session_id, hash)}/handoffs`

// Room for the handoffs of a run, so that runs of one session that go on at once do not meet.
const BLOCK = 1_000
const MOST_BLOCKS = 10_000

/**
 * The number of a run's first handoff: behind those that runs of its session have left in the archive, and behind
 * `before`, which another one has that has left nothing there yet.
 */
export function firstHandoff(world: Hashing & { files: FlowFiles }, run: Kept, before?: number): number {
  const from = before === undefined ? 1 : before + BLOCK
  if (!run.plan.archive || run.session_id === "") return from
  for (let number = from; number < MOST_BLOCKS * BLOCK; number += BLOCK) {
    if (!world.files.exists(`${archive(world, run)}/${packageID(number)}.yaml`)) return number
  }
  return Math.max(from, MOST_BLOCKS * BLOCK + 1)
}

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`

type Form = typeof json

type LeftEffect = Extract<FlowEffect, { type: "left" }>

/** What an earlier process may have begun to write, or to take away. */
export type Before = { left: readonly LeftEffect[]; dropped: readonly PassWork[] }

/** What a run leaves in the project for people and other programs. None of it is read back; a file that cannot be written is only said. */
export type FlowRecord = {
  begun(work: PassWork, task: Task, state: RunState): void
  /** A handoff of which no task can be made, and why. */
  unmade(work: PassWork, fault: string, state: RunState): void
  asked(work: GateWork, state: RunState): void
  /** The run goes on without a pass: nothing comes of its draft. */
  dropped(work: PassWork): void
  left(effect: LeftEffect, state: RunState): void
  /** Once more, after a crash: what had been decided and was not written yet. */
  again(before: Before, state: RunState): void
  ended(state: RunState): void
}

const draftOf = (meta: EnvelopeMeta, reason: string): Envelope => ({
  meta,
  status: "UNVERIFIED",
  summary: {
    what_i_did: `in work: ${reason}`,
    what_i_found: "",
    key_decisions: [],
    evidence: { artifacts_produced: [], commands_run: [], measurements: {} },
  },
  concerns: [],
  assumptions: [],
  routing: { recommendation: "CONTINUE", reason: "not finished yet" },
})

const unmade = ({ handoff, from, agent }: PassWork, fault: string, { cursor }: RunState): HandoffDraft => ({
  handoff: {
    id: packageID(handoff),
    from: { agent: from, step: cursor },
    to: { agent, reason: "its step was to begin" },
    context: { summary: fault },
  },
})

/** Where the envelopes of a run lie. */
function filing({ hash }: Hashing, run: FlowRun) {
  const handoffs = `${runBase(run)}/${fileKey(run.flow, hash)}/handoffs`
  const mark = marksOf(run.plan, hash)
  return (work: LeftBy, version: EnvelopeVersion = {}) => {
    const meta = metaOf({ hash }, { flow: run.flow, work, at: 0 })
    return `${handoffs}/${envelopeFile(meta, { ...version, mark: mark(work) })}`
  }
}

export function createRecord({ engine, files }: FlowWorld, run: FlowRun): FlowRecord {
  const fileOf = filing(engine, run)
  const attempt = (what: string, write: () => void) => {
    try {
      write()
    } catch (error) {
      engine.log("warn", `${what} of a flow could not be written`, { run_id: run.run_id, error: String(error) })
    }
  }

  // As in the store: whatever is written passes here, and no secret gets further.
  const write = (path: string, value: unknown, form: Form = json) => files.write(path, form(redactDeep(value)))

  const log = (state: RunState) =>
    attempt("the log", () => write(`${runBase(run)}/state/current.json`, { handoffs: state.log }))

  const keep = (draft: HandoffDraft, state: RunState) => {
    if (!run.plan.archive) return
    const { id, timestamp, ...rest } = draft.handoff
    if (id === undefined) return
    const known = state.log.find((entry) => entry.id === id)
    const at = timestamp ?? known?.timestamp ?? new Date(engine.clock.now()).toISOString()
    const whole: HandoffPackage = { handoff: { id, timestamp: at, ...rest } }
    attempt("a package", () => write(`${archive(engine, run)}/${id}.yaml`, whole, yaml))
  }

  const envelope = (value: Envelope, work: LeftBy, version: EnvelopeVersion = {}) => {
    const { timestamp } = value.meta
    const meta = { ...metaOf(engine, { flow: run.flow, work, at: 0 }), timestamp }
    attempt("an envelope", () => write(fileOf(work, version), { ...value, meta }))
  }

  const dropped = (work: LeftBy) => attempt("a draft", () => files.remove(fileOf(work, { draft: true })))

  function left({ work, envelope: value, earlier }: LeftEffect) {
    if (earlier) envelope(earlier.envelope, work, { round: earlier.round })
    envelope(value, work)
    dropped(work)
  }

  return {
    begun(work, task, state) {
      const meta = metaOf(engine, { flow: run.flow, work, at: engine.clock.now() })
      attempt("a draft", () => write(fileOf(work, { draft: true }), draftOf(meta, task.reason)))
      keep(task.handoff, state)
      log(state)
    },
    unmade(work, fault, state) {
      keep(unmade(work, fault, state), state)
      log(state)
    },
    asked(work, state) {
      keep(escalation(run.plan, state, work), state)
      log(state)
    },
    dropped,
    left(effect, state) {
      left(effect)
      log(state)
    },
    again(before, state) {
      // Whatever of them is begun once more writes its own.
      for (const work of before.dropped) dropped(work)
      for (const effect of before.left) {
        const { work, earlier } = effect
        const whole = files.exists(fileOf(work)) && (!earlier || files.exists(fileOf(work, { round: earlier.round })))
        const last = state.left[leftKey(work)]?.envelope === effect.envelope
        if (!whole || last) left(effect)
      }
      log(state)
    },
    ended(state) {
      keep(homecoming(run.plan, state), state)
      log(state)
    },
  }
}
