import type { ContextMessage, MessagePart } from "../context"
import type { Kind } from "./weights"
import { termOf, type Words } from "./words"

// Agents say at the beginning what they are about to do. All patterns are linear.
const HEAD = 400
const SHORT = 1_000

/** Names under which people appear in the logs of other systems. */
export const PERSON = /^(?:user|human|user[_ -]?proxy|customer|person)$/i
const MACHINE = /terminal|executor|execution|environment|sandbox|interpreter|^(?:shell|bash|tool|system|env)$/i
const OUTPUT = /^\s*(?:exit ?code|code output|stdout|stderr|traceback|output:|command output|\[stdout\]|>>> |\$ )/i
const TO = /(?:->|→)\s*\w/
const ASKS = /^\s*(?:please\b|@\w|could you\b|can you\b|next speaker|ask \w+ to\b)/i
const PLAN = /\bplan\b|\bstep[- ]by[- ]step\b|\bstrategy\b|\broadmap\b/i
const LISTED = /\n\s*(?:[-*•]|\d{1,2}[.)])\s/

// By their stems, so that a log is searched for all of them at once.
const CUES = {
  assumption:
    "assume assumption suppose supposedly hypothetical hypothetically placeholder simulate simulated simulation mock dummy sample approximate approximately estimate estimated probably presumably likely typically guess guessed recall unable believe example",
  decision: "decision decide chose choose chosen therefore conclude conclusion instead approach switch",
  error: "error exception traceback failed failure fail denied timeout undefined invalid cannot crash refused missing",
  correction:
    "mistake incorrect incorrectly wrong apologize apologies apology correction oops misread misunderstood misunderstanding reexamine reevaluate inaccurate overlooked",
  closing: "terminate final finally conclusion",
} as const

export type Cue = keyof typeof CUES

const CUE_OF = new Map(
  (Object.keys(CUES) as Cue[]).flatMap((cue) => CUES[cue].split(" ").map((word) => [termOf(word), cue] as const)),
)

/** What kinds of words a message has. */
export function cues({ terms }: Words): ReadonlySet<Cue> {
  const found = new Set<Cue>()
  for (let at = 0; at < terms.length; at += 1) {
    const cue = CUE_OF.get(terms[at] ?? 0)
    if (cue !== undefined) found.add(cue)
  }
  return found
}

/** Long, and more marks, links and short lines than sentences: a page, a listing, a log. */
function isDump(sample: string, length: number): boolean {
  if (length < 1_500) return false
  const lines = sample.split("\n")
  const short = lines.filter((line) => line.trim().length < 40).length
  const marks = sample.length - sample.replaceAll(/[^\w\s.,;'-]/g, "").length
  const fenced = sample.includes("```")
  return !fenced && (marks / sample.length > 0.12 || (lines.length > 20 && short / lines.length > 0.6))
}

const BOOKS = /^[^{\n]{0,60}\n?\s*\{\s*\n?\s*"/

const onlyTools = ({ parts }: ContextMessage) => parts.length > 0 && parts.every(({ type }) => type === "tool")

/** What a host or a plugin wrote in the user's name is not the user's word. */
const synthetic = ({ parts }: ContextMessage) => parts.some((part) => part.synthetic) && parts.every(spoken)
const spoken = (part: MessagePart) => part.type !== "text" || part.synthetic === true || !part.text?.trim()

export type Look = { body: string; length: number; cues: ReadonlySet<Cue> }

/** By the beginning of its text, and how long all of it is. */
export function kindOf(message: ContextMessage, { body, length, cues }: Look): Kind {
  const name = message.agent_name ?? ""
  if (message.role === "user" && !synthetic(message)) return "user"
  if (MACHINE.test(name) || OUTPUT.test(body) || onlyTools(message)) return "environment"
  const words = body.length > 200 ? 99 : body.trim().split(/\s+/).length
  if (words < 13) return ASKS.test(body) && words > 5 ? "handoff" : "nod"
  if (BOOKS.test(body.slice(0, 200))) return "bookkeeping"
  if (isDump(body, length)) return "dump"
  if (body.includes("```")) return "code"
  if (TO.test(name) || ASKS.test(body)) return "handoff"
  const head = body.slice(0, HEAD)
  if (PLAN.test(head) && LISTED.test(body)) return "plan"
  return length < SHORT && cues.has("closing") ? "answer" : "talk"
}
