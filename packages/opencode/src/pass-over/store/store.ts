import { drizzle } from "drizzle-orm/bun-sqlite"
import type { Store } from "../service/port"
import { createCommands } from "./command"
import { createDeliveries } from "./delivery"
import { createLog } from "./log"
import type { Opened } from "./open"
import { createOwners } from "./owner"
import { createPasses } from "./pass"
import { createReads } from "./read"
import { createStatements, type Base } from "./statement"
import { createWriter, storeError } from "./write"

/** The store over a database that could be opened. */
export function createStore(opened: Extract<Opened, { ok: true }>, path: string): Store {
  const { client } = opened
  const db = drizzle({ client })
  const base: Base = { db, run: createStatements(db), write: createWriter(client, path) }
  const version = client.query<{ data_version: number }, []>("PRAGMA data_version")
  const store = {
    ...createPasses(base),
    ...createReads(base, () => version.get()?.data_version ?? 0),
    ...createDeliveries(base),
    ...createOwners(base),
    ...createCommands(base),
    ...createLog(base),
  }
  return { ...guarded(store, path), close: () => client.close() }
}

// Reads meet broken disks too; whatever comes out of the store is either ours or a PassOverError with a sentence.
function guarded<T extends Record<string, (...args: never[]) => Promise<unknown>>>(methods: T, path: string): T {
  const wrap =
    (method: (...args: never[]) => Promise<unknown>) =>
    async (...args: never[]) => {
      try {
        return await method(...args)
      } catch (error) {
        throw storeError(error, path)
      }
    }
  return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, wrap(method)])) as T
}
