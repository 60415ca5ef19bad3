import type { FilePort } from "./service/change/deps"
import { createEngine, type Engine, type EngineDeps } from "./service/engine"
import type { Audit } from "./service/port-audit"
import { createAudit, type AuditOptions } from "./store/audit"
import { openDatabase } from "./store/open"
import { createStore } from "./store/store"
import { openTree } from "./store/tree/tree"
import type { Health } from "./store/write"
import { hasher, sha256Bytes } from "./store/tree/hash"

export type PassOverOptions = Omit<EngineDeps, "store" | "files"> & {
  /** Runs a command of the user's own. */
  run?: FilePort["run"]
  /** The database file; ":memory:" for one that nobody keeps. */
  path: string
  /** Hears how it goes with it. */
  health?: Health | undefined
}

export type PassOver = { ok: true; engine: Engine } | { ok: false; problem: string }

/** The one place where the store and the service meet. A database that cannot be used is a sentence, not an error. */
export function createPassOver({ path, run, health, ...deps }: PassOverOptions): PassOver {
  const opened = openDatabase(path)
  if (!opened.ok) {
    health?.ill(opened.problem)
    return opened
  }
  const store = createStore(opened, path, health)
  return { ok: true, engine: createEngine({ ...deps, store, files: filesWith(run) }) }
}

const NO_RUN: FilePort["run"] = async () => ({
  exit_code: null,
  output: "Commands cannot be run here.",
  duration_ms: 0,
})

const filesWith = (run: FilePort["run"] = NO_RUN): FilePort => ({
  openTree: openTree(),
  sha: sha256Bytes,
  hasher,
  run,
  under_way: new Set(),
})

/** The audit of one project, over its database and its folder: opencode need not run. */
export function openAudit(options: AuditOptions): { ok: true; audit: Audit } | { ok: false; problem: string } {
  const opened = openDatabase(options.path)
  if (!opened.ok) return opened
  try {
    return { ok: true, audit: createAudit(opened, options) }
  } catch (error) {
    opened.client.close()
    throw error
  }
}
