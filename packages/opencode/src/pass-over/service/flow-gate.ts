import type { Gate } from "../domain/gate"
import { escalation } from "../handoff/package-view"
import type { GateWork, RunState, Verdict, Why } from "../handoff/state"
import type { Engine } from "./engine"
import { proposedBy, tellProposed } from "./flow-proposal"
import type { Standing } from "./flow-pass"
import { answerTo, openGate, withdrawGate } from "./gate"
import type { FlowRun } from "./port-flow"

// A run may wait over a holiday. Longer than this no timer can wait.
const OPEN_MS = 20 * 24 * 60 * 60 * 1_000

const KIND = {
  gate: "question",
  clarify: "question",
  condition: "question",
  stop: "escalation",
  blocked: "escalation",
  escalate: "escalation",
  loop: "escalation",
  failed: "escalation",
  handoff: "escalation",
  budget: "escalation",
  parallel: "escalation",
} as const satisfies Record<Why, Gate["kind"]>

// The whole of it is in the package that goes along.
const LONGEST = 4_000
const MOST_PROPOSED = 5

/** By what a question of a run is found again. */
export const gateKey = ({ run_id }: Pick<FlowRun, "run_id">, key: string) => `flow:${run_id}:${key}`

const VERDICT = { approved: "approve", rejected: "reject", questioned: "question" } as const

export type Asking = { state: RunState; work: GateWork; standing: () => Standing }

/**
 * Puts a run's question into the inbox, or finds it there, and waits for its answer. Nothing where it was withdrawn: what
 * the run went on without while it was being put is taken back at once.
 */
export async function askFor(
  engine: Engine,
  run: FlowRun,
  { state, work, standing }: Asking,
): Promise<Verdict | undefined> {
  const asking = escalation(run.plan, state, work)
  const proposed = await proposedBy(engine.store, run)
  const told = tellProposed(proposed, { most: MOST_PROPOSED, run_id: run.run_id })
    .map((line) => ` — ${line}`)
    .join("")
  const question = `${run.flow}, ${work.node}: ${work.reason}`.slice(0, LONGEST - told.length).toWellFormed() + told
  if (standing() !== "open") return undefined
  const { gate } = await openGate(engine, {
    key: gateKey(run, work.key),
    kind: KIND[work.why],
    pass: undefined,
    run_id: run.run_id,
    session_id: run.session_id,
    directory: run.directory,
    asked_by: work.from,
    question,
    detail: {
      why: work.why,
      options: asking.handoff.validation_request?.options,
      ...(proposed.length > 0 ? { proposed } : {}),
      package: asking,
    },
    policy: `the step ${work.node} of the flow ${run.flow}`,
    default_action: "reject",
    ttl_ms: OPEN_MS,
  })
  if (standing() === "dropped") await withdrawGate(engine, gate.gate_id)
  const answered = await answerTo(engine, gate)
  if (answered.status === "pending" || answered.status === "withdrawn") return undefined
  return { verdict: VERDICT[answered.status], note: answered.note, by: answered.answered_by }
}
