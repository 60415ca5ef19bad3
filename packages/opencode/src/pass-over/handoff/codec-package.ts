import type { DecisionArtifact } from "../domain/artifact"
import type { WorkOutput } from "../domain/output"
import { carry, noteOf, type Held, type Identity, type StepNote, type Viewed } from "./note"
import type { Handoff, HandoffPackage, OpenQuestion, PackageArtifact, PackageDecision } from "./package"
import { lossOf, only, outputOf, summaryOf } from "./view"

const KINDS: readonly (readonly [NonNullable<PackageArtifact["type"]>, RegExp])[] = [
  ["spec", /(?:^|\/)(?:specs?|requirements|user-stories)\//i],
  ["doc", /\.(?:md|mdx|rst|txt|adoc)$/i],
  ["config", /\.(?:json|jsonc|ya?ml|toml|ini|env|lock)$|(?:^|\/)\.[^/]+$/i],
]

/** What kind of file a path is, by its look. */
export const typeOf = (path: string): NonNullable<PackageArtifact["type"]> =>
  KINDS.find(([, look]) => look.test(path))?.[0] ?? "code"

const PENDING = "pending"

function decision({ id, question, answer, reasoning }: DecisionArtifact): PackageDecision {
  const what = question.trim() || reasoning.trim().slice(0, 500) || "(not said)"
  return {
    id: (answer === "unknown" ? PENDING : id.trim().slice(0, 200)) || PENDING,
    decision: answer === "no" ? `No: ${what}` : what,
    rationale: reasoning.slice(0, 20_000),
  }
}

const settled = (artifact: DecisionArtifact) => artifact.answer !== "unknown"

/** Everything of a package that its output does not say: who, to whom, what for, and where the workflow stands. */
export type PackageFrame = Omit<Handoff, "context">

function artifactsOf(output: WorkOutput, note: StepNote): PackageArtifact[] {
  const said = note.artifacts ?? []
  const known = new Set(said.map(({ path }) => path))
  const seen = only(output, "file_modification").filter(({ path }) => !known.has(path))
  const described = seen.map(({ path, reason }) => ({
    path,
    type: typeOf(path),
    ...(reason.trim() ? { description: reason.trim() } : {}),
  }))
  return [...said, ...new Map(described.map((each) => [each.path, each])).values()]
}

function questionsOf(output: WorkOutput, note: StepNote): OpenQuestion[] {
  if (note.open_questions) return note.open_questions
  return only(output, "decision")
    .filter((artifact) => !settled(artifact) && artifact.question.trim() !== "")
    .map(({ question, reasoning }) => ({
      question: question.trim(),
      priority: "high",
      ...(reasoning.trim() ? { context: reasoning.trim() } : {}),
    }))
}

/** An output as the context of a package to whoever comes next. */
export function toPackage(output: WorkOutput, frame: PackageFrame): Viewed<HandoffPackage> {
  const { note } = noteOf(output)
  const { id, timestamp, from, to, ...rest } = frame
  const view: HandoffPackage = {
    handoff: {
      id,
      timestamp,
      from,
      to,
      context: {
        summary: summaryOf(output, note).trim() || output.status,
        decisions: only(output, "decision").filter(settled).map(decision),
        artifacts: artifactsOf(output, note),
        open_questions: questionsOf(output, note),
      },
      ...rest,
    },
  }
  return { view, lost: lossOf(output, ["summary.generated_summary"]) }
}

const AROUND = [
  "id",
  "timestamp",
  "from",
  "to",
  "expectations",
  "workflow_state",
  "gate",
  "validation_request",
] as const

/** A package's context as an output. What stands around the context is named as lost: a `PackageFrame` holds it. */
export function fromPackage({ handoff }: HandoffPackage, identity: Identity): Held {
  const { summary, decisions = [], artifacts = [], open_questions = [] } = handoff.context
  const made = decisions.map((each): DecisionArtifact => ({
    type: "decision",
    id: each.id,
    question: each.decision,
    answer: "yes",
    reasoning: each.rationale,
  }))
  const output = outputOf(
    identity,
    "completed",
    [...made, ...carry({ context_summary: summary, artifacts, open_questions })],
    {
      generated_summary: summary,
    },
  )
  return { output, lost: AROUND.filter((part) => handoff[part] !== undefined) }
}
