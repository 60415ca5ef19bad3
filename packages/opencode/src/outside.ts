import { alive } from "./identity"
import { PassOverErrorCode } from "./pass-over/domain/errors"
import type { PassID } from "./pass-over/domain/id"
import type { Pass } from "./pass-over/domain/pass"
import type { StartOrder } from "./pass-over/domain/start"
import { order as command } from "./pass-over/service/command"
import type { Engine } from "./pass-over/service/engine"
import type { Outcome } from "./pass-over/service/port"
import type { LivePass } from "./pass-over/service/port-live"
import { orderStart, startSettled, withdrawStart, type Starting } from "./pass-over/service/start"
import { callFor } from "./standby/call"

const LOOK_MS = 100
// A process that died is only believed to be dead when it has not come back for a while.
const GONE_MS = 3_000
const CANCEL_MS = 5_000

export type Watched = {
  /** How far the pass is, whenever that has changed. */
  tell?(pass: Pass, live: LivePass | undefined): void
  /** Ends the pass, or the wait for it. */
  signal?: AbortSignal | undefined
  env?: Readonly<Record<string, string | undefined>>
}

/** What came of a wish from outside. Without a refusal and without an outcome nobody carries the pass any more. */
export type Ran = { order: StartOrder; pass?: Pass; outcome?: Outcome | undefined }

/** Orders a pass and sees to it that an opencode takes it up. */
export async function startOutside(engine: Engine, starting: Starting, watched: Watched = {}): Promise<StartOrder> {
  const order = await orderStart(engine, starting)
  const { signal, env } = watched
  const stop = () => void withdrawStart(engine, order.start_id, `taken back by ${starting.actor}`).catch(() => {})
  signal?.addEventListener("abort", stop, { once: true })
  try {
    return await callFor({ engine, order, ...(env ? { env } : {}) })
  } finally {
    signal?.removeEventListener("abort", stop)
  }
}

/** Whether who runs a pass is gone. What it left is picked up when opencode opens the project again. */
async function orphaned({ store }: Engine, id: PassID): Promise<boolean> {
  const pass = await store.find(id)
  const owner = pass && (await store.owner(pass.owner_id))
  return owner === undefined || alive(owner) === "dead"
}

/** Waits for the outcome of a pass that runs in another process. */
export async function outcomeOutside(
  engine: Engine,
  pass: Pass,
  { tell, signal }: Watched = {},
): Promise<Outcome | undefined> {
  const stop = () =>
    void command(engine, {
      pass_over_id: pass.id,
      kind: "cancel",
      text: "stopped where it was asked for",
      actor: engine.user_id ?? "user",
    }).catch(() => {})
  if (signal?.aborted) stop()
  signal?.addEventListener("abort", stop, { once: true })
  const state = { version: -1, lost: 0, stopped: 0 }
  try {
    for (;;) {
      const version = await engine.store.version()
      if (version !== state.version) {
        state.version = version
        const outcome = await engine.store.outcome(pass.id)
        if (outcome) return outcome
        tell?.(
          pass,
          (await engine.store.lives()).find((live) => live.pass_over_id === pass.id),
        )
      }
      await Bun.sleep(LOOK_MS)
      state.lost = (await orphaned(engine, pass.id)) ? state.lost + LOOK_MS : 0
      state.stopped += signal?.aborted ? LOOK_MS : 0
      if (state.lost > GONE_MS || state.stopped > CANCEL_MS) return undefined
    }
  } finally {
    signal?.removeEventListener("abort", stop)
  }
}

/** A pass from outside of opencode, from the wish to its outcome. */
export async function runOutside(engine: Engine, starting: Starting, watched: Watched = {}): Promise<Ran> {
  const order = await startOutside(engine, starting, watched)
  const known = order.state === "claimed" ? await startSettled(engine, order.start_id, GONE_MS) : order
  const pass = known.pass_over_id === null ? undefined : await engine.store.find(known.pass_over_id)
  if (!pass) return { order: known }
  return { order: known, pass, outcome: await outcomeOutside(engine, pass, watched) }
}

export const wasCancelled = ({ error_code }: Outcome) => error_code === PassOverErrorCode.CANCELLED
