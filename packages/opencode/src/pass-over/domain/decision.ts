import type { DecisionArtifact } from "./artifact"
import type { MessagePart } from "./context"

const HEAD = /^[ \t>*_#-]*DECISION[*_ \t]*(?:\(([^)\n]{1,200})\))?[*_ \t]*[:–—-][*_ \t]*(.*)$/i
const FIELD =
  /^[ \t>*_#-]*(QUESTION|ANSWER|REASON(?:ING)?|BECAUSE|ALTERNATIVES?(?: CONSIDERED)?|RATIONALE)[*_ \t]*[:–—-][*_ \t]*(.*)$/i

const YES = /^(?:yes|y|approved?|accept(?:ed)?|true|go|proceed)\b/i
const NO = /^(?:no|n|rejected?|den(?:y|ied)|false|stop|do not|don't)\b/i

function answer(text: string): DecisionArtifact["answer"] {
  if (YES.test(text)) return "yes"
  return NO.test(text) ? "no" : "unknown"
}

/** The lines that belong to one decision: its head and what follows up to an empty line or the next decision. */
function blocks(text: string): string[][] {
  const found: string[][] = []
  let current: string[] | undefined
  for (const line of text.split("\n")) {
    if (HEAD.test(line)) {
      current = [line]
      found.push(current)
      continue
    }
    if (line.trim() === "") current = undefined
    current?.push(line)
  }
  return found
}

type Fields = { question?: string; answer?: string; reasoning?: string; alternatives?: string }

function fields(lines: readonly string[]): Fields {
  return lines.reduce<Fields>((all, line) => {
    const [, name, value] = FIELD.exec(line) ?? []
    if (!name || value === undefined) return all
    const key = name.toLowerCase()
    if (key.startsWith("question")) return { ...all, question: value.trim() }
    if (key.startsWith("answer")) return { ...all, answer: value.trim() }
    if (key.startsWith("alternative")) return { ...all, alternatives: value.trim() }
    return { ...all, reasoning: value.trim() }
  }, {})
}

/** "DECISION: Split the file? yes" has its question and its answer on one line. */
function inline(head: string): { question: string; answer: string } {
  const asked = /^(.*\?)\s*(.*)$/.exec(head)
  return asked ? { question: asked[1] ?? head, answer: asked[2] ?? "" } : { question: head, answer: head }
}

/** Decisions that an agent wrote down in its text or reasoning as `DECISION: …`, with the fields that follow. */
export function decisions(part: MessagePart): DecisionArtifact[] {
  if (part.type !== "text" && part.type !== "reasoning") return []
  if (part.synthetic || !part.text || !/decision/i.test(part.text)) return []
  return blocks(part.text).map((lines, index) => {
    const head = (HEAD.exec(lines[0] ?? "")?.[2] ?? "").trim()
    const named = fields(lines.slice(1))
    const said = inline(head)
    const alternatives = named.alternatives?.split(/\s*[;|]\s*|\s*,\s+(?=[A-Z0-9])/).filter(Boolean)
    return {
      type: "decision",
      id: index === 0 ? part.id : `${part.id}:${index + 1}`,
      question: named.question ?? said.question,
      answer: answer(named.answer ?? said.answer),
      reasoning: named.reasoning ?? lines.join("\n"),
      ...(alternatives && alternatives.length > 0 ? { alternatives_considered: alternatives } : {}),
    }
  })
}
