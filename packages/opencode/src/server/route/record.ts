import { Hono } from "hono"
import type { z } from "zod"
import { answers, answersText, reads } from "../describe"
import type { Env, ServerDeps } from "../deps"
import * as Schema from "../schema"
import { ProjectQuery } from "../schema-preference"

type Export = z.infer<typeof Schema.AuditExportQuery>

const TYPES = { json: "application/json", jsonl: "application/x-ndjson", csv: "text/csv; charset=utf-8" } as const

/** All lines that fit, read from the database only as fast as they are taken. */
function exported({ audit }: ServerDeps, { format, ...query }: Export): ReadableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const encoder = new TextEncoder()
  audit
    .export(query, format, (text) => (text === "" ? undefined : writer.write(encoder.encode(text))))
    .then(() => writer.close())
    // Whoever asked has gone, or the database has: either way the file ends here, and not as if it were whole.
    .catch((error: unknown) => writer.abort(error).catch(() => {}))
  return readable
}

const auditRoutes = (deps: ServerDeps) =>
  new Hono<Env>()
    .get(
      "/audit",
      answers({ id: "listAudit", tag: "record", summary: "List audit lines, the newest first" }, Schema.AuditPage),
      reads("query", Schema.AuditListQuery),
      async (c) => {
        const { lines, cursor } = await deps.audit.query(c.req.valid("query"))
        return c.json({ items: lines, next: cursor })
      },
    )
    .get(
      "/audit/export",
      answersText(
        { id: "exportAudit", tag: "record", summary: "Export audit lines as JSON, newline-delimited JSON or CSV" },
        "application/x-ndjson",
        "One audit line a line, the newest first.",
      ),
      reads("query", Schema.AuditExportQuery),
      (c) => {
        const query = c.req.valid("query")
        return c.body(exported(deps, query), 200, {
          "content-type": TYPES[query.format],
          "content-disposition": `attachment; filename="pass-over-audit.${query.format}"`,
        })
      },
    )
    .get(
      "/audit/verify",
      answers(
        {
          id: "verifyAudit",
          tag: "record",
          summary: "Compare the audit log files of a project with the database",
          description: "Both are compared with their chains of hashes; the first fault is the first bad line.",
        },
        Schema.Verified,
      ),
      reads("query", ProjectQuery),
      async (c) => c.json(await deps.verify(c.req.valid("query").directory)),
    )

function sumRoutes(deps: ServerDeps) {
  const { store } = deps.engine
  return new Hono<Env>()
    .get(
      "/returns",
      answers(
        { id: "listReturns", tag: "record", summary: "List return contexts, the newest first" },
        Schema.ReturnPage,
      ),
      reads("query", Schema.ReturnListQuery),
      async (c) => {
        const { cursor, limit, ...query } = c.req.valid("query")
        const rows = await store.returns({ ...query, after: cursor, limit: limit + 1 })
        const items = rows.slice(0, limit)
        return c.json({ items, next: rows.length > limit ? (items.at(-1)?.pass_over_id ?? null) : null })
      },
    )
    .get(
      "/stats",
      answers(
        { id: "getStatistics", tag: "record", summary: "Sum up passes, tokens, cost and outcomes" },
        Schema.Statistics,
      ),
      reads("query", Schema.StatisticsQuery),
      async (c) => c.json(await store.statistics(c.req.valid("query"))),
    )
    .get(
      "/projects",
      answers({ id: "listProjects", tag: "record", summary: "List the projects that have passes" }, Schema.Projects),
      async (c) => c.json({ items: await store.directories() }),
    )
}

/** What was written down: return contexts, audit lines, sums. */
export const recordRoutes = (deps: ServerDeps) =>
  new Hono<Env>().route("/", auditRoutes(deps)).route("/", sumRoutes(deps))
