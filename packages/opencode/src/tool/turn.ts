import type { ToolContext } from "@opencode-ai/plugin"
import { isDeepEqual } from "remeda"
import type { Host } from "../pass-over/service/port-host"

// One "reject" takes every open question of a session with it, so only one is open at a time.
const turns = new Map<string, Promise<unknown>>()

export function inTurn<T>(session_id: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(session_id) ?? Promise.resolve()
  const mine = before.then(work, work)
  const done = mine.then(
    () => {},
    () => {},
  )
  turns.set(session_id, done)
  void done.then(() => {
    if (turns.get(session_id) === done) turns.delete(session_id)
  })
  return mine
}

export type Screen = Pick<Host, "refused">

/**
 * Puts a question of ours to the user. A no to another question of the session, to a command for one, takes ours off the
 * screen too: nobody has said no to it, so it is put again.
 */
export async function put(context: ToolContext, host: Screen, question: Parameters<ToolContext["ask"]>[0]) {
  for (;;) {
    try {
      return await context.ask(question)
    } catch (error) {
      const refused = await host.refused(context.sessionID)
      if (!refused || context.abort.aborted) throw error
      if (refused.permission === question.permission && isDeepEqual([...refused.patterns], question.patterns))
        throw error
    }
  }
}
