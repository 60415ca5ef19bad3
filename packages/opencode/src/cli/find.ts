import type { Pass } from "../pass-over/domain/pass"
import { PassID } from "../pass-over/domain/id"
import type { Store } from "../pass-over/service/port"
import { Stop } from "./command"
import { EXIT } from "./exit"

/** Ids begin with the time they were made and end with chance, so their end tells more of them apart. */
export const SHORT = 8
export const short = (id: string) => id.slice(-SHORT)

const MOST = 10

/** The pass that a whole id, its beginning or its end names; more than one is a question, none an error. */
export async function findPass(store: Pick<Store, "find" | "lookup">, given: string): Promise<Pass> {
  const whole = PassID.safeParse(given)
  const exact = whole.success ? await store.find(whole.data) : undefined
  if (exact) return exact
  const found = await store.lookup(given, MOST)
  const [only, ...others] = found
  if (only && others.length === 0) return only
  if (!only) {
    throw new Stop(EXIT.not_found, `No pass is known as ${given}.`, "pass-over list shows them.", "E042")
  }
  throw new Stop(
    EXIT.usage,
    `${given} is the beginning or end of several passes: ${found.map((pass) => pass.id).join(", ")}.`,
    "Give more of the id.",
    "USAGE",
  )
}
