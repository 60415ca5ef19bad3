import { PassOverErrorCode } from "../domain/errors"
import { resolveLimits } from "../domain/limit"
import { begin } from "./begin"
import type { Engine, Project } from "./engine"
import { dropped, groundOfPass } from "./flow-ground"

const WITHOUT_IT = { code: PassOverErrorCode.CANCELLED, message: "its flow goes on without it" }

/**
 * Goes on with passes that wait for a person and whose process is gone: their question outlives it. Their tool call
 * does not, so that the result comes as a message. What a flow goes on without is called off with its question.
 */
export async function adopt(engine: Engine, project: Project): Promise<number> {
  const waiting = await engine.store.list({ directory: project.directory, status: ["initial"] })
  const mine = waiting.filter((pass) => pass.owner_id === engine.owner_id && !engine.running.get(pass.id))
  if (mine.length === 0) return 0
  const limits = resolveLimits((await project.written()).map(({ preferences }) => preferences.limits))
  for (const pass of mine) {
    const kept = await engine.store.request(pass.id)
    if (!kept) continue
    const stands_on = await groundOfPass(engine.store, pass)
    const off = await dropped(engine.store, pass)
    const place = { state: "queued", place: 0 } as const
    const runner = begin(engine, project, { ...kept, stands_on, pass, limits, asks: true, place })
    if (off) runner.input({ type: "cancel", failure: WITHOUT_IT })
  }
  return mine.length
}
