import type { DecisionArtifact } from "./artifact"
import type { MessagePart } from "./context"

// All of these are linear in a hostile text: no two repetitions in a row can match the same character, and what is
// captured last matches to the end of the line whatever stands there.
const HEAD = /^[ \t>*_#-]*DECISION[*_ \t]*(?:\([^)\n]{1,200}\)[*_ \t]*)?(?:[:–—]|-(?=[ \t]))([^\n]*)$/i
const FIELD =
  /^[ \t>*_#-]*(QUESTION|ANSWER|REASON(?:ING)?|BECAUSE|ALTERNATIVES?(?: CONSIDERED)?|RATIONALE)[*_ \t]*(?:[:–—]|-(?=[ \t]))([^\n]*)$/i
const MARK = "DECISION:"

// "yes" and "yes_" are an answer, "yesterday" and "yes/no" are not.
const YES = /^(?:yes|y|approved?|accept(?:ed)?|true|go|proceed)(?![a-z0-9/])/i
const NO = /^(?:no|n|reject(?:ed)?|deny|denied|false|stop|do not|don't)(?![a-z0-9/])/i

function answer(text: string): DecisionArtifact["answer"] {
  const plain = text.replace(/^[*_`\s]+/, "")
  if (YES.test(plain)) return "yes"
  return NO.test(plain) ? "no" : "unknown"
}

const undressed = (text: string) => text.replace(/^[*_ \t]+/, "").trim()

/** What a line decides: at its beginning in any dress, elsewhere in it only as the convention spells it. */
function headOf(line: string): string | undefined {
  const head = HEAD.exec(line)?.[1]
  if (head !== undefined) return undressed(head)
  const at = line.indexOf(MARK)
  return at < 0 ? undefined : undressed(line.slice(at + MARK.length))
}

type Block = { head: string; lines: string[] }

/** The lines that belong to one decision: its head and what follows up to an empty line or the next decision. */
function blocks(text: string): Block[] {
  const found: Block[] = []
  let current: Block | undefined
  for (const line of text.split(/\r?\n/)) {
    const head = headOf(line)
    if (head !== undefined) {
      current = { head, lines: [line] }
      found.push(current)
      continue
    }
    if (line.trim() === "") current = undefined
    current?.lines.push(line)
  }
  return found
}

type Fields = { question?: string; answer?: string; reasoning?: string; alternatives?: string }

function fields(lines: readonly string[]): Fields {
  const all: Fields = {}
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line) ?? []
    if (name !== undefined && value !== undefined) all[fieldOf(name.toLowerCase())] = undressed(value)
  }
  return all
}

function fieldOf(name: string): keyof Fields {
  if (name.startsWith("question")) return "question"
  if (name.startsWith("answer")) return "answer"
  return name.startsWith("alternative") ? "alternatives" : "reasoning"
}

/** "DECISION: Split the file? yes" has its question and its answer on one line. */
function inline(head: string): { question: string; answer: string } {
  const end = head.lastIndexOf("?") + 1
  return end > 0 ? { question: head.slice(0, end), answer: head.slice(end) } : { question: head, answer: head }
}

const alternatives = (text: string) =>
  text
    .split(/[;|]|,(?=\s+[A-Z0-9])/)
    .map((one) => one.trim())
    .filter(Boolean)

/** Decisions that an agent wrote down in its text or reasoning as `DECISION: …`, with the fields that follow. */
export function decisions(part: MessagePart): DecisionArtifact[] {
  if (part.type !== "text" && part.type !== "reasoning") return []
  if (part.synthetic || !part.text || !/decision/i.test(part.text)) return []
  return blocks(part.text).map(({ head, lines }, index) => {
    const named = fields(lines.slice(1))
    const said = inline(head)
    const considered = alternatives(named.alternatives ?? "")
    return {
      type: "decision",
      id: index === 0 ? part.id : `${part.id}:${index + 1}`,
      question: named.question ?? said.question,
      answer: answer(named.answer ?? said.answer),
      reasoning: named.reasoning ?? lines.join("\n"),
      ...(considered.length > 0 ? { alternatives_considered: considered } : {}),
    }
  })
}
