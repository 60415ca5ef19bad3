import { money } from "../domain/envelope"
import { readable } from "../domain/time"
import { newTokens, remaining } from "../domain/run"
import type { Clock, Store } from "./port"
import type { Host, Progress } from "./port-host"
import type { LivePass } from "./port-live"
import type { Running } from "./engine"
import { FOR_YOU, TO_START } from "./live"
import type { Pace } from "./pace"
import type { Runner } from "./runner"

const EVERY_MS = 1_000
const FIRST_MS = 300
// What a busy host is asked to show waits for as long as that.
const CALM_MS = 5_000

// Made once: finding out how a language writes its numbers takes longer than all the rest of a view.
const COUNT = new Intl.NumberFormat("en")

const DOING = {
  starting: "starting",
  working: "working",
  staged: "returning",
  asking: "asked for its return",
  backing_off: "waiting to try again",
  stopping: "stopping",
  ended: "done",
} as const

/** What the originator's tool call shows of a pass that runs. */
export function view(runner: Runner, elapsed_ms: number): Progress {
  const { pass, run } = runner
  const tokens = newTokens(run.usage)
  const doing = runner.waiting ?? (run.waits > 0 ? FOR_YOU : DOING[run.phase])
  return {
    title: [
      `${pass.subagent_id} ${doing}`,
      `step ${run.steps + 1}`,
      ...(tokens > 0 ? [`${COUNT.format(tokens)} tokens`] : []),
      ...(run.usage.cost > 0 ? [money(run.usage.cost)] : []),
      readable(elapsed_ms),
    ].join(" · "),
    lines: {
      pass_over_id: pass.id,
      sessionId: pass.child_session_id,
      chain: [...pass.ancestors, pass.subagent_id].join(" → "),
      phase: run.phase,
      step: run.steps + 1,
      attempt: run.attempt,
      tokens,
      cost: run.usage.cost,
      elapsed_ms: Math.round(elapsed_ms),
      waiting_for: runner.waiting ?? (run.waits > 0 ? "a person" : null),
    },
    pass,
  }
}

/** The same for the panel, which looks on from another process. */
export function liveView({ pass, run, waiting }: Runner, clock: Clock): LivePass {
  const [now, mono] = [clock.now(), clock.mono()]
  const halted = run.waits > 0 || run.phase === "ended"
  return {
    pass_over_id: pass.id,
    phase: run.phase,
    step: run.steps + 1,
    attempt: run.attempt,
    tokens: newTokens(run.usage),
    cost: run.usage.cost,
    // A place in line and a copy of the project are nothing that a person is waited for.
    waits: waiting === undefined || waiting === FOR_YOU ? run.waits : 0,
    deadline_at: halted ? null : Math.round(now + remaining(run, mono)),
    idle_at: halted ? null : Math.round(now + run.active + run.idle_ms - mono),
    time_updated: now,
  }
}

export type Watching = { host: Host; clock: Clock; store: Store; running: Pick<Running, "all">; pace: Pace }

/** Shows changes of a pass at most once a second: the first at once, the last in any case unless it has ended. */
export function createProgress({ host, clock, store, running, pace }: Watching) {
  const began = clock.mono()
  let last: number | undefined
  let unarm = () => {}
  let armed = false

  const show = (runner: Runner) => {
    armed = false
    if (runner.run.phase === "ended") return
    last = clock.mono()
    // A view that cannot be shown harms nobody; the pass goes on.
    const from = clock.mono()
    host
      .progress(runner.pass, view(runner, from - began))
      .then(() => pace.took(clock.mono() - from))
      .catch(() => {})
  }

  /** The panel looks on by itself; the host is shown it when it has time for that. */
  const due = (runner: Runner) => {
    store.live(liveView(runner, clock)).catch(() => {})
    const calm = host.calm?.(CALM_MS)
    if (!calm) return show(runner)
    void calm.then(() => show(runner))
  }

  return {
    changed(runner: Runner) {
      if (runner.run.phase === "ended") {
        unarm()
        return
      }
      const { pass, waiting } = runner
      if (armed || (pass.child_session_id === null && (waiting === undefined || waiting === TO_START))) return
      armed = true
      // The first view waits a little too: a pass that is over in no time need not be shown on its way. And where many
      // run, each is shown less often: a view costs the host more than it costs us.
      const least = pace.between(running.all().length)
      const next = last === undefined ? began + Math.max(FIRST_MS, least) : last + Math.max(EVERY_MS, least)
      unarm = clock.after(Math.max(0, next - clock.mono()), () => due(runner))
    },
  }
}
