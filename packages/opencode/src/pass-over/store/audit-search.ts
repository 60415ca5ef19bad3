import type { Database } from "bun:sqlite"
import { chmodSync, existsSync } from "node:fs"
import { makeFile } from "./open"

export type AuditSearch = {
  /** Where to look for lines with these words, in which order; brought up to date first. */
  matching(text: string): { from: string; where: string; id: string; values: string[] }
  /** Words of lines that are gone do not stay behind. */
  forget(ids: readonly number[]): void
}

const AT_ONCE = 5_000

// A word that ends with a star stands for all that begin like it. The others cost less.
const words = (text: string) => text.match(/[\p{L}\p{N}_]+\*?/gu)?.slice(0, 12) ?? []

const LIKE = ["summary", "reason", "originating_agent", "subagent", "detail"]

function slow(text: string) {
  const patterns = words(text).map((word) => `%${word.replace("*", "").replaceAll(/[\\%_]/g, String.raw`\$&`)}%`)
  const each = `(${LIKE.map((column) => `${column} like ? escape '\\'`).join(" or ")})`
  const where = patterns.map(() => each).join(" and ") || "1"
  return { from: "pass_over_audit", where, id: "id", values: patterns.flatMap((pattern) => LIKE.map(() => pattern)) }
}

const SCHEMA = [
  // No copy of the text: the index alone, and what it points to is in the database.
  `create virtual table if not exists search.lines using fts5 (words, content='', contentless_delete=1, prefix='2 3')`,
  "create table if not exists search.reached (one integer primary key check (one = 1), id integer not null, hash text not null)",
]

const SOURCE = `select id, hash, summary || ' ' || reason || ' ' || originating_agent || ' ' || subagent || ' ' || action || ' ' ||
  coalesce(error_code, '') || ' ' || coalesce(detail, '') as words from pass_over_audit where id > ? order by id limit ${AT_ONCE}`

const beside = (path: string) => path.replace(/(?:\.db)?$/, "-search.db")

function open(client: Database, path: string) {
  const file = path === ":memory:" ? path : beside(path)
  if (file !== ":memory:") {
    makeFile(file)
    chmodSync(file, 0o600)
  }
  client.run("attach database ? as search", [file])
  client.run("pragma search.synchronous = off")
  for (const statement of SCHEMA) client.run(statement)
}

/**
 * Full-text search, in a database of its own beside the other: whoever searches brings it up to date, so that writing a
 * line costs nothing more, and it can be thrown away at any time. Where it cannot be had, every line is looked at.
 */
export function createAuditSearch(client: Database, path: string): AuditSearch {
  let ready: boolean | undefined

  const prepare = () => {
    if (ready !== undefined) return ready
    try {
      open(client, path)
      ready = true
    } catch {
      ready = false
    }
    return ready
  }

  const reached = () =>
    client.query<{ id: number; hash: string }, []>("select id, hash from search.reached where one = 1").get()

  function same({ id, hash }: { id: number; hash: string }): boolean {
    const line = client.query<{ hash: string }, [number]>("select hash from pass_over_audit where id = ?").get(id)
    return line === null
      ? client.query("select 1 from pass_over_audit where id > ?").get(id) !== null
      : line.hash === hash
  }

  function catchUp() {
    const before = reached()
    // A database that was restored has other lines under the same ids.
    if (before && !same(before)) client.run("delete from search.reached")
    if (before && !reached()) client.run("insert into search.lines (lines) values ('delete-all')")
    for (let from = reached()?.id ?? 0; ;) {
      const rows = client.query<{ id: number; hash: string; words: string }, [number]>(SOURCE).all(from)
      const last = rows.at(-1)
      if (!last) return
      client.transaction(() => {
        const put = client.query("insert into search.lines (rowid, words) values (?, ?)")
        for (const row of rows) put.run(row.id, row.words)
        client.run("insert or replace into search.reached (one, id, hash) values (1, ?, ?)", [last.id, last.hash])
      })()
      from = last.id
    }
  }

  return {
    matching(text) {
      if (words(text).length === 0 || !prepare()) return slow(text)
      try {
        catchUp()
      } catch {
        return slow(text)
      }
      const match = words(text)
        .map((word) => (word.endsWith("*") ? `"${word.slice(0, -1)}"*` : `"${word}"`))
        .join(" ")
      return {
        // In this order: words first, the newest line first, one line after another until there are enough.
        from: "search.lines cross join pass_over_audit on id = lines.rowid",
        where: "lines match ?",
        id: "lines.rowid",
        values: [match],
      }
    },
    forget(ids) {
      // What nobody ever searched has nothing to forget.
      if (ready === undefined && (path === ":memory:" || !existsSync(beside(path)))) return
      if (!prepare()) return
      const drop = client.query("delete from search.lines where rowid = ?")
      for (const id of ids) drop.run(id)
    },
  }
}
