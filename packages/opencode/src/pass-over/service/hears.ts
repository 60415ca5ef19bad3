import type { Pass } from "../domain/pass"
import type { Engine } from "./engine"

/** Whether the originator of a pass reads of it: not where it has asked for no result, or was not given this one. */
export async function hears({ store }: Pick<Engine, "store">, pass: Pass): Promise<boolean> {
  if (!pass.return_required || pass.status === "cancelled" || pass.status === "timed_out") return false
  const waiting = (await store.deliveries(pass.session_id)).find((one) => one.pass_over_id === pass.id)
  return waiting?.status !== "held"
}
