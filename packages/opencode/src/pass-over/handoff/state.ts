import { z } from "zod"
import { OutputStatus } from "../domain/output"
import { Envelope, type EnvelopeStatus, type Score } from "./envelope"
import { named } from "./named"
import { Acknowledgment, PackageContext, type HandoffLog } from "./package"
import { PhaseResponse, type PhaseDecision } from "./phase"

/** What a pass left, as the journal keeps it: its views and what was wrong with them. The whole output lies with the pass. */
export const Leave = z.strictObject({
  pass_over_id: z.string().nullable(),
  agent: z.string(),
  status: OutputStatus,
  envelope: Envelope,
  response: PhaseResponse.optional(),
  context: PackageContext,
  /** What the protocols' rules found wrong; it goes back once. */
  problems: z.array(z.string()),
  acknowledgment: Acknowledgment.optional(),
  /** It said itself that the run must not go on: STOP, ESCALATE or blocked. Among branches no majority outvotes that. */
  veto: z.boolean().optional(),
  failure: z.strictObject({ code: z.string(), message: z.string() }).optional(),
  tokens: z.number().nonnegative(),
  cost: z.number().nonnegative(),
  cached: z.boolean().optional(),
})
export type Leave = z.infer<typeof Leave>

/** Why a person is asked. */
export const Why = z.enum([
  "gate",
  "stop",
  "clarify",
  "blocked",
  "escalate",
  "loop",
  "failed",
  "handoff",
  "budget",
  "condition",
  "parallel",
])
export type Why = z.infer<typeof Why>

export const Verdict = z.strictObject({
  verdict: z.enum(["approve", "reject", "question"]),
  note: z.string().nullable(),
  by: z.string().nullable(),
})
export type Verdict = z.infer<typeof Verdict>

const actor = { actor: z.string() }

/** Everything that can happen to a run. Its journal is a list of these; its state follows from them alone. */
export const FlowInputEntry = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("start") }),
  z.strictObject({ type: z.literal("left"), key: z.string(), leave: Leave }),
  z.strictObject({ type: z.literal("answered"), key: z.string(), answer: Verdict }),
  z.strictObject({ type: z.literal("pause"), ...actor }),
  z.strictObject({ type: z.literal("resume"), ...actor }),
  z.strictObject({ type: z.literal("cancel"), ...actor, reason: z.string() }),
  z.strictObject({ type: z.literal("retry"), ...actor, step: z.string() }),
  z.strictObject({ type: z.literal("skip"), ...actor, step: z.string(), reason: z.string() }),
])
export type FlowInputEntry = z.infer<typeof FlowInputEntry>

export type Role = "work" | "critic" | "clarify" | "repair" | "detour"

export type Words = { by: "person" | "agent"; name: string; text: string }

/** A pass of a run that has not come back. */
export type PassWork = {
  type: "pass"
  key: string
  node: string
  role: Role
  agent: string
  round: number
  /** The number of the package that went along. */
  handoff: number
  from: string
  /** The detour that it is, for its words. */
  detour?: string
  questions?: string[]
  problems?: string[]
  /** It comes back from a specialist, with what that one left. */
  returns?: boolean
  /** Whose handoff a repair repairs. */
  repairs?: "work" | "critic"
}

/** Of which step an envelope is, and whose: an agent's, a person's at a gate, of branches that of whoever runs the flow. */
export type LeftBy = Pick<PassWork, "node" | "agent">

/** No step has a slash in its id. */
export const leftKey = ({ node, agent }: LeftBy) => `${node}/${agent}`

/** A question to a person that has not been answered. */
export type GateWork = {
  type: "gate"
  key: string
  node: string
  why: Why
  reason: string
  handoff: number
  from: string
  /** The budget that is asked about. */
  budget?: string
}

export type Work = PassWork | GateWork

/** A step in work. */
export type Activity = {
  node: string
  round: number
  /** The rounds that were made before they are counted anew. */
  base?: number
  /** A person goes on over what the worker said: who, in words. Its review still comes. */
  allowed?: string
  /** The worker's last word. */
  work?: Leave
  /** The critic's last word, and how many concerns it had one round earlier. */
  critic?: Leave
  before?: Score
  repaired: boolean
  clarified: number
  detoured: number
  /** It stands still for want of budget: what came back last, or that its work or its review is to begin. */
  due?: PassWork | "work" | "critic"
  /** What people and agents said to it since it began. */
  words: Words[]
  /** What the last specialist left for it: a critic, a detour, whoever answered. */
  back?: Leave
}

export type StepResult = {
  node: string
  agent: string | null
  pass_over_id: string | null
  status: EnvelopeStatus
  decision: PhaseDecision
  passed: boolean
  skipped: boolean
  reason: string | null
  summary: string
  context: PackageContext
  files: string[]
  concerns: Score
  findings: Record<string, unknown>
  rounds: number
  tokens: number
  cost: number
  cached: boolean
  veto: boolean
}

export type FlowStatus = "running" | "waiting" | "paused" | "completed" | "stopped" | "cancelled"

export type FlowUsage = { passes: number; tokens: number; cost: number }

export type Logged = HandoffLog["handoffs"][number]

export type RunState = {
  status: FlowStatus
  reason: string | null
  cursor: number
  results: Record<string, StepResult>
  active: Record<string, Activity>
  open: Record<string, Work>
  /** Work that waits for the run to go on. */
  held: string[]
  counters: Record<string, number>
  skips: Record<string, string>
  /** The last envelope of each step and agent (`leftKey`), and which round it was. */
  left: Record<string, { round: number; envelope: Envelope }>
  usage: FlowUsage
  /** Tokens and cost of each step so far. */
  spent: Record<string, FlowUsage>
  /** How often a person has granted a budget again: a step's own by its name, a flow's by its scope. */
  grants: Record<string, number>
  log: Logged[]
  inputs: Record<string, string>
  paused: boolean
}

export type FlowEffect =
  | { type: "pass"; work: PassWork }
  | { type: "ask"; work: GateWork }
  /** Nobody needs its answer any more. */
  | { type: "drop"; work: Work }
  | { type: "left"; work: LeftBy; envelope: Envelope; earlier?: { round: number; envelope: Envelope } }
  | { type: "ended"; status: FlowStatus; reason: string | null }

export const ENDED: readonly FlowStatus[] = ["completed", "stopped", "cancelled"]

export const newRun = (inputs: Record<string, string>): RunState => ({
  status: "running",
  reason: null,
  cursor: 0,
  results: named(),
  active: named(),
  open: named(),
  held: [],
  counters: named(),
  skips: named(),
  left: named(),
  usage: { passes: 0, tokens: 0, cost: 0 },
  spent: named(),
  grants: named(),
  log: [],
  inputs,
  paused: false,
})

export const NO_SCORE: Score = { high: 0, medium: 0, low: 0 }

export const newActivity = (node: string): Activity => ({
  node,
  round: 1,
  repaired: false,
  clarified: 0,
  detoured: 0,
  words: [],
})
