import { alive } from "../identity"
import type { Refusal } from "../pass-over/domain/errors"
import { settled } from "../pass-over/service/command"
import type { Engine } from "../pass-over/service/engine"
import { summon } from "./call"

// An opencode that has the project open has the child at work by then, also where another one had to be waited for.
const TAKEN_UP_MS = 6_000

type Rework = { command_id: string; directory: string }

/**
 * Sees to it that what was sent back is done again: by an opencode that has the project open, or by one that is started
 * for it. It stays wanted in any case; a refusal tells why that is not now.
 */
export async function callForRework(
  engine: Engine,
  { command_id, directory }: Rework,
  env?: Readonly<Record<string, string | undefined>>,
): Promise<Refusal | undefined> {
  const found = {} as { refusal?: Refusal }
  const wanted = {
    directory,
    pending: async () => (await engine.store.commandState(command_id))?.status === "pending",
    refuse: async (refusal: Refusal) => void (found.refusal = refusal),
  }
  const owners = await engine.store.owners()
  const somebody = owners.some((one) => !("lost" in one) && one.owner_id !== engine.owner_id && alive(one) !== "dead")
  if (somebody) await settled(engine, command_id, TAKEN_UP_MS)
  await summon({ engine, wanted, ...(env ? { env } : {}) })
  return found.refusal
}
