import { resolve } from "node:path"
import { resolveAudit } from "./pass-over/domain/config"
import { ofDatabase, PassOverError, told } from "./pass-over/domain/errors"
import type { Engine } from "./pass-over/service/engine"
import type { Log } from "./pass-over/service/port"
import { appendLines } from "./pass-over/store/audit-file"
import { auditFolder } from "./pass-over/store/audit-folder"
import type { ConfigFiles } from "./pass-over/store/config-file"
import { createTrouble } from "./trouble"

// The database has every line at once; its copy in files may come a moment later, and then for several at a time:
// opencode answers its user first.
const QUIET_MS = 500
const LATEST_MS = 2_000
// A folder that could not be written may be writable by then.
const AGAIN_MS = 60_000

export type AuditFiles = {
  /** A session has new lines. It never throws and is not waited for. */
  logged(session_id: string): void
  /** Lines of an opencode that ended before it wrote them. */
  catchUp(): Promise<void>
  /** Writes what is left. */
  close(): Promise<void>
}

export type AuditFilesOptions = {
  engine: Pick<Engine, "store" | "clock">
  directory: string
  files: Pick<ConfigFiles, "read">
  log: Log
  /** Shows the user a line. */
  tell(line: string): void
}

const REASONS: Record<string, string> = {
  EROFS: "the disk is read-only",
  EACCES: "you may not write there",
  EPERM: "you may not write there",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
  EEXIST: "something else is in its place",
  ENOTDIR: "something else is in its place",
}

const LATER = "Nothing is lost: the database has every line, and the files catch up as soon as they can be written."

/** Why the files cannot be written, in words for the user. */
function why(folder: string, error: unknown): string {
  if (error instanceof PassOverError) return told(error)
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  const message = error instanceof Error ? error.message : String(error)
  const reason = REASONS[code] ? `${REASONS[code]} (${code})` : message
  return `Pass Over cannot write the log files of this project in ${folder}: ${reason}. ${LATER} If they are not wanted, set audit.log_all_passes to false in pass-over.json.`
}

/** Keeps the log files of a project up to date. */
export function keepAuditFiles({ engine, directory, files, log, tell }: AuditFilesOptions): AuditFiles {
  const waiting = new Set<string>()
  const state: { since?: number | undefined; unarm: () => void; closed?: true } = { unarm: () => {} }
  const trouble = createTrouble(engine.clock)
  trouble.listen(directory, tell)

  function settings() {
    try {
      return resolveAudit(files.read())
    } catch (error) {
      log("warn", "the audit log waits for a valid configuration", { error: String(error) })
      return undefined
    }
  }

  function again(sessions: readonly string[]) {
    for (const session_id of sessions) waiting.add(session_id)
    if (sessions.length > 0 && !state.closed) state.unarm = engine.clock.after(AGAIN_MS, () => void flush())
  }

  async function flush() {
    state.unarm()
    state.since = undefined
    const sessions = [...waiting]
    waiting.clear()
    const audit = settings()
    if (!audit) return again(sessions)
    if (!audit.log_all_passes || sessions.length === 0) return
    try {
      const folder = auditFolder(directory, audit.log_directory)
      await engine.store.flushAudit(sessions, (lines) => appendLines(folder, lines))
      trouble.well()
    } catch (error) {
      const folder = resolve(directory, audit.log_directory)
      log("warn", "the audit log could not be written", { folder, error: String(error) })
      // Of its own trouble the database tells itself.
      if (!ofDatabase(error)) trouble.ill(why(folder, error))
      again(sessions)
    }
  }

  function logged(session_id: string) {
    const now = engine.clock.mono()
    state.since ??= now
    waiting.add(session_id)
    state.unarm()
    const left = Math.max(0, state.since + LATEST_MS - now)
    state.unarm = engine.clock.after(Math.min(QUIET_MS, left), () => void flush())
  }

  return {
    logged,
    async catchUp() {
      for (const session_id of await engine.store.unwritten(directory)) waiting.add(session_id)
      await flush()
    },
    async close() {
      state.closed = true
      await flush()
    },
  }
}
