import type { Event } from "@opencode-ai/sdk/v2"
import { OURS } from "../session/ours"

/** What was said by opencode; `stopped` where the child whose step has ended was told to stop already. */
export type Heard = { event: Event; stopped: boolean }

// Long for a thread, and nothing for a person who looks on.
const MOST_MS = 40

type PartUpdated = Extract<Event, { type: "message.part.updated" }>["properties"]
type MessageUpdated = Extract<Event, { type: "message.updated" }>["properties"]

// Whatever decides something: a step, or a tool call that has its answer. In a call of ours something is to be shown.
function decides({ part }: PartUpdated): boolean {
  if (part.type !== "tool") return part.type === "step-start" || part.type === "step-finish"
  return part.state.status === "completed" || part.state.status === "error" || OURS.includes(part.tool)
}

// The last word of a turn, which comes also where its step broke off.
const last = ({ info }: MessageUpdated) =>
  info.role === "assistant" && (info.time.completed !== undefined || info.error !== undefined)

/** Whether somebody may wait for it on the other side. What a child says letter by letter is only kept and shown. */
export function pressing(event: Event): boolean {
  switch (event.type) {
    case "message.part.updated":
      return decides(event.properties)
    case "message.updated":
      return last(event.properties)
    case "message.part.delta":
    case "message.part.removed":
    case "message.removed":
      return false
    default:
      return true
  }
}

/**
 * What opencode says, on its way to the engine's thread: what is not pressing goes along with what is, or a moment later.
 * A thread that is woken for every letter collects its heap all the time, and keeps a processor from opencode.
 */
export function createOutbox(send: (all: Heard[]) => void) {
  const kept: Heard[] = []
  let timer: ReturnType<typeof setTimeout> | undefined

  /** Sends what there is; to be called before anything else is sent, so that nothing is overtaken. */
  function flush() {
    clearTimeout(timer)
    timer = undefined
    if (kept.length > 0) send(kept.splice(0))
  }

  return {
    flush,
    put(heard: Heard) {
      kept.push(heard)
      if (pressing(heard.event)) return flush()
      timer ??= setTimeout(flush, MOST_MS).unref()
    },
  }
}
