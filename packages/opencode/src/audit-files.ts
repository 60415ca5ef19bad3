import { resolveAudit } from "./pass-over/domain/config"
import type { Engine } from "./pass-over/service/engine"
import type { Log } from "./pass-over/service/port"
import { appendLines } from "./pass-over/store/audit-file"
import { auditFolder } from "./pass-over/store/audit-folder"
import type { ConfigFiles } from "./pass-over/store/config-file"

// The database has every line at once; its copy in files may come a moment later, and then for several at a time:
// opencode answers its user first.
const QUIET_MS = 500
const LATEST_MS = 2_000

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
}

/** Keeps the log files of a project up to date. */
export function keepAuditFiles({ engine, directory, files, log }: AuditFilesOptions): AuditFiles {
  const waiting = new Set<string>()
  const state = { since: 0, unarm: () => {} }

  async function flush() {
    state.unarm()
    const sessions = [...waiting]
    waiting.clear()
    try {
      const audit = resolveAudit(files.read())
      if (!audit.log_all_passes || sessions.length === 0) return
      const folder = auditFolder(directory, audit.log_directory)
      await engine.store
        .flushAudit(sessions, (lines) => appendLines(folder, lines))
        .catch((error: unknown) => log("warn", "the audit log could not be written", { folder, error: String(error) }))
    } catch (error) {
      log("warn", "the audit log waits for a valid configuration", { error: String(error) })
    }
  }

  function logged(session_id: string) {
    const now = engine.clock.mono()
    if (waiting.size === 0) state.since = now
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
    close: flush,
  }
}
