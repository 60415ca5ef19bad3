import { Hono } from "hono"
import { told } from "../../pass-over/domain/gate"
import { answerGate } from "../../pass-over/service/gate"
import { surfaceOf, type Env, type ServerDeps } from "../deps"
import { answers, reads } from "../describe"
import { HttpError, refused } from "../failure"
import * as Schema from "../schema-decide"

/** What waits for a person, and what was answered. */
export function inboxRoutes(deps: ServerDeps) {
  const { store } = deps.engine
  return new Hono<Env>()
    .get(
      "/inbox",
      answers(
        {
          id: "listInbox",
          tag: "inbox",
          summary: "List questions to people",
          description: "Those that wait for an answer, or by `status` those that were answered.",
        },
        Schema.GatePage,
      ),
      reads("query", Schema.GateListQuery),
      async (c) => {
        const { cursor, limit, status = ["pending" as const], ...query } = c.req.valid("query")
        const rows = await store.gates({ ...query, status, after: cursor, limit: limit + 1 })
        const items = rows.slice(0, limit).map((gate) => ({ gate, told: told(gate) }))
        return c.json({ items, next: rows.length > limit ? (items.at(-1)?.gate.gate_id ?? null) : null })
      },
    )
    .post(
      "/inbox/:id",
      answers(
        {
          id: "answerInbox",
          tag: "inbox",
          summary: "Answer a question",
          description: "The first answer counts, wherever it is given; whoever comes later is told who was first.",
        },
        Schema.GateItem,
      ),
      reads("param", Schema.GateParam),
      reads("json", Schema.GateAnswer),
      async (c) => {
        const { verdict, note } = c.req.valid("json")
        if (verdict === "question" && !note?.trim()) throw new HttpError("BAD_REQUEST", "note: a question has words.")
        const answer = { verdict, note: note || null, by: deps.user, surface: surfaceOf(c.get("who")) }
        const done = await answerGate(deps.engine, c.req.valid("param").id, answer)
        if (!done.ok) throw refused(done.refusal)
        return c.json({ gate: done.gate, told: told(done.gate) })
      },
    )
}
