import { createHash, randomBytes } from "node:crypto"
import { DEFAULTS, ORIGINATORS } from "../../opencode/src/agent/agent"
import { userName } from "../../opencode/src/identity"
import { databasePath } from "../../opencode/src/paths"
import { createPassOver } from "../../opencode/src/pass-over"
import type { AgentInfo } from "../../opencode/src/pass-over/domain/agent"
import type { Gate, GateVerdict } from "../../opencode/src/pass-over/domain/gate"
import { PassID } from "../../opencode/src/pass-over/domain/id"
import { order } from "../../opencode/src/pass-over/service/command"
import { answerGate } from "../../opencode/src/pass-over/service/gate"
import { runCommand } from "../../opencode/src/session/run-command"
import { createChanges, type Changes, type Said } from "./changes-source"
import { createHistory, type History } from "./history-source"
import { createPreferences, type Preferences } from "./preferences-source"
import type { Seen } from "./view"

export type Snapshot = { running: Seen[]; gates: Gate[] }

export type Source = {
  /** What there is now, if anything has changed since the last look. */
  look(force?: boolean): Promise<Snapshot | undefined>
  answer(gate_id: string, verdict: GateVerdict, note: string | null): Promise<string>
  /** Ends a pass that runs, or says something to its child. */
  order(pass_over_id: PassID, kind: "cancel" | "message", text: string): Promise<Said>
  /** The session that a child's pass came from. */
  origin(child_session_id: string): Promise<string | undefined>
  history: History
  preferences: Preferences
  changes: Changes
  close(): void
}

// Whoever runs a pass looks four times a second.
const PATIENCE_MS = 5_000

const uuid = () => Bun.randomUUIDv7()

/** The database as this terminal sees it. The terminal runs no passes: it looks, it answers, it keeps preferences. */
export function openSource(directory: string, agents: () => Promise<AgentInfo[]>): Source | { problem: string } {
  const made = createPassOver({
    path: databasePath(),
    clock: {
      now: () => Date.now(),
      mono: () => performance.now(),
      after: (ms, run) => {
        const timer = setTimeout(run, ms)
        return () => clearTimeout(timer)
      },
    },
    ids: {
      pass: () => PassID.parse(uuid()),
      make: (prefix) => `${prefix}_${uuid().replaceAll("-", "")}`,
      nonce: () => randomBytes(16).toString("hex"),
    },
    tokens: async () => (text) => text.length,
    hash: (text) => createHash("sha256").update(text).digest("hex"),
    log: () => {},
    owner_id: `own_${uuid().replaceAll("-", "")}`,
    user_id: userName(),
    headless: false,
    agents: { defaults: DEFAULTS, originators: ORIGINATORS },
    run: runCommand,
  })
  if (!made.ok) return { problem: made.problem }
  const { engine } = made
  const { store } = engine
  const state = { version: -1 }
  const actor = userName() ?? "the user"

  async function snapshot(): Promise<Snapshot> {
    const [open, lives, gates] = await Promise.all([
      store.list({ directory, status: ["initial", "waiting_for_return"] }),
      store.lives(),
      store.gates({ directory, status: ["pending"] }),
    ])
    const live = new Map<string, (typeof lives)[number]>(lives.map((each) => [each.pass_over_id, each]))
    const seen = (pass: Seen["pass"]): Seen => ({ pass, live: live.get(pass.id) })
    return { running: open.map(seen), gates }
  }

  return {
    async look(force = false) {
      const version = await store.version()
      if (!force && version === state.version) return undefined
      state.version = version
      return snapshot()
    },
    async answer(gate_id, verdict, note) {
      const answered = await answerGate(engine, gate_id, {
        verdict,
        note,
        by: actor,
        surface: "the terminal",
      })
      return answered.ok ? "" : answered.refusal.message
    },
    async order(pass_over_id, kind, text) {
      const done = await order(engine, { pass_over_id, kind, text, actor, patience_ms: PATIENCE_MS })
      return done.ok ? { ok: true, text: done.text } : { ok: false, text: done.refusal.message }
    },
    origin: async (child_session_id) => (await store.byChild(child_session_id))?.session_id,
    history: createHistory(engine, directory),
    preferences: createPreferences({ engine, directory, agents, actor }),
    changes: createChanges(engine, actor),
    close: () => store.close(),
  }
}
