import type { Gate, GateVerdict } from "../domain/gate"

/** What a person reads beside a question of a flow, each with its name. */
export type GateFact = { name: string; value: string }

const MOST = 20

// A question may have been stored by another version: what is not as it is now is left out.
const inside = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>(
    (at, key) => (typeof at === "object" && at !== null ? (at as Record<string, unknown>)[key] : undefined),
    value,
  )

const texts = (value: unknown, key?: string): string[] =>
  (Array.isArray(value) ? value : []).flatMap((each) => {
    const text = key === undefined ? each : inside(each, key)
    return typeof text === "string" && text.trim() !== "" ? [text] : []
  })

function listed(name: string, lines: readonly string[]): GateFact[] {
  const shown = lines.slice(0, MOST)
  const more = lines.length > shown.length ? [`and ${lines.length - shown.length} more`] : []
  return shown.length === 0 ? [] : [{ name, value: [...shown, ...more].join("\n") }]
}

const VERDICTS: readonly GateVerdict[] = ["approve", "reject", "question"]

/** What an answer does, in the flow's own words; nothing where it says no more than yes and no. */
export function meaningOf({ detail }: Pick<Gate, "detail">, verdict: GateVerdict): string | undefined {
  const text = inside(detail, "options", verdict)
  return typeof text === "string" && text.trim() !== "" ? text : undefined
}

/** What stands behind a question: what was left, what to look at, and what each answer does. */
export function gateFacts(gate: Pick<Gate, "question" | "detail">): GateFact[] {
  const handoff = inside(gate.detail, "package", "handoff")
  const known = (text: string) => gate.question.includes(text)
  const summary = inside(handoff, "context", "summary")
  return [
    ...listed("What there is", texts([summary])),
    ...listed("Files", texts(inside(handoff, "context", "artifacts"), "path")),
    ...listed("Decisions", texts(inside(handoff, "context", "decisions"), "decision")),
    ...listed(
      "Open questions",
      texts(inside(handoff, "context", "open_questions"), "question").filter((text) => !known(text)),
    ),
    ...listed(
      "To look at",
      texts(inside(handoff, "validation_request", "items")).filter((text) => !known(text)),
    ),
    ...VERDICTS.flatMap((verdict) => listed(verdict, texts([meaningOf(gate, verdict)]))),
  ]
}
