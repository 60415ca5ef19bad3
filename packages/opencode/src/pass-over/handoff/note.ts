import { z } from "zod"
import type { MessageArtifact } from "../domain/artifact"
import type { AgentID, PassID } from "../domain/id"
import type { PassOverMetadata, WorkOutput } from "../domain/output"
import { Assumption, Measurements, Routing } from "./envelope"
import { Acknowledgment, OpenQuestion, PackageArtifact } from "./package"
import { PhaseDecision, PhaseStatus } from "./phase"

const Text = z.string().max(200_000)

/**
 * What a step has to say that a WorkOutput has no field for. It travels inside the output as an internal message, so
 * that the WorkOutput stays the one thing that a step leaves and the three protocols stay views of it.
 */
export const StepNote = z
  .strictObject({
    context_summary: Text,
    status: PhaseStatus,
    decision: PhaseDecision,
    /** The findings of the step's phase; read by that phase's schema. */
    findings: z.record(z.string(), z.unknown()),
    tokens_used: z.number().nonnegative(),
    issues: z.array(Text),
    artifacts: z.array(PackageArtifact),
    open_questions: z.array(OpenQuestion),
    artifacts_produced: z.array(z.string()),
    commands_run: z.array(z.string()),
    measurements: Measurements,
    key_decisions: z.array(Text),
    assumptions: z.array(Assumption),
    routing: Routing,
    acknowledgment: Acknowledgment,
  })
  .partial()
export type StepNote = z.infer<typeof StepNote>

const Carried = z.strictObject({ handoff: StepNote })

/** A note as the artifact that carries it; nothing where there is nothing to say. */
export function carry(note: StepNote): MessageArtifact[] {
  if (Object.values(note).every((value) => value === undefined)) return []
  return [
    { type: "message", role: "internal", content: JSON.stringify({ handoff: note }), visibility: "originator_only" },
  ]
}

type Read = { note: StepNote; problem?: string }

/** A model sometimes puts its JSON into a code block; what is inside is meant. */
function bare(content: string): string {
  const text = content.trim()
  const head = text.indexOf("\n")
  const fenced = head > 0 && text.endsWith("```") && /^```(?:json)?\s*$/.test(text.slice(0, head))
  return fenced ? text.slice(head + 1, -3) : content
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(bare(content))
  } catch {
    return undefined
  }
}

const isNote = (value: unknown): value is { handoff: unknown } =>
  typeof value === "object" && value !== null && Object.hasOwn(value, "handoff")

/** The note in an output: the last that is one. What was meant as a note and is not in its form is a problem. */
export function noteOf(output: Pick<WorkOutput, "artifacts">): Read {
  const candidates = output.artifacts.flatMap((artifact) => {
    if (artifact.type !== "message") return []
    const value = parsed(artifact.content)
    return isNote(value) ? [value] : []
  })
  const last = candidates.at(-1)
  if (!last) return { note: {} }
  const read = Carried.safeParse(last)
  return read.success ? { note: read.data.handoff } : { note: {}, problem: z.prettifyError(read.error) }
}

/** Whether an artifact is a note of ours and not something that a person should read. */
export const carriesNote = (artifact: WorkOutput["artifacts"][number]) =>
  artifact.type === "message" && isNote(parsed(artifact.content))

/** Who left an output, for a view that does not say it. */
export type Identity = {
  work_id: PassID
  subagent_id: AgentID
  originating_agent_id: AgentID
  metadata: PassOverMetadata
}

/** A view of an output, and the names of everything in it that the view cannot hold. */
export type Viewed<T> = { view: T; lost: string[] }

/** An output made of a view, and the names of everything in the view that an output cannot hold. */
export type Held = { output: WorkOutput; lost: string[] }
