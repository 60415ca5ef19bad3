import { drizzle } from "drizzle-orm/bun-sqlite"
import type { AuditQueryInput } from "../domain/audit-query"
import { told } from "../domain/errors"
import { redactDeep } from "../domain/secret"
import type { Store } from "../service/port"
import { createAuditQuery } from "./audit-query"
import { createAuditSearch } from "./audit-search"
import { createBlobs } from "./blob"
import { createChanges } from "./change"
import { createCommands } from "./command"
import { createContents, createVault } from "./content"
import { createDeliveries } from "./delivery"
import { createFlows } from "./flow"
import { createGates } from "./gate"
import { createLives } from "./live"
import { createLog } from "./log"
import { createLookup } from "./lookup"
import type { Opened } from "./open"
import { createOwners } from "./owner"
import { createPasses } from "./pass"
import { createPreferences } from "./preference"
import { createQueries } from "./query"
import { createReads } from "./read"
import { createRetention } from "./retention"
import { createSlots, createSlotStatements } from "./slot"
import { createStarts } from "./start"
import { createStatements, type Base } from "./statement"
import { broken, createWriter, storeError, UNHEARD, type Health } from "./write"

/** The store over a database that could be opened. */
export function createStore(opened: Extract<Opened, { ok: true }>, path: string, health: Health = UNHEARD): Store {
  const { client } = opened
  const db = drizzle({ client })
  const vault = createVault(db, path)
  const base: Base = {
    db,
    contents: createContents(vault),
    run: createStatements(db),
    slots: createSlotStatements(db),
    ...createWriter(client, path, health),
  }
  const queryAudit = createAuditQuery(client, createAuditSearch(client, path))
  const version = client.query<{ data_version: number }, []>("PRAGMA data_version")
  const store = {
    ...createPasses(base),
    ...createReads(base, () => version.get()?.data_version ?? 0),
    ...createDeliveries(base),
    ...createOwners(base),
    ...createCommands(base),
    ...createLog(base),
    queryAudit: async (query?: AuditQueryInput) => queryAudit(query),
    ...createLives(base),
    ...createQueries(base),
    ...createPreferences(base),
    ...createLookup(base),
    ...createGates(base),
    ...createFlows(base),
    ...createSlots(base),
    ...createStarts(base),
    ...createBlobs(base, vault),
    ...createChanges(base),
    ...createRetention(base),
  }
  return { ...guarded(store, path, health), close: () => client.close() }
}

/**
 * Reads meet broken disks too; whatever comes out of the store is either ours or a PassOverError with a sentence.
 *
 * And whatever goes in passes here, so this is where secrets are taken out: before the first write, in every text, of
 * every operation. Bytes are not touched: the exact contents of proposed changes are blobs, sealed and handed over as
 * bytes. A file_modification artifact whose body had a secret is kept under the hash of its text with the mark, and
 * nothing may ever be applied from such a text (`isRedacted`), only from the blob of its change.
 */
function guarded<T extends Record<string, (...args: never[]) => Promise<unknown>>>(
  methods: T,
  path: string,
  { ill }: Health,
): T {
  const wrap =
    (method: (...args: never[]) => Promise<unknown>) =>
    async (...args: never[]) => {
      try {
        return await method(...redactDeep(args))
      } catch (error) {
        const meant = storeError(error, path)
        if (broken(meant)) ill(told(meant))
        throw meant
      }
    }
  return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, wrap(method)])) as T
}
