import type { ToolContext } from "@opencode-ai/plugin"
import { isDeepEqual } from "remeda"
import type { Host, Refused } from "../pass-over/service/port-host"

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

type Question = Parameters<ToolContext["ask"]>[0]

/** `said` where a person was heard saying no to this very question: a rule may say it too, or a host that goes away. */
export type Answer = { yes: true } | { yes: false; said: boolean; error: unknown }

const same = (refused: Refused, { permission, patterns }: Question) =>
  refused.permission === permission && isDeepEqual([...refused.patterns], patterns)

/**
 * Puts a question of ours to the user. A no to another question of the session, to a command for one, takes ours off the
 * screen too: nobody has said no to it, so it is put again.
 */
export async function put(context: ToolContext, host: Screen, question: Question): Promise<Answer> {
  for (;;) {
    try {
      await context.ask(question)
      return { yes: true }
    } catch (error) {
      const refused = await host.refused(context.sessionID)
      const said = refused !== undefined && same(refused, question)
      if (!refused || said || context.abort.aborted) return { yes: false, said, error }
    }
  }
}
