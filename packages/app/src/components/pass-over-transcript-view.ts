import type { WorkArtifact } from "../../../opencode/src/pass-over/domain/artifact"
import type { TranscriptItem } from "../../../opencode/src/pass-over/domain/transcript"
import { inOrder } from "../../../opencode/src/pass-over/domain/transcript-order"

type Of<K extends TranscriptItem["kind"]> = Extract<TranscriptItem, { kind: K }>

/** One tool that a child has used: as it was seen, or whole where its outcome has it. */
export type Use = Pick<Of<"tool">, "tool" | "failed" | "input" | "output" | "input_more" | "output_more"> & {
  at: number | undefined
}

export type Step =
  | { type: "tool"; use: Use }
  | { type: "told"; text: string; more: number; at: number }
  | { type: "thought"; text: string; more: number; at: number }
  | { type: "said"; by: string | undefined; text: string; more: number; at: number }
  | { type: "noted"; text: string; internal: boolean }

const pretty = (input: string) => {
  try {
    return JSON.stringify(JSON.parse(input), undefined, 2)
  } catch {
    return input
  }
}

type Result = Extract<WorkArtifact, { type: "tool_result" }>

const whole = (result: Result, at: number | undefined): Use => ({
  tool: result.tool_name,
  failed: result.status === "error",
  input: JSON.stringify(result.input, undefined, 2),
  output: result.output,
  input_more: 0,
  output_more: 0,
  at,
})

const seen = ({ tool, failed, input, output, input_more, output_more, at }: Of<"tool">): Use => ({
  tool,
  failed,
  input: pretty(input),
  output,
  input_more,
  output_more,
  at,
})

function stepOf(item: TranscriptItem, agent: string, results: ReadonlyMap<string, Result>): Step {
  if (item.kind === "tool") {
    const kept = results.get(item.call_id ?? "")
    return { type: "tool", use: kept?.tool_name === item.tool ? whole(kept, item.at) : seen(item) }
  }
  const { text, more, at } = item
  if (item.kind !== "said") return { type: item.kind, text, more, at }
  return { type: "said", by: item.agent === agent ? undefined : (item.agent ?? undefined), text, more, at }
}

/**
 * What a child was told, said and did, in order; behind it what was kept of it and not seen, and what it noted for
 * whoever asked. The same line is the same step for as long as nothing new is known of it: what is open stays open.
 */
export function createSteps() {
  const known = new Map<number, { whole: boolean; step: Step }>()

  return (items: readonly TranscriptItem[], artifacts: readonly WorkArtifact[], agent: string): Step[] => {
    const results = artifacts.filter((artifact) => artifact.type === "tool_result")
    // Some providers number calls anew in every answer: of those that share a name none is known by it.
    const named = Map.groupBy(results, (result) => result.call_id)
    const byCall = new Map(
      [...named].flatMap(([id, [first, ...more]]) => (first && more.length === 0 ? [[id, first]] : [])),
    )
    const ordered = inOrder(items)
    const steps = ordered.map((item) => {
      const now = item.kind === "tool" && byCall.has(item.call_id ?? "")
      const before = known.get(item.seq)
      if (before?.whole === now) return before.step
      const step = stepOf(item, agent, byCall)
      known.set(item.seq, { whole: now, step })
      return step
    })
    return [...steps, ...unseen(ordered, results), ...noted(steps, artifacts)]
  }
}

function unseen(items: readonly TranscriptItem[], results: readonly Result[]): Step[] {
  const count = new Map<string, number>()
  for (const item of items) {
    if (item.kind === "tool") count.set(item.call_id ?? "", (count.get(item.call_id ?? "") ?? 0) + 1)
  }
  return results.flatMap((result): Step[] => {
    const left = count.get(result.call_id) ?? 0
    count.set(result.call_id, left - 1)
    return left > 0 ? [] : [{ type: "tool", use: whole(result, undefined) }]
  })
}

/** What it returned besides its outcome; its last words, where it returned nothing, stand there already. */
function noted(steps: readonly Step[], artifacts: readonly WorkArtifact[]): Step[] {
  const said = new Set(steps.flatMap((step) => (step.type === "said" ? [step.text.trim()] : [])))
  return artifacts.flatMap((artifact): Step[] => {
    if (artifact.type !== "message" || said.has(artifact.content.trim())) return []
    return [{ type: "noted", text: artifact.content, internal: artifact.role === "internal" }]
  })
}

/** So many lines are shown at first, and with each asking for more. */
export const LINES = 500

/**
 * The last lines of a transcript, and the first of all, which tells what it was to do. While more comes what is shown
 * stays for another so many lines: whoever reads does not lose the place with each of them.
 */
export function latest(steps: readonly Step[], room: number): { first: Step | undefined; left: number; last: Step[] } {
  const from = Math.floor(Math.max(0, steps.length - room) / LINES) * LINES
  if (from === 0) return { first: undefined, left: 0, last: [...steps] }
  return { first: steps[0], left: from - 1, last: steps.slice(from) }
}

const oneLine = (text: string) => text.slice(0, 400).replaceAll(/\s+/g, " ").trim().slice(0, 120)

/** One line to know a tool call by: what it was called with that says most. */
export function useLine({ input }: Pick<Use, "input">): string {
  try {
    const given: unknown = JSON.parse(input)
    if (typeof given !== "object" || given === null) return oneLine(input)
    const values = Object.values(given).filter((value): value is string => typeof value === "string" && value !== "")
    return oneLine(values[0] ?? "")
  } catch {
    return oneLine(input)
  }
}

/** The beginning of a long text, to know it by. */
export const firstLine = oneLine
