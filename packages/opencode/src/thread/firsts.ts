import type { Event } from "@opencode-ai/sdk/v2"
import type { First } from "../session/nursery"
import { passOf } from "../session/ours"
import type { Asked, Replied } from "./wire"

type Send = (asked: Asked) => Promise<Replied>
type Waiting = First & { create: Asked }
type Open = { may: PromiseWithResolvers<void>; rest: Promise<Replied> }

// Whoever made a child binds it within milliseconds. What nobody has asked for by then was given up.
const MOST_MS = 60_000
const GIVEN_UP = "Pass Over never began this pass. End your turn."

/** The prompt for a session goes where the request went that has made it. */
function promptOf({ create, body }: Waiting, session_id: string): Asked {
  const url = new URL(create.url)
  url.pathname = `${url.pathname}/${session_id}/message`
  return { ...create, url: url.href, body }
}

/**
 * Children that are given their first words in the moment in which their sessions are there. Until the engine has bound
 * them they are at their preparations: nothing is asked of their models.
 */
export function createFirsts(send: Send, most_ms = MOST_MS) {
  const waiting = new Map<string, Waiting>()
  const opened = new Map<string, Open>()

  function ask(session_id: string, child: Waiting) {
    const rest = send(promptOf(child, session_id))
    // Told to whoever asks for it.
    rest.catch(() => {})
    const may = Promise.withResolvers<void>()
    may.promise.catch(() => {})
    opened.set(session_id, { may, rest })
    setTimeout(() => {
      if (opened.delete(session_id)) may.reject(new Error(GIVEN_UP))
    }, most_ms).unref()
  }

  return {
    async make(create: Asked, first: First): Promise<Replied> {
      waiting.set(first.pass_id, { ...first, create })
      // Where its session was not heard of, it is asked by whoever wanted it.
      return send(create).finally(() => waiting.delete(first.pass_id))
    },
    hear(event: Event) {
      if (waiting.size === 0 || event.type !== "session.created") return
      const { info } = event.properties
      const child = waiting.get(passOf(info) ?? "")
      if (!child) return
      waiting.delete(child.pass_id)
      ask(info.id, child)
    },
    /** Comes back when a session's model may be asked. */
    hold: async (session_id: string): Promise<void> => opened.get(session_id)?.may.promise,
    async rest(session_id: string): Promise<Replied | undefined> {
      const open = opened.get(session_id)
      opened.delete(session_id)
      open?.may.resolve()
      return open?.rest
    },
  }
}

export type Firsts = ReturnType<typeof createFirsts>
