import { Hono } from "hono"
import type { z } from "zod"
import { host } from "../../cli/no-host"
import { catalogOf } from "../../flow/catalog"
import { PassOverErrorCode, refuse } from "../../pass-over/domain/errors"
import { progressOf } from "../../pass-over/handoff/diagram"
import { brokenIn } from "../../pass-over/handoff/catalog"
import { planFlow, required } from "../../pass-over/handoff/plan"
import { sketch } from "../../pass-over/handoff/sketch"
import type { FlowInputEntry } from "../../pass-over/handoff/state"
import { createFlows } from "../../pass-over/service/flow"
import { NOBODY } from "../../pass-over/domain/id"
import { proposedBy } from "../../pass-over/service/flow-proposal"
import type { FlowFilter, FlowRun } from "../../pass-over/service/port-flow"
import { createFlowFiles } from "../../pass-over/store/flow-file"
import type { Env, ServerDeps } from "../deps"
import { answers, reads } from "../describe"
import { refused } from "../failure"
import { Ordered } from "../schema"
import * as Schema from "../schema-flow"
import { folder } from "../folder"

// Whoever carries a run looks several times a second.
const PATIENCE_MS = 1_500
const LOOK_MS = 50

/** Flows as this process has them: it asks for things, and an opencode of the project carries them out. */
const flowsAt = ({ engine }: ServerDeps, directory: string) =>
  createFlows(
    engine,
    { directory, host, written: async () => [], logged: () => {} },
    { elsewhere: true, files: createFlowFiles(directory), catalog: async () => catalogOf(directory) },
  )

function listed(directory: string): z.infer<typeof Schema.Flows> {
  const catalog = catalogOf(directory)
  const { flows, faults } = catalog
  const known = new Map([...flows].map(([name, { flow }]) => [name, flow]))
  const items = [...flows.values()].map(({ flow, path }) => {
    const planned = planFlow(flow, known, brokenIn(catalog))
    const needed = required(flow)
    return {
      name: flow.name,
      description: flow.description ?? null,
      path,
      inputs: Object.entries(flow.inputs ?? {}).map(([name, input]) => ({
        name,
        description: input.description ?? null,
        default: input.default ?? null,
        required: needed.includes(name),
      })),
      nodes: planned.ok ? sketch(planned.plan) : [],
    }
  })
  return { items, faults: faults.map(({ path, lines }) => ({ path, lines: [...lines] })) }
}

const short = (run: FlowRun): Schema.RunSummary => ({
  run_id: run.run_id,
  flow: run.flow,
  directory: run.directory,
  session_id: run.session_id,
  originator: run.originator,
  started_by: run.started_by,
  status: run.status,
  reason: run.reason,
  inputs: run.inputs,
  time_created: run.time_created,
  time_ended: run.time_ended,
  carried: run.owner_id !== NOBODY,
})

type ListQuery = z.infer<typeof Schema.RunListQuery>

async function page({ engine }: ServerDeps, { cursor, limit, ...query }: ListQuery, more: FlowFilter = {}) {
  const runs = await engine.store.runs({ ...query, ...more, after: cursor, limit: limit + 1 })
  const items = runs.slice(0, limit).map(short)
  return { items, next: runs.length > limit ? (items.at(-1)?.run_id ?? null) : null }
}

const unknown = (id: string) => refused(refuse(PassOverErrorCode.NOT_FOUND, `No run ${id} is known.`))

async function whole(deps: ServerDeps, id: string): Promise<Schema.Run> {
  const known = await deps.engine.store.run(id)
  const found = known && (await flowsAt(deps, known.directory).state(id))
  if (!found) throw unknown(id)
  const { run, state } = found
  const { step, steps, usage } = progressOf(run.plan, state)
  return {
    ...short(run),
    step,
    steps,
    usage,
    budget: run.plan.scopes[0]?.budget ?? {},
    nodes: sketch(run.plan, state),
    proposed: await proposedBy(deps.engine.store, run),
  }
}

/** Asks something of a run, whoever carries it, and waits a moment for how that one answers. */
async function ask(deps: ServerDeps, id: string, input: FlowInputEntry): Promise<z.infer<typeof Ordered>> {
  const { engine } = deps
  const run = await engine.store.run(id)
  if (!run) throw unknown(id)
  const told = await flowsAt(deps, run.directory).order(id, input, deps.user)
  if (!told.ok) throw refused(told.refusal)
  for (let waited = 0; told.command_id !== undefined && waited < PATIENCE_MS; waited += LOOK_MS) {
    const state = await engine.store.flowCommandState(told.command_id)
    if (state?.status === "refused")
      throw refused(refuse(PassOverErrorCode.STALE_REVISION, state.result ?? "It was refused."))
    if (state?.status === "done") return { state: "done", text: state.result ?? "Done." }
    await Bun.sleep(LOOK_MS)
  }
  if (told.command_id === undefined) return { state: "done", text: told.text }
  return { state: "handed_over", text: "It is carried out as soon as an opencode has this project open." }
}

const tag = "flows"

function runRoutes(deps: ServerDeps) {
  const order = (id: string, summary: string) => answers({ id, tag, summary }, Ordered)
  const param = reads("param", Schema.RunParam)
  const { user: actor } = deps
  return new Hono<Env>()
    .get(
      "/runs/:id",
      answers({ id: "getRun", tag, summary: "Read where a run stands" }, Schema.Run),
      param,
      async (c) => c.json(await whole(deps, c.req.valid("param").id)),
    )
    .post(
      "/runs/:id/pause",
      order("pauseRun", "Begin no further step of a run"),
      param,
      reads("json", Schema.Nothing),
      async (c) => c.json(await ask(deps, c.req.valid("param").id, { type: "pause", actor })),
    )
    .post(
      "/runs/:id/resume",
      order("resumeRun", "Go on with a paused run"),
      param,
      reads("json", Schema.Nothing),
      async (c) => c.json(await ask(deps, c.req.valid("param").id, { type: "resume", actor })),
    )
    .post(
      "/runs/:id/cancel",
      order("cancelRun", "End a run; what its steps left is kept"),
      param,
      reads("json", Schema.CancelRun),
      async (c) => c.json(await ask(deps, c.req.valid("param").id, { type: "cancel", actor, ...c.req.valid("json") })),
    )
    .post(
      "/runs/:id/retry",
      order("retryRun", "Do a run again from a step on"),
      param,
      reads("json", Schema.RetryRun),
      async (c) => c.json(await ask(deps, c.req.valid("param").id, { type: "retry", actor, ...c.req.valid("json") })),
    )
    .post(
      "/runs/:id/skip",
      order("skipStep", "Leave a step out, with a reason"),
      param,
      reads("json", Schema.SkipRun),
      async (c) => c.json(await ask(deps, c.req.valid("param").id, { type: "skip", actor, ...c.req.valid("json") })),
    )
}

/** Flows of a project, and their runs. */
export function flowRoutes(deps: ServerDeps) {
  return new Hono<Env>()
    .get(
      "/flows",
      answers({ id: "listFlows", tag, summary: "List the flows of a project" }, Schema.Flows),
      reads("query", Schema.FlowListQuery),
      (c) => c.json(listed(folder(c.req.valid("query").directory))),
    )
    .post(
      "/flows",
      answers(
        {
          id: "startFlow",
          tag,
          summary: "Start a flow",
          description: "An opencode that has the project open carries it; where there is none, one is started for it.",
        },
        Schema.RunSummary,
      ),
      reads("json", Schema.StartFlow),
      async (c) => {
        const { directory, name, inputs } = c.req.valid("json")
        const wanted = { name, inputs, session_id: null, originator: "alice", by: "person" as const, model: null }
        const started = await flowsAt(deps, folder(directory)).start(wanted)
        if (!started.ok) throw refused(started.refusal)
        const { run_id } = started.run
        void deps
          .carry(run_id)
          .catch((error: unknown) =>
            deps.engine.log("warn", "an opencode could not be started", { run_id, error: String(error) }),
          )
        return c.json(short(started.run))
      },
    )
    .get(
      "/flows/:name/runs",
      answers({ id: "listRunsOfFlow", tag, summary: "List the runs of a flow, the newest first" }, Schema.RunPage),
      reads("param", Schema.FlowParam),
      reads("query", Schema.RunListQuery),
      async (c) => c.json(await page(deps, c.req.valid("query"), { flow: c.req.valid("param").name })),
    )
    .get(
      "/runs",
      answers({ id: "listRuns", tag, summary: "List runs of all flows, the newest first" }, Schema.RunPage),
      reads("query", Schema.RunListQuery),
      async (c) => c.json(await page(deps, c.req.valid("query"))),
    )
    .route("/", runRoutes(deps))
}
