import type { Engine } from "../pass-over/service/engine"
import type { Keeper } from "../keeper"
import type { Client } from "../session/client"
import { takeLock } from "../server/lock"
import { STANDBY, standbyLock } from "./name"

const LOOK_MS = 500
// Long enough for the order to be seen, and for a result to be brought.
const QUIET_MS = 3_000

type Staying = { engine: Engine; keeper: Keeper; client: Client; directory: string }

async function busy({ engine, client, directory }: Staying): Promise<boolean> {
  if (engine.running.all().length > 0) return true
  if ((await engine.store.openStarts({ directory })).length > 0) return true
  const { data = {} } = await client.session.status({ directory })
  return Object.values(data).some(({ type }) => type !== "idle")
}

/** Ends an opencode that was started for a project's passes alone, when there are none any more. */
export function stay(staying: Staying) {
  const { engine, keeper, directory } = staying
  if (STANDBY !== directory) return
  const lock = takeLock(standbyLock(directory))
  // Another one was faster and does it all.
  if (!lock) process.exit(0)
  const state = { last: performance.now(), looking: false }
  const look = async () => {
    if (await busy(staying)) state.last = performance.now()
    if (performance.now() - state.last < QUIET_MS) return
    clearInterval(timer)
    await keeper.leave()
    lock.release()
    process.exit(0)
  }
  const timer = setInterval(() => {
    if (state.looking) return
    state.looking = true
    void look()
      .catch((error: unknown) => engine.log("warn", "looking for work failed", { error: String(error) }))
      .finally(() => (state.looking = false))
  }, LOOK_MS)
  timer.unref()
}
