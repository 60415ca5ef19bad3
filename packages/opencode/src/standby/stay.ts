import { NOBODY } from "../pass-over/domain/id"
import type { Engine } from "../pass-over/service/engine"
import type { Keeper } from "../keeper"
import type { Client } from "../session/client"
import { takeLock } from "../server/lock"
import { STANDBY, standbyLock } from "./name"

const LOOK_MS = 500
// Long enough for the order to be seen, and for a result to be brought.
const QUIET_MS = 3_000
const TRIES = 20
const TRY_MS = 50

type Lock = NonNullable<ReturnType<typeof takeLock>>

type Staying = { engine: Engine; keeper: Keeper; client: Client; directory: string; quit(): void }

async function busy({ engine, client, directory }: Staying): Promise<boolean> {
  if (engine.running.all().length > 0) return true
  if ((await engine.store.openStarts({ directory })).length > 0) return true
  if ((await engine.store.tells(directory)).length > 0) return true
  // A run that waits for a person may wait for days; who answers it finds an opencode, or one is started.
  const runs = await engine.store.runs({ directory, status: ["running"], limit: 50 })
  if (runs.some(({ owner_id }) => owner_id === engine.owner_id || owner_id === NOBODY)) return true
  const { data = {} } = await client.session.status({ directory })
  return Object.values(data).some(({ type }) => type !== "idle")
}

/** Ends an opencode that was started for a project's passes alone, when there are none any more. */
export function stay(staying: Staying) {
  if (STANDBY !== staying.directory) return
  void place(staying.directory).then((lock) => {
    // Another one was faster and does it all.
    if (!lock) return staying.quit()
    watch(staying, lock)
  })
}

/** Whoever looks whether the place is taken has it in hand for a moment. */
async function place(directory: string): Promise<Lock | undefined> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const lock = takeLock(standbyLock(directory))
    if (lock) return lock
    await Bun.sleep(TRY_MS)
  }
  return undefined
}

function watch(staying: Staying, lock: Lock) {
  const { engine, keeper, quit } = staying
  const state = { last: performance.now(), looking: false }
  const look = async () => {
    if (await busy(staying)) state.last = performance.now()
    if (performance.now() - state.last < QUIET_MS) return
    clearInterval(timer)
    await keeper.leave()
    lock.release()
    quit()
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
