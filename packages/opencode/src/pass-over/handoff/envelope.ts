import { z } from "zod"
import { problem, vague, type Problem } from "./text"

const Text = z.string().max(200_000)
const Key = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._@-]{0,119}$/,
    "A key becomes part of a file name: letters, digits, dot, dash, underscore.",
  )

export const EnvelopeStatus = z.enum(["VERIFIED", "UNVERIFIED", "BLOCKED"])
export type EnvelopeStatus = z.infer<typeof EnvelopeStatus>

export const Recommendation = z.enum(["CONTINUE", "LOOP", "DETOUR", "ESCALATE"])
export type Recommendation = z.infer<typeof Recommendation>

export const Routing = z.strictObject({
  recommendation: Recommendation,
  next_step_suggestion: z.string().max(200).optional(),
  can_further_iteration_help: z.boolean().optional(),
  reason: Text,
})
export type Routing = z.infer<typeof Routing>

export const ConcernLevel = z.enum(["HIGH", "MEDIUM", "LOW"])
export type ConcernLevel = z.infer<typeof ConcernLevel>

export const Concern = z.strictObject({
  severity: ConcernLevel,
  description: Text.min(1),
  /** "file:line". */
  location: z.string().min(1).max(4_200).optional(),
  recommendation: Text,
})
export type Concern = z.infer<typeof Concern>

export const Assumption = z.strictObject({ assumption: Text.min(1), why: Text, impact_if_wrong: Text })
export type Assumption = z.infer<typeof Assumption>

export const Measurements = z.record(z.string(), z.union([z.number(), z.string(), z.boolean()]))

const Evidence = z.strictObject({
  artifacts_produced: z.array(z.string()).default([]),
  commands_run: z.array(z.string()).default([]),
  measurements: Measurements.default({}),
})

export const EnvelopeMeta = z.strictObject({
  step_id: Key,
  flow_key: Key,
  agent_key: Key,
  timestamp: z.iso.datetime({ offset: true }),
})
export type EnvelopeMeta = z.infer<typeof EnvelopeMeta>

/** The envelope of `004`: what a step leaves, and where it would go next. */
export const Envelope = z.strictObject({
  meta: EnvelopeMeta,
  status: EnvelopeStatus,
  summary: z.strictObject({
    what_i_did: Text,
    what_i_found: Text,
    key_decisions: z.array(Text),
    evidence: z.strictObject({
      artifacts_produced: z.array(z.string()),
      commands_run: z.array(z.string()),
      measurements: Measurements,
    }),
  }),
  concerns: z.array(Concern),
  assumptions: z.array(Assumption),
  routing: Routing,
})
export type Envelope = z.infer<typeof Envelope>

/** What a worker writes: who it is we know, and what it leaves out is empty. */
export const EnvelopeDraft = z.strictObject({
  meta: EnvelopeMeta.optional(),
  status: EnvelopeStatus,
  summary: z.strictObject({
    what_i_did: Text.default(""),
    what_i_found: Text.default(""),
    key_decisions: z.array(Text).default([]),
    evidence: Evidence.prefault({}),
  }),
  concerns: z.array(Concern).default([]),
  assumptions: z.array(Assumption).default([]),
  routing: Routing,
})
export type EnvelopeDraft = z.infer<typeof EnvelopeDraft>

/** What a status means for the way on, where nothing else is said. */
export const IMPLIED = {
  VERIFIED: "CONTINUE",
  UNVERIFIED: "CONTINUE",
  BLOCKED: "ESCALATE",
} as const satisfies Record<EnvelopeStatus, Recommendation>

/** Whether there is anything that the claim of an envelope rests on. */
export const pointers = ({ summary }: Pick<EnvelopeDraft, "summary">) =>
  summary.evidence.artifacts_produced.length +
  summary.evidence.commands_run.length +
  Object.keys(summary.evidence.measurements).length

/** What an envelope says that cannot be, or does not say that it must. */
export function envelopeProblems(envelope: EnvelopeDraft): Problem[] {
  const { status, routing, summary, concerns } = envelope
  return [
    ...(vague(`${summary.what_i_did} ${summary.what_i_found}`)
      ? [problem("summary", "it says neither what was done nor what was found")]
      : []),
    ...(status === "VERIFIED" && pointers(envelope) === 0
      ? [problem("summary.evidence", "VERIFIED needs evidence: artifacts, commands or measurements")]
      : []),
    ...(status === "VERIFIED" && concerns.some(({ severity }) => severity === "HIGH")
      ? [problem("status", "VERIFIED is not open while a HIGH concern is")]
      : []),
    ...(status === "BLOCKED" && routing.recommendation === "CONTINUE"
      ? [problem("routing.recommendation", "BLOCKED cannot CONTINUE: a person is needed")]
      : []),
    ...(routing.recommendation === "LOOP" && routing.can_further_iteration_help === false
      ? [problem("routing.recommendation", "LOOP contradicts can_further_iteration_help: false")]
      : []),
  ]
}

export type Score = { high: number; medium: number; low: number }

export const scoreOf = (concerns: readonly Pick<Concern, "severity">[]): Score => ({
  high: concerns.filter(({ severity }) => severity === "HIGH").length,
  medium: concerns.filter(({ severity }) => severity === "MEDIUM").length,
  low: concerns.filter(({ severity }) => severity === "LOW").length,
})

/** Fewer concerns of the worst kind in which two rounds differ; the same or more is no improvement. */
export function improved(before: Score, now: Score): boolean {
  const level = (["high", "medium", "low"] as const).find((each) => before[each] !== now[each])
  return level !== undefined && now[level] < before[level]
}

/** `mark` tells it from another one that would be called the same. */
export type EnvelopeVersion = { draft?: boolean; round?: number; mark?: string | undefined }

/** `<step_id>-<agent_key>.json`; an earlier round keeps its number, a draft says so. */
export function envelopeFile(
  { step_id, agent_key }: Pick<EnvelopeMeta, "step_id" | "agent_key">,
  { draft = false, round, mark }: EnvelopeVersion = {},
): string {
  const name = [step_id, agent_key, ...(mark === undefined ? [] : [mark])].join("-")
  return `${name}${round === undefined ? "" : `.${round}`}${draft ? ".draft" : ""}.json`
}
