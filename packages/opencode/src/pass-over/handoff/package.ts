import { z } from "zod"

const Line = z.string().trim().min(1).max(20_000)
const PackageAgent = z.string().trim().min(1).max(200)
/** A step is named or numbered; null says that it stands outside the main workflow. */
const Step = z.union([z.int().nonnegative(), z.string().trim().min(1).max(200)])

export const PackageID = z.string().regex(/^HO-(?:\d{4}-)?\d{3,}$/, 'A handoff is named "HO-001" or "HO-2024-001".')
export type PackageID = z.infer<typeof PackageID>

export const packageID = (number: number): PackageID => `HO-${String(number).padStart(3, "0")}`

export const PackageArtifact = z.strictObject({
  path: z.string().trim().min(1).max(4_096),
  type: z.enum(["spec", "code", "doc", "config"]).optional(),
  description: Line.optional(),
})
export type PackageArtifact = z.infer<typeof PackageArtifact>

export const OpenQuestion = z.strictObject({
  question: Line,
  priority: z.enum(["high", "medium", "low"]),
  context: Line.optional(),
})
export type OpenQuestion = z.infer<typeof OpenQuestion>

export const PackageDecision = z.strictObject({
  id: z.string().trim().min(1).max(200),
  decision: Line,
  rationale: z.string().max(20_000),
})
export type PackageDecision = z.infer<typeof PackageDecision>

export const PackageContext = z.strictObject({
  summary: z.string().trim().min(1).max(20_000),
  decisions: z.array(PackageDecision).max(500).optional(),
  artifacts: z.array(PackageArtifact).max(2_000).optional(),
  open_questions: z.array(OpenQuestion).max(500).optional(),
})
export type PackageContext = z.infer<typeof PackageContext>

export const Expectations = z.strictObject({
  deliverable: Line.optional(),
  constraints: z.array(Line).max(200).optional(),
  success_criteria: z.array(Line).max(200).optional(),
})
export type Expectations = z.infer<typeof Expectations>

export const WorkflowState = z.strictObject({
  name: z.string().trim().min(1).max(200),
  current_step: Step,
  completed_steps: z.array(z.string()),
  remaining_steps: z.array(z.string()),
})
export type WorkflowState = z.infer<typeof WorkflowState>

export const PackageGate = z.strictObject({
  type: z.enum(["blocking", "advisory"]),
  name: z.string().trim().min(1).max(200),
  step: Step.optional(),
})
export type PackageGate = z.infer<typeof PackageGate>

/** What a person is asked to look at, and what each of the three answers means. */
export const ValidationRequest = z.strictObject({
  items: z.array(Line).min(1).max(100),
  options: z.strictObject({ approve: Line, reject: Line, question: Line }),
})
export type ValidationRequest = z.infer<typeof ValidationRequest>

const parts = {
  from: z.strictObject({ agent: PackageAgent, step: Step.nullish() }),
  to: z.strictObject({ agent: PackageAgent, reason: Line }),
  context: PackageContext,
  expectations: Expectations.optional(),
  workflow_state: WorkflowState.optional(),
  gate: PackageGate.optional(),
  validation_request: ValidationRequest.optional(),
}

/** The package of `003`: what one agent hands to the next, to the orchestrator or to a person. */
export const HandoffPackage = z.strictObject({
  handoff: z.strictObject({ id: PackageID, timestamp: z.iso.datetime({ offset: true }), ...parts }),
})
export type HandoffPackage = z.infer<typeof HandoffPackage>
export type Handoff = HandoffPackage["handoff"]

/** A package as an agent writes it: its number and its time are ours to fill in. */
export const HandoffDraft = z.strictObject({
  handoff: z.strictObject({
    id: PackageID.optional(),
    timestamp: z.iso.datetime({ offset: true }).optional(),
    ...parts,
  }),
})
export type HandoffDraft = z.infer<typeof HandoffDraft>

export const HUMAN = "human"

export type PackageKind = "sequential" | "delegation" | "escalation" | "return"

/** Which of the four a package is. Nobody writes it down: it follows from who, from where and what is expected. */
export function kindOf({ handoff }: HandoffDraft): PackageKind {
  if (handoff.to.agent === HUMAN) return "escalation"
  if (handoff.from.step === null || handoff.from.step === undefined) return "return"
  return handoff.expectations && !handoff.workflow_state ? "delegation" : "sequential"
}

/** What a receiver says before it begins. */
export const Acknowledgment = z.strictObject({
  received: z.literal(true),
  from: PackageAgent.optional(),
  understood: z.union([
    z.literal("partial"),
    z.strictObject({ task: Line, constraints: z.union([z.string(), z.array(z.string())]).optional() }),
  ]),
  questions: z.array(Line).optional(),
  blockers: z.array(Line).optional(),
  action: z.literal("request_clarification").optional(),
  starting: z.boolean().optional(),
})
export type Acknowledgment = z.infer<typeof Acknowledgment>

/** What a receiver needs answered before it can go on; nothing where it has begun. */
export function unclear(ack: Acknowledgment): string[] {
  const asked = [...(ack.blockers ?? []), ...(ack.questions ?? [])]
  const waits = ack.action === "request_clarification" || ack.understood === "partial" || ack.starting === false
  if (!waits) return []
  return asked.length > 0 ? asked : ["It did not understand the task and did not say why."]
}

/** The file `state/current.json`: every handoff of a run, in order. */
export const HandoffLog = z.strictObject({
  handoffs: z.array(
    z.strictObject({
      id: PackageID,
      timestamp: z.iso.datetime({ offset: true }),
      from: PackageAgent,
      to: PackageAgent,
      status: z.enum(["pending", "completed", "clarification", "rejected", "failed", "skipped"]),
    }),
  ),
})
export type HandoffLog = z.infer<typeof HandoffLog>
