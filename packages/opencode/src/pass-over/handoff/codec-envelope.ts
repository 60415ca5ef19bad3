import type { DecisionArtifact } from "../domain/artifact"
import { findingsOf } from "../domain/outcome"
import type { OutputStatus, ReviewDecision, WorkOutput } from "../domain/output"
import { IMPLIED, type Envelope, type EnvelopeMeta, type EnvelopeStatus, type Routing } from "./envelope"
import { carry, noteOf, type Held, type Identity, type StepNote, type Viewed } from "./note"
import { commands, concern, finding, LEVEL, lossOf, only, outputOf, produced, summaryOf } from "./view"

const HOLDS = ["summary.generated_summary", "artifacts.finding"]

const WAY = {
  approved: "CONTINUE",
  needs_modification: "LOOP",
  rejected: "ESCALATE",
  blocked: "ESCALATE",
} as const satisfies Record<ReviewDecision, Routing["recommendation"]>

/** Where an output would go next that does not say so itself. */
function routing(output: WorkOutput, status: EnvelopeStatus): Routing {
  const { decision, decision_reason } = output.summary
  const high = findingsOf(output).filter(({ severity }) => LEVEL[severity] === "HIGH").length
  // Whoever found something grave and did not decide cannot have meant to go on over it.
  if (decision === undefined && status !== "BLOCKED" && high > 0)
    return {
      recommendation: "LOOP",
      can_further_iteration_help: true,
      reason: `${high} ${high === 1 ? "concern is" : "concerns are"} HIGH, and nothing was decided about going on`,
    }
  const recommendation = decision && status !== "BLOCKED" ? WAY[decision] : IMPLIED[status]
  return {
    recommendation,
    ...(decision === "needs_modification" ? { can_further_iteration_help: true } : {}),
    reason: decision_reason ?? output.completion_reason ?? decision ?? output.status,
  }
}

const ANSWERS = { yes: "", no: "no", unknown: "open" } as const

const decisionLine = ({ question, answer, reasoning }: DecisionArtifact) =>
  [question, ANSWERS[answer], reasoning].filter(Boolean).join(": ")

/** An output as an envelope. Its status is computed from evidence and handed in; it is never the model's own word. */
export function toEnvelope(output: WorkOutput, meta: EnvelopeMeta, status: EnvelopeStatus): Viewed<Envelope> {
  const { note } = noteOf(output)
  const { generated_summary, decision_reason = "" } = output.summary
  const did = generated_summary ?? note.context_summary ?? summaryOf(output, note)
  const view: Envelope = {
    meta,
    status,
    summary: {
      what_i_did: did,
      what_i_found: decision_reason,
      key_decisions: note.key_decisions ?? only(output, "decision").map(decisionLine),
      evidence: {
        artifacts_produced: produced(output, note),
        commands_run: [...new Set([...(note.commands_run ?? []), ...commands(output)])],
        measurements: note.measurements ?? {},
      },
    },
    concerns: only(output, "finding").map(concern),
    assumptions: note.assumptions ?? [],
    routing: note.routing ?? routing(output, status),
  }
  return { view, lost: lossOf(output, [...HOLDS, "summary.decision_reason"]) }
}

const DECIDED = {
  CONTINUE: "approved",
  LOOP: "needs_modification",
  DETOUR: "needs_modification",
  ESCALATE: "blocked",
} as const satisfies Record<Routing["recommendation"], ReviewDecision>

const ENDED = {
  VERIFIED: "completed",
  UNVERIFIED: "completed",
  BLOCKED: "partial",
} as const satisfies Record<EnvelopeStatus, OutputStatus>

/** An envelope as an output. Who wrote it stands beside it; its files and commands are named, not held. */
export function fromEnvelope(envelope: Envelope, identity: Identity): Held {
  const { summary, concerns, assumptions, routing } = envelope
  const note: StepNote = {
    key_decisions: summary.key_decisions,
    artifacts_produced: summary.evidence.artifacts_produced,
    commands_run: summary.evidence.commands_run,
    measurements: summary.evidence.measurements,
    assumptions,
    routing,
  }
  const output = outputOf(identity, ENDED[envelope.status], [...concerns.map(finding), ...carry(note)], {
    generated_summary: summary.what_i_did,
    decision_reason: summary.what_i_found,
    ...(envelope.status === "UNVERIFIED" && routing.recommendation === "CONTINUE"
      ? {}
      : { decision: DECIDED[routing.recommendation] }),
  })
  return { output, lost: ["meta"] }
}
