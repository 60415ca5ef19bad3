import { openAudit } from "./pass-over"
import type { AuditSettings } from "./pass-over/domain/preference"
import { keptFrom } from "./pass-over/domain/retention"
import type { Log } from "./pass-over/service/port"
import type { Audit } from "./pass-over/service/port-audit"
import type { Forgotten } from "./pass-over/service/retention"
import { databasePath } from "./paths"

// This is the event loop of somebody's opencode: it begins after whatever they came for, takes a little at a time with
// room in between until nothing is left, and looks again once a day where it runs for months.
const TIMES = { first_ms: 60_000, between_ms: 1_000, again_ms: 24 * 60 * 60 * 1_000 }
const SESSIONS_AT_ONCE = 2
const PASSES_AT_ONCE = 50

export type Retention = {
  directory: string
  settings: () => AuditSettings
  /** Forgets passes that were over before a moment, at most so many. */
  passes: (before: number, limit: number) => Promise<Forgotten>
  /** Forgets contents of files that nothing refers to. */
  contents: () => Promise<void>
  log: Log
}

type Sweeping = Retention & {
  /** What was said already is not said every day. */
  told: Set<string>
  /** Gives way to others; false when it is over. */
  rest: () => Promise<boolean>
}

/** Removes what is older than the user wants it kept, bit by bit. `pass-over audit prune` does all of it at once. */
export function keepRetention(of: Retention, times = TIMES): { close(): void } {
  const state: { timer?: Timer; closed: boolean } = { closed: false }
  const later = (ms: number, run: () => void) => {
    if (!state.closed) state.timer = setTimeout(run, ms).unref()
  }
  const rest = async () => {
    await new Promise<void>((resolve) => later(times.between_ms, resolve))
    return !state.closed
  }
  const sweeping: Sweeping = { ...of, told: new Set(), rest }
  const again = () => void sweep(sweeping).finally(() => later(times.again_ms, again))
  later(times.first_ms, again)
  return {
    close() {
      state.closed = true
      clearTimeout(state.timer)
    },
  }
}

async function sweep(of: Sweeping) {
  const { directory, log, contents } = of
  const failed = (what: string) => (error: unknown) =>
    log("warn", `${what} could not be removed`, { directory, error: String(error) })
  // A pass goes when its lines are gone, and a content when no pass refers to it.
  await forgetLines(of).catch(failed("old audit lines"))
  await forgetPasses(of).catch(failed("old passes"))
  await contents().catch(failed("contents that nothing refers to"))
}

async function withAudit<T>({ directory, settings }: Sweeping, work: (audit: Audit) => Promise<T>) {
  const opened = openAudit({ path: databasePath(), directory, log_directory: settings().log_directory })
  if (!opened.ok) return
  try {
    return await work(opened.audit)
  } finally {
    opened.audit.close()
  }
}

/** Those that stay are looked at once, so that they do not keep the others from their turn. */
async function forgetLines(of: Sweeping) {
  const { retention_days } = of.settings()
  const left: string[] = []
  let lines = 0
  for (;;) {
    const given = { retention_days, now: Date.now(), most: SESSIONS_AT_ONCE, without: left }
    const pruned = await withAudit(of, (audit) => audit.prune(given))
    if (!pruned) return
    lines += pruned.lines
    left.push(...pruned.left)
    warn(of, pruned.kept)
    if (pruned.gone.length + pruned.left.length < SESSIONS_AT_ONCE) break
    if (!(await of.rest())) return
  }
  if (lines > 0) await withAudit(of, (audit) => audit.summarize(Date.now()))
}

function warn({ log, told }: Sweeping, kept: readonly { message: string }[]) {
  for (const { message } of kept) {
    if (!told.has(message)) log("warn", `an old audit log was changed and is kept: ${message}`)
    told.add(message)
  }
}

async function forgetPasses({ settings, passes, rest }: Sweeping) {
  const before = keptFrom(Date.now(), settings().retention_days)
  for (;;) {
    const forgotten = await passes(before, PASSES_AT_ONCE)
    if (forgotten.passes + forgotten.runs === 0 || !(await rest())) return
  }
}
