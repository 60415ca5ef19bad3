import { drizzle } from "drizzle-orm/bun-sqlite"
import type { AuditLine } from "../domain/audit-log"
import { AuditQuery, writers } from "../domain/audit-query"
import { redactDeep } from "../domain/secret"
import type { Audit } from "../service/port-audit"
import { auditFolder, ensureFolder } from "./audit-folder"
import { pruneAudit } from "./audit-prune"
import { createAuditQuery } from "./audit-query"
import { anchorOf, type AuditPlace } from "./audit-read"
import { restoreAudit } from "./audit-restore"
import { AUDIT_NAMES } from "./audit-row"
import { createAuditSearch } from "./audit-search"
import { AuditSummary, readSummary, writeSummary } from "./audit-summary"
import { verifyAudit } from "./audit-verify"
import type { Opened } from "./open"
import { append } from "./record"
import { createSlotStatements } from "./slot"
import { createContents, createVault } from "./content"
import { createStatements } from "./statement"
import { createWriter } from "./write"

const PAGE = 5_000

/** Sums, and for each session where its chain begins and how far it has come: enough to verify the files alone. */
function summary(place: AuditPlace, now: number): AuditSummary {
  const { client, directory } = place
  const grouped = (column: string) =>
    Object.fromEntries(
      client
        .query<{ name: string; n: number }, [string]>(
          `select ${column} as name, count(*) as n from pass_over_audit where directory = ? and ${column} is not null group by ${column} order by ${column}`,
        )
        .all(directory)
        .map(({ name, n }) => [name, n]),
    )
  const points = (sql: string) =>
    Object.fromEntries(
      client
        .query<{ session_id: string; seq: number; hash: string }, [string]>(sql)
        .all(directory)
        .map(({ session_id, seq, hash }) => [session_id, { seq, hash }]),
    )
  const whole = client
    .query<Record<string, number | null>, [string]>(
      "select count(*) as lines, count(*) filter (where action = 'requested') as passes, min(timestamp) as first_timestamp, max(timestamp) as last_timestamp from pass_over_audit where directory = ?",
    )
    .get(directory)
  return AuditSummary.parse({
    ...whole,
    updated_at: now,
    by_action: grouped("action"),
    by_status: grouped("status"),
    by_decision: grouped("decision"),
    by_originating_agent: grouped("originating_agent"),
    by_subagent: grouped("subagent"),
    by_error_code: grouped("error_code"),
    anchors: points("select session_id, seq, hash from pass_over_audit_anchors where directory = ?"),
    heads: points(
      "select a.session_id, a.seq, a.hash from pass_over_audit a join pass_over_audit_files f on f.session_id = a.session_id and f.seq = a.seq where a.directory = ? order by a.timestamp",
    ),
  })
}

/** Where chains begin now: with it the files can be verified though the database be lost. */
function moveAnchors(place: AuditPlace, sessions: readonly string[]) {
  const known = readSummary(place.folder)
  const moved = sessions.map((session_id) => [session_id, anchorOf(place, session_id)] as const)
  ensureFolder(place.folder)
  writeSummary(place.folder, { ...known, anchors: { ...known.anchors, ...Object.fromEntries(moved) } })
}

export type AuditOptions = { path: string; directory: string; log_directory: string }

/** The audit of a project over a database that could be opened. */
export function createAudit(opened: Extract<Opened, { ok: true }>, options: AuditOptions): Audit {
  const { client } = opened
  const db = drizzle({ client })
  const writer = createWriter(client, options.path)
  const { write } = writer
  const run = createStatements(db)
  const place = { client, directory: options.directory, folder: auditFolder(options.directory, options.log_directory) }
  const search = createAuditSearch(client, options.path)
  const query = createAuditQuery(client, search)

  async function summarize(now: number) {
    ensureFolder(place.folder)
    // Under the lock under which lines are appended and counted.
    await write(() => writeSummary(place.folder, summary(place, now)))
  }

  return {
    async record(entry) {
      const note = redactDeep({ error_code: null, decision: null, detail: null, ...entry, action: "recorded" as const })
      return write((): AuditLine => append(run, note as never, place.directory))
    },
    query: async (input) => query(input),
    verify: async () => verifyAudit(place),
    restore: ({ force } = {}) => {
      const contents = createContents(createVault(db, options.path))
      return restoreAudit({ db, run, contents, slots: createSlotStatements(db), ...writer }, place, force)
    },
    async prune(given) {
      const pruned = await pruneAudit(place, write, search, given)
      if (pruned.lines === 0 || given.dry) return pruned
      // Counting it all goes over every line there is: who prunes bit by bit has it done once, at the end.
      if (given.most === undefined) await summarize(given.now)
      const sessions = pruned.gone.map(({ session_id }) => session_id)
      if (given.most !== undefined) await write(() => moveAnchors(place, sessions))
      return pruned
    },
    async export(input, format, put) {
      const { head, line, tail } = writers[format]
      const { limit, cursor: from, ...rest } = AuditQuery.parse(input)
      const most = input.limit === undefined ? Infinity : limit
      let count = 0
      await put(head)
      for (let cursor = from; count < most;) {
        const page = query({
          ...rest,
          limit: Math.min(PAGE, most - count),
          ...(cursor === undefined ? {} : { cursor }),
        })
        await put(page.lines.map((one, index) => line(one, AUDIT_NAMES, count + index === 0)).join(""))
        count += page.lines.length
        if (page.cursor === null) break
        cursor = page.cursor
      }
      await put(tail)
      return count
    },
    summarize,
    close: () => client.close(),
  }
}
