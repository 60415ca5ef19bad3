import { Database } from "bun:sqlite"
import type { Store } from "../../../src/pass-over/service/port"
import { openDatabase } from "../../../src/pass-over/store/open"
import { createStore } from "../../../src/pass-over/store/store"

export type TestDatabase = Disposable & { client: Database; store: Store; newer: boolean }

/** A bare connection, closed with its scope. Bun's own way of disposing of one throws where a statement is still about. */
export function connect(path = ":memory:", options?: { readonly: true }): Disposable & { client: Database } {
  const client = new Database(path, options ?? { create: true })
  return { client, [Symbol.dispose]: () => client.close() }
}

/** The store as it is built for real, with the connection under it. A database that cannot be opened ends the test. */
export function openStore(path: string): TestDatabase {
  const opened = openDatabase(path)
  if (!opened.ok) throw new Error(opened.problem)
  const { client, newer } = opened
  const store = createStore(opened, path)
  return { client, store, newer, [Symbol.dispose]: () => store.close() }
}
