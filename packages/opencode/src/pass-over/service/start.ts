import { PassOverErrorCode, refuse, type Refusal } from "../domain/errors"
import type { PassID } from "../domain/id"
import { settledStart, type StartAsk, type StartOrder } from "../domain/start"
import { send } from "./api-send"
import type { Engine, Project } from "./engine"
import type { Ask, Caller } from "./grant"
import type { Alive } from "./recover"

/** Longer ago than this, whoever asked has given up, and so does the order. */
export const START_TTL_MS = 10 * 60_000

const LOOK_MS = 50
const TITLE = 60

export type Starting = { directory: string; session_id?: string | null | undefined; ask: StartAsk; actor: string }

const kept = ({ code, message, suggestion }: Refusal) => ({ code, message, suggestion })

/** Writes down that a pass is wanted in a project. It is started by an opencode that has it open, now or soon. */
export async function orderStart(engine: Engine, { directory, session_id, ask, actor }: Starting): Promise<StartOrder> {
  const at = engine.clock.now()
  const order: StartOrder = {
    start_id: engine.ids.make("sta"),
    directory,
    session_id: session_id ?? null,
    named: typeof session_id === "string",
    ask,
    actor,
    state: "pending",
    owner_id: null,
    pass_over_id: null,
    refusal: null,
    time_created: at,
    time_expires: at + START_TTL_MS,
  }
  await engine.store.askStart(order)
  return order
}

/** Takes an order back that nobody has in hand yet. */
export const withdrawStart = (engine: Engine, start_id: string, why: string): Promise<boolean> =>
  engine.store.endStart({
    start_id,
    owner_id: null,
    refusal: kept(refuse(PassOverErrorCode.CANCELLED, why)),
  })

/** Says why an order cannot be carried out, where nobody has it in hand. */
export const refuseStart = (engine: Engine, start_id: string, refusal: Refusal): Promise<boolean> =>
  engine.store.endStart({ start_id, owner_id: null, refusal: kept(refusal) })

/** The order once it was dealt with, or as it stands when the patience is over. */
export async function startSettled(engine: Engine, start_id: string, patience_ms: number): Promise<StartOrder> {
  const until = engine.clock.mono() + patience_ms
  for (;;) {
    const order = await engine.store.start(start_id)
    if (!order) throw new Error(`the order ${start_id} is gone`)
    if (settledStart(order) || engine.clock.mono() >= until) return order
    await new Promise<void>((resolve) => void engine.clock.after(LOOK_MS, resolve))
  }
}

const titleOf = ({ ask }: StartOrder) => {
  const title = `${ask.subagent}: ${ask.objective.replaceAll(/\s+/g, " ")}`
  return title.length > TITLE ? `${title.slice(0, TITLE - 1)}…` : title
}

// With it the pass of an order is found again after a crash, and a second one is not begun.
const callID = ({ start_id }: StartOrder) => `start:${start_id}`

const callerOf = (order: StartOrder, session_id: string): Caller => ({
  agent: order.ask.from,
  session_id,
  message_id: null,
  call_id: callID(order),
  by: "person",
  model: null,
})

/** Nobody sits in a session that was made for a pass, so nothing is brought there; a named one gets its result. */
function askOf({ ask, named }: StartOrder): Ask {
  const { from: _from, return_required, ...rest } = ask
  return { ...rest, wait: false, return_required: named && (return_required ?? true) }
}

async function placed(engine: Engine, project: Project, order: StartOrder): Promise<string | undefined> {
  if (order.session_id !== null) return order.session_id
  const session_id = await project.host.session(titleOf(order))
  const mine = await engine.store.placeStart({ start_id: order.start_id, owner_id: engine.owner_id, session_id })
  return mine ? session_id : undefined
}

const known = (project: Project, session_id: string): Promise<boolean> =>
  project.host.root(session_id).then(
    () => true,
    () => false,
  )

type Came = { pass_over_id: PassID } | { refusal: ReturnType<typeof kept> }

const LATE: Came = {
  refusal: kept(
    refuse(PassOverErrorCode.RETURN_TIMEOUT, "No opencode took this up in time.", { suggestion: "Ask for it again." }),
  ),
}

async function begun(engine: Engine, project: Project, order: StartOrder): Promise<Came | undefined> {
  const expired = engine.clock.now() > order.time_expires
  if (expired && order.session_id === null) return LATE
  const session_id = await placed(engine, project, order)
  if (session_id === undefined) return
  const made = await engine.store.byCall(session_id, callID(order))
  if (made) return { pass_over_id: made.id }
  if (expired) return LATE
  const there = !order.named || (await known(project, session_id))
  if (!there) {
    const message = `opencode knows no session ${session_id} in ${project.directory}.`
    return { refusal: kept(refuse(PassOverErrorCode.NOT_FOUND, message, { suggestion: "Check the session's id." })) }
  }
  const sent = await send(engine, project, callerOf(order, session_id), askOf(order))
  return sent.ok ? { pass_over_id: sent.runner.pass.id } : { refusal: kept(sent.refusal) }
}

/** Carries an order out that this process has in hand. Whatever happens, the order says what came of it. */
async function carry(engine: Engine, project: Project, order: StartOrder) {
  const came = await begun(engine, project, order).catch((error: unknown): Came => {
    engine.log("warn", "a pass could not be started", { start_id: order.start_id, error: String(error) })
    return { refusal: kept(refuse(PassOverErrorCode.SUBAGENT_CRASHED, String(error))) }
  })
  if (came) await engine.store.endStart({ start_id: order.start_id, owner_id: engine.owner_id, ...came })
}

/** Whether an order is free to be taken: nobody has it, or who had it is gone. */
async function free(engine: Engine, order: StartOrder, alive: Alive): Promise<boolean> {
  if (order.owner_id === null) return true
  if (order.owner_id === engine.owner_id) return false
  const owner = await engine.store.owner(order.owner_id)
  return owner === undefined || alive(owner) === "dead"
}

async function look(engine: Engine, project: Project, alive: Alive) {
  for (const order of await engine.store.openStarts({ directory: project.directory })) {
    if (!(await free(engine, order, alive))) continue
    const { start_id, owner_id: from } = order
    if (!(await engine.store.claimStart({ start_id, from, owner_id: engine.owner_id }))) continue
    await carry(engine, project, { ...order, owner_id: engine.owner_id })
  }
}

/** Starts what is wanted in the projects that this process has open. */
export async function attendStarts(engine: Engine, alive: Alive) {
  for (const project of engine.projects.values()) await look(engine, project, alive)
}
