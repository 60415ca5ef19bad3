import { PassOverErrorCode } from "../domain/errors"
import { resolveLimits, type Limits } from "../domain/limit"
import { NOBODY } from "../domain/id"
import type { Pass } from "../domain/pass"
import { begin } from "./begin"
import { attend } from "./command"
import type { Engine, Project } from "./engine"
import { dropped, groundOfPass } from "./flow-ground"

const WITHOUT_IT = { code: PassOverErrorCode.CANCELLED, message: "its flow goes on without it" }

const idle = ({ owner_id, running }: Engine, pass: Pass) => pass.owner_id === owner_id && !running.get(pass.id)

/** The pass as one that no tool call waits for: the call of its first host went with that one. */
async function alone({ store, owner_id }: Engine, pass: Pass): Promise<Pass | undefined> {
  if (!pass.wait) return pass
  const [claimed] = await store.claim({ from: owner_id, owner_id, limit: 1, only: [pass.id] })
  return claimed?.pass
}

async function take(engine: Engine, project: Project, pass: Pass, limits: Limits): Promise<boolean> {
  const kept = await engine.store.request(pass.id)
  // Without its question it is one that is about to begin here, or that has ended just now.
  const [asked] = await engine.store.gates({ pass_over_id: pass.id, kind: "confirmation" })
  if (!kept || !asked || !idle(engine, pass)) return false
  const stands_on = await groundOfPass(engine.store, pass)
  const off = await dropped(engine.store, pass)
  const mine = await alone(engine, pass)
  if (!mine) return false
  const place = { state: "queued", place: 0 } as const
  const runner = begin(engine, project, { ...kept, stands_on, pass: mine, limits, asks: true, place })
  if (off) runner.input({ type: "cancel", failure: WITHOUT_IT })
  return true
}

/** Takes those that a host has let go of when it went. */
async function claimLeft({ store, owner_id }: Engine, waiting: readonly Pass[]): Promise<Pass[]> {
  const only = waiting.filter((pass) => pass.owner_id === NOBODY).map(({ id }) => id)
  if (only.length === 0) return []
  const claimed = await store.claim({ from: NOBODY, owner_id, limit: only.length, only })
  return claimed.map(({ pass }) => pass)
}

async function takeAll(engine: Engine, project: Project): Promise<number> {
  const listed = await engine.store.list({ directory: project.directory, status: ["initial"] })
  const waiting = [...(await claimLeft(engine, listed)), ...listed]
  const mine = waiting.filter((pass) => idle(engine, pass))
  if (mine.length === 0) return 0
  const limits = resolveLimits((await project.written()).map(({ preferences }) => preferences.limits))
  let taken = 0
  for (const pass of mine) if (await take(engine, project, pass, limits)) taken += 1
  // What was asked of them meanwhile was asked of nobody.
  if (taken > 0) await attend(engine)
  return taken
}

const taking = new WeakMap<Engine, Promise<unknown>>()

/**
 * Goes on with passes that wait for a person and whose host is gone: their question outlives it. Their tool call does
 * not, so that the result comes as a message. What a flow goes on without is called off with its question. One after the
 * other: what is taken up here is looked for at a project's start, and from time to time while it is open.
 */
export function adopt(engine: Engine, project: Project): Promise<number> {
  const taken = (taking.get(engine) ?? Promise.resolve()).then(() => takeAll(engine, project))
  taking.set(
    engine,
    taken.catch(() => {}),
  )
  return taken
}
