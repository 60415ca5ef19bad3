import { createHash } from "node:crypto"
import type { Scheduler } from "fast-check"
import { DEFAULTS, ORIGINATORS } from "../../../src/agent/agent"
import { createEngine, type Engine, type Project } from "../../../src/pass-over/service/engine"
import type { Clock, Store } from "../../../src/pass-over/service/port"
import type { Host } from "../../../src/pass-over/service/port-host"
import { countingIds } from "../support/engine"
import { createScriptedHost, type ScriptedHost } from "../support/scripted-host"

type Timer = { at: number; run: () => void; off: boolean }

export type RaceClock = Clock & {
  /** Moves time to a moment. What is due then has not happened yet: its turn comes when the scheduler says so. */
  jump(to: number): void
  next(): number | undefined
}

/** A clock in which all that is due at one moment races with everything else that happens at that moment. */
export function createRaceClock(turn: (label: string) => Promise<void>): RaceClock {
  const timers = new Set<Timer>()
  let mono = 0
  const queue = (timer: Timer) => void turn("timer").then(() => (timer.off ? undefined : timer.run()))
  return {
    now: () => 1_767_225_600_000 + mono,
    mono: () => mono,
    after(ms, run) {
      const timer: Timer = { at: mono + Math.max(0, ms), run, off: false }
      if (timer.at <= mono) queue(timer)
      if (timer.at > mono) timers.add(timer)
      return () => {
        timer.off = true
        timers.delete(timer)
      }
    },
    jump(to) {
      mono = Math.max(mono, to)
      for (const timer of [...timers].filter(({ at }) => at <= mono)) {
        timers.delete(timer)
        queue(timer)
      }
    },
    next: () => (timers.size === 0 ? undefined : Math.min(...[...timers].map(({ at }) => at))),
  }
}

/** The same thing with every call of it waiting for its turn, before it happens and before its answer is heard. */
export function inTurns<T extends object>(
  target: T,
  turn: (label: string) => Promise<void>,
  plain: readonly string[] = [],
): T {
  return new Proxy(target, {
    get(of, name) {
      const value: unknown = Reflect.get(of, name)
      if (typeof value !== "function" || typeof name === "symbol" || plain.includes(name)) return value
      return async (...args: unknown[]) => {
        await turn(name)
        const answer: unknown = await Reflect.apply(value, of, args)
        await turn(`${name} done`)
        return answer
      }
    },
  })
}

const SYNCHRONOUS = ["script", "join", "messageID", "children", "prompts", "delivered"]

export type RaceWorld = {
  clock: RaceClock
  host: ScriptedHost
  /** The process that starts the pass, and one that comes to take it over. */
  ours: { engine: Engine; project: Project }
  theirs: { engine: Engine; project: Project }
  logged: string[]
  turn(label: string): Promise<void>
}

/** Two processes on one database, in which nothing happens but in the order that the scheduler gives. */
export function createRaceWorld(scheduler: Scheduler, store: Store, serial: number): RaceWorld {
  const turn = (label: string) => scheduler.schedule(Promise.resolve(), label)
  const clock = createRaceClock(turn)
  const host = createScriptedHost({ after: clock.after, now: clock.now, serial })
  const slow: Host = inTurns<Host>(host, turn, SYNCHRONOUS)
  const logged: string[] = []
  const made = (lane: number) => {
    const engine = createEngine({
      store: inTurns(store, turn, ["close"]),
      clock,
      ids: countingIds(serial * 2 + lane * 2 ** 40),
      tokens: async () => (text) => Math.ceil(text.length / 4),
      hash: (text) => createHash("sha256").update(text).digest("hex"),
      log: (level, message, detail) => void logged.push(`${level} ${message} ${JSON.stringify(detail ?? {})}`),
      owner_id: `own_${String(lane).padStart(8, "0")}${String(serial).padStart(24, "0")}`,
      user_id: "tester",
      headless: false,
      agents: { defaults: DEFAULTS, originators: ORIGINATORS },
    })
    const project: Project = { host: slow, directory: `/project/${serial}`, written: async () => [], logged: () => {} }
    return { engine, project }
  }
  const [ours, theirs] = [made(1), made(2)]
  host.join(ours.engine)
  return { clock, host, ours, theirs, logged, turn }
}

/** Lets everything happen that can, then the clock goes to the next moment, until nothing is left. */
export async function runOut(scheduler: Scheduler, clock: RaceClock, limit_ms: number): Promise<void> {
  const idle = async () => {
    await scheduler.waitIdle()
  }
  await idle()
  for (let at = clock.next(); at !== undefined && at <= limit_ms; at = clock.next()) {
    clock.jump(at)
    await idle()
  }
}
