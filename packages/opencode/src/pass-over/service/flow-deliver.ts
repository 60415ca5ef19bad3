import type { RunState } from "../handoff/state"
import { awake } from "./awake"
import type { Engine, Project } from "./engine"
import { tellRun } from "./flow-tell"
import type { FlowDelivery, FlowEnd, FlowRun } from "./port-flow"
import { dead, type Alive } from "./recover"
import { putOff } from "./undone"

/** A tool call that waits for the end of a run. */
export type Waiter = { session_id: string; call_id: string | null }

/** How the end of a run reaches its session: in the answer of the tool call that waits there, or as a message. */
export function endOf(run: FlowRun, waiters: Iterable<Waiter>, owner_id: FlowEnd["owner_id"]): FlowEnd {
  const { session_id, directory } = run
  const waiting = [...waiters].find((each) => each.session_id === session_id && each.call_id !== null)
  const call_id = waiting?.call_id ?? null
  return { session_id, directory, mode: call_id === null ? "message" : "tool", call_id, owner_id }
}

const messageText = async (engine: Engine, run: FlowRun, state: RunState) =>
  [`The flow ${run.flow} that was started here has ended: ${state.status}.`, await tellRun(engine, run, state)].join(
    "\n",
  )

type Bringing = { run: FlowRun; state: RunState; delivery: FlowDelivery; start: boolean }

/**
 * Brings the end of a run into the session that started it, as one message. Its id is written down before it is sent, so
 * that whoever comes after a crash can see whether it arrived.
 */
export async function bringEnd(engine: Engine, project: Project, bringing: Bringing): Promise<boolean> {
  const { run, state, delivery, start } = bringing
  const { session_id, message_id: earlier } = delivery
  const { host } = project
  const arrived = (message_id: string | null) =>
    engine.store.flowDelivered({ of: delivery, message_id, at: engine.clock.now() })
  if (earlier !== null && (await host.hasMessage(session_id, earlier))) return arrived(earlier)
  if (await putOff(engine, project, session_id, () => bringEnd(engine, project, { ...bringing, start: false })))
    return false
  const message_id = host.messageID(`${run.run_id}:${delivery.seq}`)
  if (!(await engine.store.takeFlowDelivery({ from: delivery, owner_id: engine.owner_id, message_id }))) return false
  const text = await messageText(engine, run, state)
  const metadata = { pass_over_flow: { run_id: run.run_id, flow: run.flow, status: state.status } }
  const sent = await host.deliver({ session_id, message_id, text, start, of: run.run_id, metadata })
  // Its session was deleted. The run stays readable; there is nobody left to bring it to.
  if (sent === "gone") return engine.store.redirectFlow({ of: delivery, mode: "none" })
  return arrived(message_id)
}

/** Brings the end of a run that nobody waits for, as soon as it is there. */
export async function bringEndNow(engine: Engine, project: Project, of: Omit<Bringing, "delivery">) {
  const { run, start } = of
  for (const delivery of await engine.store.flowDeliveries({ run_id: run.run_id })) {
    if (delivery.mode !== "message" || delivery.status !== "pending") continue
    const goesOn = start && (await awake(engine, delivery.session_id))
    await bringEnd(engine, project, { ...of, delivery, start: goesOn })
  }
}

/** The tool call that waited for a run has its answer stored. */
export async function endAnswered(engine: Engine, call: { session_id: string; call_id: string; message_id: string }) {
  for (const of of await engine.store.flowDeliveries({ session_id: call.session_id })) {
    if (of.mode !== "tool" || of.call_id !== call.call_id) continue
    await engine.store.flowDelivered({ of, message_id: call.message_id, at: engine.clock.now() })
  }
}

/** The tool call that waited for a run was given up when the run had just ended: it comes as a message after all. */
export async function endMissed(engine: Engine, project: Project, of: { run: FlowRun; state: RunState }) {
  for (const delivery of await engine.store.flowDeliveries({ run_id: of.run.run_id })) {
    if (delivery.mode === "tool") await engine.store.redirectFlow({ of: delivery, mode: "message" })
  }
  // Who stopped the originator does not want it to go on by itself.
  await bringEndNow(engine, project, { ...of, start: false })
}

/** The tool call may have its answer stored, though nobody was left to write that down. */
async function answeredBefore({ host }: Project, { session_id, call_id }: FlowDelivery): Promise<boolean> {
  if (call_id === null) return false
  const messages = await host.messages(session_id)
  const part = messages.flatMap(({ parts }) => parts).find((each) => each.call_id === call_id)
  return part?.tool_status === "completed"
}

type Told = (run_id: string) => Promise<{ run: FlowRun; state: RunState } | undefined>

/** Brings the ends of runs whose process ended before they had reached their sessions, without starting a model. */
export async function bringEnds(engine: Engine, project: Project, alive: Alive, stateOf: Told) {
  for (const left of await engine.store.flowDeliveries({ directory: project.directory })) {
    if (!(await dead(engine, alive, left.owner_id))) continue
    if (left.mode === "tool" && (await answeredBefore(project, left))) {
      await engine.store.flowDelivered({ of: left, message_id: null, at: engine.clock.now() })
      continue
    }
    const found = await stateOf(left.run_id).catch(() => undefined)
    if (!found) continue
    if (left.mode === "tool") await engine.store.redirectFlow({ of: left, mode: "message" })
    await bringEnd(engine, project, { ...found, delivery: { ...left, mode: "message" }, start: false })
  }
}
