import type { ContextMessage } from "../context"
import { cues, kindOf, type Cue } from "./shape"
import { TOOL_TOKENS } from "./variant"
import { scan, type Words } from "./words"
import type { Kind } from "./weights"

/** A message with what its words show; `text` is what the child would read. */
export type Candidate = {
  index: number
  message: ContextMessage
  text: string
  kind: Kind
  cues: ReadonlySet<Cue>
  words: Words
  /** How many words the whole message has, about. */
  length: number
  /** What it costs, estimated. */
  tokens: number
}

// The words of a log are read within this many characters, evenly over its messages, so that time and memory do not
// grow with what somebody pasted.
const READ = 800_000
const LEAST = 80
const MOST = 24_000

// What a message is shows in its beginning.
const LOOKED_AT = 3_000

const TAIL_SHARE = 0.3

function sample(text: string, room: number): string {
  if (text.length <= room) return text
  const tail = Math.floor(room * TAIL_SHARE)
  return `${text.slice(0, room - tail)}\n${text.slice(text.length - tail)}`
}

/** The message without the line that names its sender. */
const bodyOf = (text: string) => {
  const end = text.indexOf("\n")
  return text.startsWith("### ") && end > 0 ? text.slice(end + 1) : text
}

const TOOL_ROOM = TOOL_TOKENS * 3.5

/** What of a message never goes along whole: answers of tools are cut inside. */
const excess = ({ parts }: ContextMessage) =>
  parts.reduce((sum, { tool_output = "", tool_error = "" }) => {
    return sum + Math.max(0, tool_output.length - TOOL_ROOM) + Math.max(0, tool_error.length - TOOL_ROOM)
  }, 0)

export function candidates(messages: readonly ContextMessage[], textOf: (message: ContextMessage) => string) {
  const room = Math.min(MOST, Math.max(LEAST, Math.floor(READ / Math.max(1, messages.length))))
  return messages.map((message, index): Candidate => {
    const text = textOf(message)
    const body = bodyOf(text)
    const read = sample(body, room)
    const words = scan(read)
    const found = cues(words)
    return {
      index,
      message,
      text,
      kind: kindOf(message, { body: body.slice(0, LOOKED_AT), length: body.length, cues: found }),
      cues: found,
      words,
      length: Math.round((words.terms.length * body.length) / Math.max(1, read.length)),
      tokens: Math.ceil((words.tokens * (body.length - excess(message))) / Math.max(1, read.length)) + 4,
    }
  })
}
