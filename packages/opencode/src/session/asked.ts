import type { PermissionRequest } from "@opencode-ai/sdk/v2"
import type { Effective } from "../pass-over/domain/preference"
import { readable } from "../pass-over/domain/time"
import type { Engine, Entry } from "../pass-over/service/engine"
import { rightTo } from "../pass-over/service/right"
import type { Client } from "./client"

type Asked = Pick<PermissionRequest, "id" | "sessionID" | "permission" | "patterns">
type Reply = { reply: "once" | "reject"; message?: string }

const reject = (message: string): Reply => ({ reply: "reject", message })

/** How long a question of the host may wait for the user, and what is said to the child when nobody came. */
function patience(engine: Engine, { runner }: Entry): { ms: number; word: Reply } {
  // `opencode run` looks after the questions of its own session and leaves those of children open for ever.
  if (engine.headless) return { ms: 0, word: reject("Nobody can be asked here; do without it.") }
  const { gate_ttl_ms } = runner.pass.preference.values as Effective
  return { ms: gate_ttl_ms, word: reject(`Nobody answered within ${readable(gate_ttl_ms)}; do without it.`) }
}

/**
 * Answers the questions that only our own fences made the host ask: what every layer above a child allows is allowed,
 * what one of them denies is denied. Whatever one of them would ask about stays the user's to answer, as long as there
 * is hope that they will.
 */
export function answerAsked(engine: Engine, client: Client, asked: Asked) {
  const entry = engine.running.entry(asked.sessionID)
  if (!entry?.rights) return
  const answer = (reply: Reply) => {
    // An error here is that somebody was faster, or that the session is gone.
    client.permission.reply({ requestID: asked.id, ...reply }).catch(() => {})
  }
  const right = rightTo(entry.rights, asked.permission, asked.patterns)
  if (right.action === "allow") return answer({ reply: "once" })
  if (right.action === "deny")
    return answer(reject(`The rules of ${right.who ?? "its originator"} forbid this; do without it.`))
  const { ms, word } = patience(engine, entry)
  engine.clock.after(ms, () => answer(word))
}
