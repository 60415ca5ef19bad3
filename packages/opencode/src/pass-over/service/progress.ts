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

type Shown = {
  /** The least time between two views. */
  least(): number
  /** Waited for when a view is due; the view is of the moment after that. */
  calm?(): Promise<void> | undefined
  show(runner: Runner): void
}

/** Shows what changes at most once a second: the first after a moment, the last in any case unless the pass has ended. */
function createShown(clock: Clock, { least, calm, show }: Shown) {
  const began = clock.mono()
  let last: number | undefined
  let unarm = () => {}
  let armed = false

  // What changes from now on is in the next view.
  const now = (runner: Runner) => {
    armed = false
    last = clock.mono()
    if (runner.run.phase !== "ended") show(runner)
  }

  const due = (runner: Runner) => {
    const waiting = calm?.()
    if (!waiting) return now(runner)
    void waiting.then(() => now(runner))
  }

  return {
    over: () => unarm(),
    changed(runner: Runner) {
      if (armed) return
      armed = true
      // The first view waits a little too: a pass that is over in no time need not be shown on its way.
      const next = last === undefined ? began + Math.max(FIRST_MS, least()) : last + Math.max(EVERY_MS, least())
      unarm = clock.after(Math.max(0, next - clock.mono()), () => due(runner))
    },
  }
}

/** Shows a pass that changes: to the panel, which looks on by itself, and to the host when that has time for it. */
export function createProgress({ host, clock, store, running, pace }: Watching) {
  const began = clock.mono()
  // Where many run, each is shown less often: a view costs the host more than it costs us.
  const least = () => pace.between(running.all().length)
  const panel = createShown(clock, {
    least,
    show: (runner) => void store.live(liveView(runner, clock)).catch(() => {}),
  })
  const screen = createShown(clock, {
    least,
    calm: () => host.calm?.(CALM_MS),
    show(runner) {
      const from = clock.mono()
      // A view that cannot be shown harms nobody; the pass goes on.
      host
        .progress(runner.pass, view(runner, from - began))
        .then(() => pace.took(clock.mono() - from))
        .catch(() => {})
    },
  })

  return {
    changed(runner: Runner) {
      if (runner.run.phase === "ended") {
        panel.over()
        screen.over()
        return
      }
      const { pass, waiting } = runner
      if (pass.child_session_id === null && (waiting === undefined || waiting === TO_START)) return
      panel.changed(runner)
      screen.changed(runner)
    },
  }
}
