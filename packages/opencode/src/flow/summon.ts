import { alive } from "../identity"
import type { Refusal } from "../pass-over/domain/errors"
import { ENDED } from "../pass-over/handoff/state"
import type { Engine } from "../pass-over/service/engine"
import { dead } from "../pass-over/service/recover"
import { summon } from "../standby/call"

type Env = Readonly<Record<string, string | undefined>>

/**
 * Sees to it that an opencode carries a run: one that has its project open, or one that is started for it. The run is
 * there in any case, and goes on with the next opencode that opens its project; a refusal tells why that is not now.
 * With a command it is about that: what has ended can be done again.
 */
export async function summonFor(
  engine: Engine,
  { run_id, command_id }: { run_id: string; command_id?: string | undefined },
  env?: Env,
): Promise<Refusal | undefined> {
  const run = await engine.store.run(run_id)
  if (!run) return undefined
  const meant = async () => {
    if (command_id !== undefined) return (await engine.store.flowCommandState(command_id))?.status === "pending"
    return !ENDED.includes((await engine.store.run(run_id))?.status ?? "cancelled")
  }
  const found = {} as { refusal?: Refusal }
  const wanted = {
    directory: run.directory,
    async pending() {
      const now = await engine.store.run(run_id)
      return now !== undefined && (await meant()) && dead(engine, alive, now.owner_id)
    },
    refuse: async (refusal: Refusal) => void (found.refusal = refusal),
  }
  if (await wanted.pending()) await summon({ engine, wanted, ...(env ? { env } : {}) })
  return found.refusal
}
