import { byAgent } from "./agent-shell"
import { openOutside } from "./cli/engine"
import { PassOverError, PassOverErrorCode, toError, type Refusal } from "./pass-over/domain/errors"
import type { Engine } from "./pass-over/service/engine"

/** A refusal as scripts hear of it. */
export const thrown = (refusal: Pick<Refusal, "code" | "message" | "suggestion">) => toError({ detail: {}, ...refusal })

/** The core over the user's database, for as long as one call of a script. */
export async function inStore<T>(work: (engine: Engine) => Promise<T>): Promise<T> {
  const opened = openOutside()
  if (!opened.ok) throw new PassOverError(PassOverErrorCode.RESOURCE_EXHAUSTED, opened.problem)
  try {
    return await work(opened.engine)
  } finally {
    opened.engine.store.close()
  }
}

/** A script that an agent has started is no person: what it may do, its tools let it do. */
export function forPerson(called: string) {
  if (!byAgent()) return
  throw new PassOverError(
    PassOverErrorCode.PERMISSION_DENIED,
    `${called} is for a person's scripts, and an agent started this one.`,
    { suggestedAction: "Tell the user what it would do; they can start it in a terminal of their own." },
  )
}
