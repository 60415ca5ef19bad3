import { hostname } from "node:os"
import { place, processStart } from "../identity"
import type { Engine } from "../pass-over/service/engine"

const BEAT_MS = 5_000

/** Says in the list of owners that this process is there, so that nobody takes an apply of its for one that was left. */
export async function enter({ store, owner_id, log, clock }: Engine): Promise<{ leave(): Promise<void> }> {
  const failed = (error: unknown) => log("warn", "the list of owners could not be written", { error: String(error) })
  const process_start = processStart() ?? String(Math.round(clock.now() - clock.mono()))
  await store
    .enter({ owner_id, pid: process.pid, process_start, host: hostname(), place: place() }, clock.now())
    .catch(failed)
  const beat = setInterval(() => void store.beat(owner_id, clock.now()).catch(failed), BEAT_MS)
  beat.unref()
  return {
    async leave() {
      clearInterval(beat)
      await store.leave(owner_id).catch(failed)
    },
  }
}
