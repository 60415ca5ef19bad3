import { openAudit } from "./pass-over"
import type { AuditSettings } from "./pass-over/domain/preference"
import { keptFrom } from "./pass-over/domain/retention"
import type { Log } from "./pass-over/service/port"
import { databasePath } from "./paths"

// After whatever the user came for; and a few sessions at a time, because this is the event loop of their opencode.
const FIRST_MS = 60_000
const AT_ONCE = 5
const PASSES_AT_ONCE = 100

export type Retention = {
  directory: string
  settings: () => AuditSettings
  /** Forgets passes that were over before a moment, at most so many. */
  passes: (before: number, limit: number) => Promise<unknown>
  /** Forgets contents of files that nothing refers to. */
  contents: () => Promise<void>
  log: Log
}

/** Removes what is older than the user wants it kept, once a start. `pass-over audit prune` does all of it at once. */
export function keepRetention({ directory, settings, passes, contents, log }: Retention) {
  const failed = (what: string) => (error: unknown) =>
    log("warn", `${what} could not be removed`, { directory, error: String(error) })
  setTimeout(() => {
    prune(directory, settings, log)
      .catch(failed("old audit lines"))
      .then(() => passes(keptFrom(Date.now(), settings().retention_days), PASSES_AT_ONCE))
      .catch(failed("old passes"))
      .then(contents)
      .catch(failed("contents that nothing refers to"))
  }, FIRST_MS).unref()
}

async function prune(directory: string, settings: () => AuditSettings, log: Log) {
  const { log_directory, retention_days } = settings()
  const opened = openAudit({ path: databasePath(), directory, log_directory })
  if (!opened.ok) return
  try {
    const pruned = await opened.audit.prune({ retention_days, now: Date.now(), most: AT_ONCE })
    for (const { message } of pruned.kept) log("warn", `an old audit log was changed and is kept: ${message}`)
  } finally {
    opened.audit.close()
  }
}
