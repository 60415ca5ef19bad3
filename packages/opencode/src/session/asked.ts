import type { PermissionRequest } from "@opencode-ai/sdk/v2"
import { told, type GateAnswer } from "../pass-over/domain/gate"
import { valuesOf } from "../pass-over/domain/policy"
import { readable } from "../pass-over/domain/time"
import type { Engine, Entry } from "../pass-over/service/engine"
import { answerTo, openGate, withdrawGate, type Surface } from "../pass-over/service/gate"
import type { Within } from "../pass-over/domain/constraint-path"
import { rightTo, rightToPass, type Rights } from "../pass-over/service/right"
import { surfaceHere } from "../surface"
import { GATE_PERMISSION } from "../tool/dialog"
import type { Client } from "./client"

type Asked = Pick<PermissionRequest, "id" | "sessionID" | "permission" | "patterns">
type Reply = { reply: "once" | "reject"; message?: string }

const reject = (message: string): Reply => ({ reply: "reject", message })

const unanswered = (ms: number) => reject(`Nobody answered within ${readable(ms)}; do without it.`)

// Questions of the host that stand in the inbox too, and what their answer in the host itself means there.
const open = new Map<string, (answer: GateAnswer) => void>()

/** The host's own dialog, as a place where a question of the inbox may be answered first. */
const hosts =
  (request_id: string): Surface =>
  (_gate, signal) =>
    new Promise((resolve) => {
      open.set(request_id, resolve)
      signal.addEventListener("abort", () => {
        open.delete(request_id)
        resolve(undefined)
      })
    })

/** Somebody has answered a question in the host itself. */
export function answeredThere({ requestID, reply }: { requestID: string; reply: string }) {
  const verdict = reply === "reject" ? "reject" : "approve"
  open.get(requestID)?.({ verdict, note: null, by: "the user", surface: "opencode" })
}

/** Puts a question of the host's into the inbox, for those who do not see the directory that it was asked in. */
async function askInbox(engine: Engine, { runner }: Entry, asked: Asked): Promise<Reply> {
  const { pass } = runner
  const { gate_ttl_ms } = valuesOf(pass)
  const { gate } = await openGate(engine, {
    key: `host:${asked.id}`,
    kind: "question",
    pass,
    session_id: pass.root_session_id,
    directory: pass.directory,
    asked_by: pass.subagent_id,
    question: `May ${pass.subagent_id} use ${asked.permission}: ${asked.patterns.join(", ")}?`,
    detail: { permission: asked.permission, patterns: asked.patterns },
    policy: "opencode's own permission rules",
    default_action: "reject",
    ttl_ms: gate_ttl_ms,
  })
  void runner.outcome.then(() => withdrawGate(engine, gate.gate_id)).catch(() => {})
  const answered = await answerTo(engine, gate, hosts(asked.id))
  if (answered.status === "approved") return { reply: "once" }
  return answered.answered_by === null ? unanswered(gate_ttl_ms) : reject(`It was ${told(answered)}.`)
}

/** What becomes of a question that only the user can answer. */
function toUser(engine: Engine, entry: Entry, asked: Asked, elsewhere: boolean): Promise<Reply> {
  // `opencode run` looks after the questions of its own session and leaves those of children open for ever.
  if (engine.headless) return Promise.resolve(reject("Nobody can be asked here; do without it."))
  // The terminal shows the questions of every directory; other clients those of the one that they have open.
  if (elsewhere && !surfaceHere()) return askInbox(engine, entry, asked)
  const { gate_ttl_ms } = valuesOf(entry.runner.pass)
  return new Promise((resolve) => void engine.clock.after(gate_ttl_ms, () => resolve(unanswered(gate_ttl_ms))))
}

export type AskedIn = {
  client: Client
  /** Whether it was asked in a directory that the user has not opened themselves. */
  elsewhere: boolean
  /** Where that directory lies, seen from where the host begins the names of files. */
  within: Within
}

const rightOf = (rights: Rights, { permission, patterns }: Asked, within: Within) =>
  permission === "pass_over" ? rightToPass(rights, patterns) : rightTo(rights, permission, patterns, { within })

/**
 * Answers the questions that only our own fences made the host ask: what every layer above a child allows is allowed,
 * what one of them denies is denied. Whatever one of them would ask about stays the user's to answer, as long as there
 * is hope that they will.
 */
export function answerAsked(engine: Engine, { client, elsewhere, within }: AskedIn, asked: Asked) {
  // Meant for a person from the start: it stands in the inbox too, and its own time to live ends it.
  if (asked.permission === GATE_PERMISSION) return
  const entry = engine.running.entry(asked.sessionID)
  if (!entry?.rights) return
  const answer = (reply: Reply) => {
    // An error here is that somebody was faster, or that the session is gone.
    client.permission.reply({ requestID: asked.id, ...reply }).catch(() => {})
  }
  const right = rightOf(entry.rights, asked, within)
  if (right.action === "allow") return answer({ reply: "once" })
  if (right.action === "deny")
    return answer(reject(`${right.why ?? `The rules of ${right.who ?? "its originator"} forbid this`}; do without it.`))
  toUser(engine, entry, asked, elsewhere)
    .then(answer)
    .catch((error: unknown) => engine.log("warn", "a question could not be put", { error: String(error) }))
}
