import { resolveLimits } from "../domain/limit"
import { begin } from "./begin"
import type { Engine, Project } from "./engine"
import { groundOfPass } from "./flow-ground"

/**
 * Goes on with passes that wait for a person and whose process is gone: their question outlives it. Their tool call
 * does not, so that the result comes as a message.
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
    const place = { state: "queued", place: 0 } as const
    begin(engine, project, { ...kept, stands_on, pass, limits, asks: true, place })
  }
  return mine.length
}
