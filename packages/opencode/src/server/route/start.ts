import { Hono } from "hono"
import { PassOverErrorCode, refuse } from "../../pass-over/domain/errors"
import type { StartOrder } from "../../pass-over/domain/start"
import { orderStart, startSettled } from "../../pass-over/service/start"
import { answers, reads } from "../describe"
import type { Env, ServerDeps } from "../deps"
import { refused } from "../failure"
import { folder } from "../folder"
import * as Schema from "../schema-start"

// Where an opencode has the project open it has answered by then; where one is started, asking again tells.
const PATIENCE_MS = 1_500

const shown = ({ ask, owner_id: _owner, ...order }: StartOrder): Schema.Started => ({
  ...order,
  objective: ask.objective,
  subagent: ask.subagent,
  from: ask.from,
})

/** Passes that are started from outside of opencode. */
export function startRoutes(deps: ServerDeps) {
  const { engine } = deps
  return new Hono<Env>()
    .post(
      "/",
      answers(
        {
          id: "startPass",
          tag: "passes",
          summary: "Start a pass",
          description:
            "An opencode that has the project open starts it; where there is none, one is started for it. The answer comes at once, with the id of the pass where it runs already; `GET /starts/{id}` tells it later.",
          accepted: true,
        },
        Schema.Started,
      ),
      reads("json", Schema.StartPass),
      async (c) => {
        const { directory, session_id, ...ask } = c.req.valid("json")
        const order = await orderStart(engine, { directory: folder(directory), session_id, ask, actor: deps.user })
        void deps
          .summon(order)
          .catch((error: unknown) =>
            engine.log("warn", "an opencode could not be started", { start_id: order.start_id, error: String(error) }),
          )
        const known = await startSettled(engine, order.start_id, PATIENCE_MS)
        if (known.refusal) throw refused(refuse(codeOf(known.refusal.code), known.refusal.message, known.refusal))
        return c.json(shown(known), 202)
      },
    )
    .get(
      "/starts/:id",
      answers({ id: "getStart", tag: "passes", summary: "Read what became of a pass to be started" }, Schema.Started),
      reads("param", Schema.StartParam),
      async (c) => {
        const { id } = c.req.valid("param")
        const order = await engine.store.start(id)
        if (!order) throw refused(refuse(PassOverErrorCode.NOT_FOUND, `No order ${id} is known.`))
        return c.json(shown(order), 200)
      },
    )
}

const CODES = new Set<string>(Object.values(PassOverErrorCode))

const isCode = (code: string): code is PassOverErrorCode => CODES.has(code)
const codeOf = (code: string): PassOverErrorCode => (isCode(code) ? code : PassOverErrorCode.SUBAGENT_CRASHED)
