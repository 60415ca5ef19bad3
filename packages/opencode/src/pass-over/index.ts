import { createEngine, type Engine, type EngineDeps } from "./service/engine"
import { openDatabase } from "./store/open"
import { createStore } from "./store/store"

export type PassOverOptions = Omit<EngineDeps, "store"> & {
  /** The database file; ":memory:" for one that nobody keeps. */
  path: string
}

export type PassOver = { ok: true; engine: Engine } | { ok: false; problem: string }

/** The one place where the store and the service meet. A database that cannot be used is a sentence, not an error. */
export function createPassOver({ path, ...deps }: PassOverOptions): PassOver {
  const opened = openDatabase(path)
  if (!opened.ok) return opened
  return { ok: true, engine: createEngine({ ...deps, store: createStore(opened, path) }) }
}
