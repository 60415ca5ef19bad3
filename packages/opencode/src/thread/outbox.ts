import type { Event } from "@opencode-ai/sdk/v2"
import { OURS } from "../session/ours"

/** What was said by opencode; `stopped` where the child whose step has ended was told to stop already. */
export type Heard = { event: Event; stopped: boolean }

// Long for a thread, and nothing for a person who looks on.
const WORDS_MS = 40
// What nobody has heard of yet is asked of opencode, and what was kept is sent before every call.
const SESSION_MS = 1_000

type PartUpdated = Extract<Event, { type: "message.part.updated" }>["properties"]
type MessageUpdated = Extract<Event, { type: "message.updated" }>["properties"]
type SessionCreated = Extract<Event, { type: "session.created" }>["properties"]

// Whatever decides something: a step, or a tool call that has its answer. In a call of ours something is to be shown.
function decides({ part }: PartUpdated): boolean {
  if (part.type !== "tool") return part.type === "step-start" || part.type === "step-finish"
  return part.state.status === "completed" || part.state.status === "error" || OURS.includes(part.tool)
}

// The last word of a turn, which comes also where its step broke off.
const last = ({ info }: MessageUpdated) =>
  info.role === "assistant" && (info.time.completed !== undefined || info.error !== undefined)

// A child of ours is waited for by whoever had it made.
const ours = ({ info }: SessionCreated) => info.metadata?.pass_over !== undefined

const unless = (pressing: boolean, ms: number) => (pressing ? 0 : ms)

/**
 * How long it may stay here until something goes along with it: not at all where somebody may wait for it on the other
 * side, or goes by what it changes, as by a session's rules. What a child says letter by letter is only kept and shown, and
 * of a new session that is not ours nothing is known yet that could be wrong.
 */
export function patience(event: Event): number {
  switch (event.type) {
    case "message.part.updated":
      return unless(decides(event.properties), WORDS_MS)
    case "message.updated":
      return unless(last(event.properties), WORDS_MS)
    case "message.part.delta":
    case "message.part.removed":
    case "message.removed":
      return WORDS_MS
    case "session.created":
      return unless(ours(event.properties), SESSION_MS)
    default:
      return 0
  }
}

/**
 * What opencode says, on its way to the engine's thread: what is not pressing goes along with what is, or a moment later.
 * A thread that is woken for every letter collects its heap all the time, and keeps a processor from opencode.
 */
export function createOutbox(send: (all: Heard[]) => void) {
  const kept: Heard[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let due = Infinity

  /** Sends what there is; to be called before anything else is sent, so that nothing is overtaken. */
  function flush() {
    clearTimeout(timer)
    due = Infinity
    if (kept.length > 0) send(kept.splice(0))
  }

  return {
    flush,
    put(heard: Heard) {
      kept.push(heard)
      const wait = patience(heard.event)
      if (wait === 0) return flush()
      const at = performance.now() + wait
      if (at >= due) return
      clearTimeout(timer)
      due = at
      timer = setTimeout(flush, wait).unref()
    },
  }
}
