import { Hono } from "hono"
import type { z } from "zod"
import { PassOverErrorCode, refuse } from "../../pass-over/domain/errors"
import type { PassID } from "../../pass-over/domain/id"
import { valuesOf } from "../../pass-over/domain/policy"
import { order, type Order } from "../../pass-over/service/command"
import type { LivePass } from "../../pass-over/service/port-live"
import type { PassRow } from "../../pass-over/service/port-query"
import { answers, reads } from "../describe"
import type { Env, ServerDeps } from "../deps"
import { refused } from "../failure"
import * as Schema from "../schema"
import { standings, type Standing } from "../standing"

const SHOWN = 400
const MOST_EVENTS = 1_000
const MOST_IN_CHAIN = 200
// A running pass is heard within a poll of its owner; who asked may as well know how it went.
const PATIENCE_MS = 1_500

const NOWHERE: Standing = { queue: null, tree: null }

export function summary(
  { pass, result }: PassRow,
  live: LivePass | undefined,
  standing: Standing = NOWHERE,
): Schema.PassSummary {
  const { objective, ...rest } = pass
  const { max_tokens, max_cost } = valuesOf(pass)
  return {
    id: rest.id,
    session_id: rest.session_id,
    root_session_id: rest.root_session_id,
    directory: rest.directory,
    originating_agent_id: rest.originating_agent_id,
    subagent_id: rest.subagent_id,
    reason: rest.reason,
    parent_pass_id: rest.parent_pass_id,
    trace_id: rest.trace_id,
    chain_depth: rest.chain_depth,
    max_chain_depth: rest.max_chain_depth,
    ancestors: rest.ancestors,
    policy: rest.policy,
    status: rest.status,
    child_session_id: rest.child_session_id,
    timeout_ms: rest.timeout_ms,
    wait: rest.wait,
    time_created: rest.time_created,
    time_started: rest.time_started,
    time_ended: rest.time_ended,
    priority: rest.priority,
    objective: objective.length > SHOWN ? `${objective.slice(0, SHOWN - 1)}…` : objective,
    max_tokens,
    max_cost,
    result,
    live: live ?? null,
    ...standing,
  }
}

async function summaries(deps: ServerDeps, rows: PassRow[]) {
  const lives = new Map((await deps.engine.store.lives()).map((live) => [live.pass_over_id, live]))
  const places = await standings(deps, rows)
  return rows.map((row) => summary(row, lives.get(row.pass.id), places.get(row.pass.id)))
}

async function page(deps: ServerDeps, { cursor, ...query }: z.infer<typeof Schema.PassListQuery>) {
  const rows = await deps.engine.store.passes({ ...query, after: cursor, limit: query.limit + 1 })
  const items = await summaries(deps, rows.slice(0, query.limit))
  return { items, next: rows.length > query.limit ? (items.at(-1)?.id ?? null) : null }
}

export const unknown = (id: string) => refused(refuse(PassOverErrorCode.NOT_FOUND, `No pass ${id} is known.`))

async function detail(deps: ServerDeps, id: PassID): Promise<z.infer<typeof Schema.PassDetail>> {
  const { store } = deps.engine
  const pass = await store.find(id)
  if (!pass) throw unknown(id)
  const [kept, outcome, attempts, happened, lines, chain, lives] = await Promise.all([
    store.request(id),
    store.outcome(id),
    store.attempts(id),
    store.eventsOf(id, MOST_EVENTS),
    deps.audit.query({ pass_over_id: id, limit: 500 }),
    store.passes({ trace_id: pass.trace_id, limit: MOST_IN_CHAIN }),
    store.lives(),
  ])
  return {
    pass,
    live: lives.find((live) => live.pass_over_id === id) ?? null,
    manifest: kept?.manifest ?? null,
    output: outcome?.output ?? null,
    usage: outcome?.usage ?? null,
    error_code: outcome?.error_code ?? null,
    attempts,
    events: happened.events,
    events_left: happened.left,
    audit: lines.lines.toReversed(),
    chain: (await summaries(deps, chain)).toReversed(),
  }
}

/** Asks something of a running pass, wherever it runs, and waits a moment for how its owner answers. */
async function ask(deps: ServerDeps, wanted: Order): Promise<z.infer<typeof Schema.Ordered>> {
  const done = await order(deps.engine, { ...wanted, patience_ms: PATIENCE_MS })
  if (!done.ok) throw refused(done.refusal)
  // Its number is only told while nobody has answered it.
  return { state: done.command_id === undefined ? "done" : "handed_over", text: done.text }
}

/** Passes: what was asked of whom, where it stands, and what came of it. */
export function passRoutes(deps: ServerDeps) {
  const { store } = deps.engine
  return new Hono<Env>()
    .get(
      "/",
      answers({ id: "listPasses", tag: "passes", summary: "List passes, the newest first" }, Schema.PassPage),
      reads("query", Schema.PassListQuery),
      async (c) => c.json(await page(deps, c.req.valid("query"))),
    )
    .get(
      "/:id",
      answers({ id: "getPass", tag: "passes", summary: "Read all that is known of a pass" }, Schema.PassDetail),
      reads("param", Schema.PassParam),
      async (c) => c.json(await detail(deps, c.req.valid("param").id)),
    )
    .get(
      "/:id/context",
      answers({ id: "getPassContext", tag: "passes", summary: "Read what went along with a pass" }, Schema.PassContext),
      reads("param", Schema.PassParam),
      async (c) => {
        const { id } = c.req.valid("param")
        const kept = await store.request(id)
        if (!kept) throw unknown(id)
        return c.json({ work_context: kept.request.work_context })
      },
    )
    .post(
      "/:id/cancel",
      answers({ id: "cancelPass", tag: "passes", summary: "Cancel a running pass" }, Schema.Ordered),
      reads("param", Schema.PassParam),
      reads("json", Schema.Cancel),
      async (c) => {
        const { id } = c.req.valid("param")
        const { reason } = c.req.valid("json")
        return c.json(await ask(deps, { pass_over_id: id, kind: "cancel", text: reason, actor: deps.user }))
      },
    )
    .post(
      "/:id/message",
      answers(
        { id: "speakToPass", tag: "passes", summary: "Say something to the child of a running pass" },
        Schema.Ordered,
      ),
      reads("param", Schema.PassParam),
      reads("json", Schema.Say),
      async (c) => {
        const { id } = c.req.valid("param")
        const { text } = c.req.valid("json")
        return c.json(await ask(deps, { pass_over_id: id, kind: "message", text, actor: deps.user }))
      },
    )
}
