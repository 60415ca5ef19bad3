import { describe, expect, test } from "bun:test"
import {
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  nat,
  oneof,
  property,
  record,
  sample,
  shuffledSubarray,
} from "fast-check"
import { begin, due, next, NO_USAGE, type Effect, type Input, type Run } from "../../src/pass-over/domain/run"

const PLAN = { time_ms: 20_000, idle_ms: 2_000 }
const T0 = 1_000

const FAILURES = [
  { code: "E011", message: "broke off" },
  { code: "E011", message: "wrong key", final: true },
  { code: "E014", message: "out of memory", retry_after_ms: 3_000 },
  { code: "E013", message: "not allowed" },
] as const

const STOPPED: Input = { type: "stopped" }
const TICK: Input = { type: "tick" }
const CANCEL: Input = { type: "cancel", failure: { code: "E016", message: "cancelled" } }

const input = oneof(
  { weight: 3, arbitrary: constant(TICK) },
  { weight: 2, arbitrary: record({ type: constant("activity" as const), touched: boolean() }) },
  { weight: 2, arbitrary: constant<Input>({ type: "started" }) },
  { weight: 1, arbitrary: constant<Input>({ type: "step", usage: { ...NO_USAGE, input: 1 } }) },
  { weight: 1, arbitrary: constant<Input>({ type: "returned" }) },
  { weight: 1, arbitrary: constant<Input>({ type: "offered" }) },
  { weight: 2, arbitrary: constant(STOPPED) },
  {
    weight: 2,
    arbitrary: record({
      type: constant("stopped" as const),
      failure: constantFrom(...FAILURES),
      session_gone: boolean(),
    }),
  },
  { weight: 2, arbitrary: record({ type: constant("waiting" as const), more: boolean() }) },
  {
    weight: 1,
    arbitrary: record({ type: constant("retry" as const), until: nat(30_000), message: constant("slow down") }),
  },
  { weight: 1, arbitrary: record({ type: constant("activity" as const), until: nat(30_000) }) },
  { weight: 1, arbitrary: constant(CANCEL) },
)

// A pause in milliseconds, none at all, or exactly as long as the run itself asks to be left alone.
const pause = oneof(constant(0), nat(50), nat(3_000), constant("due" as const))
const script = array(record({ pause, input }), { maxLength: 40, size: "max" })

type Beat = { run: Run; before: Run; input: Input; effects: Effect[]; now: number }

/** Plays a script with a monotonic clock and keeps every beat. */
function play(beats: readonly { pause: number | "due"; input: Input }[]): Beat[] {
  let run = begin(PLAN, T0)
  let now = T0
  return beats.map(({ pause, input }) => {
    now = pause === "due" ? Math.max(now, due(run) ?? now) : now + pause
    const before = run
    const step = next(run, input, now)
    run = step.run
    return { ...step, before, input, now }
  })
}

const settles = (beats: readonly Beat[]) =>
  beats.flatMap(({ effects }) => effects.filter((effect) => effect.type === "settle"))

const RUNS = { numRuns: 10_000 }

test("the sequences are worth their name: they reach every phase, every prompt and every kind of end, often", () => {
  const seen = new Map<string, number>()
  const see = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  // Rare ends come in clusters: of 2,000 sequences there were once in a while fewer than ten with one of them.
  for (const beats of sample(script, RUNS.numRuns)) {
    for (const { run, effects } of play(beats)) {
      see(run.phase)
      for (const effect of effects) {
        if (effect.type === "prompt") see(effect.kind)
        if (effect.type === "settle") see(effect.failure?.code ?? "return")
      }
    }
  }
  const phases = ["starting", "working", "staged", "asking", "backing_off", "stopping", "ended"]
  const rest = ["continue", "scratch", "finalise", "return", "E010", "E011", "E013", "E014", "E016", "E021"]
  const rare = [...phases, ...rest].filter((what) => (seen.get(what) ?? 0) < 10)
  expect(rare).toEqual([])
})

describe("whatever happens, in whatever order", () => {
  test("there is at most one outcome, it ends the run, and nothing comes after it", () => {
    assert(
      property(script, (beats) => {
        const played = play(beats)
        expect(settles(played).length).toBeLessThanOrEqual(1)
        for (const { run, before, effects } of played) {
          expect(effects.some(({ type }) => type === "settle")).toBe(run.phase === "ended" && before.phase !== "ended")
          if (before.phase !== "ended") continue
          expect(effects).toEqual([])
          expect(run).toBe(before)
        }
      }),
      RUNS,
    )
  })

  test("a child is always stopped when its run ends, and never prompted in the same breath", () => {
    assert(
      property(script, (beats) => {
        for (const { effects } of play(beats)) {
          const kinds = effects.map(({ type }) => type).join(" ")
          expect(["", "stop", "prompt", "stop settle"]).toContain(kinds)
        }
      }),
      RUNS,
    )
  })

  test("the return is asked for at most once, and there are at most four attempts", () => {
    assert(
      property(script, (beats) => {
        const played = play(beats)
        const prompts = played.flatMap(({ effects }) => effects.flatMap((one) => (one.type === "prompt" ? one : [])))
        expect(prompts.filter(({ kind }) => kind === "finalise").length).toBeLessThanOrEqual(1)
        expect(prompts.filter(({ kind }) => kind !== "finalise").length).toBeLessThanOrEqual(3)
        expect(played.at(-1)?.run.attempt ?? 1).toBeLessThanOrEqual(4)
      }),
      RUNS,
    )
  })

  test("only a return settles as one, one that was staged is never lost, and one that was put off only by a cancel", () => {
    assert(
      property(script, (beats) => {
        const played = play(beats)
        const heard = (type: Input["type"]) =>
          played.some(({ input, before }) => input.type === type && before.phase !== "ended")
        for (const { from, failure } of settles(played)) {
          if (heard("offered") && !heard("returned")) expect(from === "return" || failure?.code === "E016").toBe(true)
          else expect(from).toBe(heard("returned") ? "return" : "salvage")
        }
      }),
      RUNS,
    )
  })

  test("the deadline moves by what people took and by nothing else", () => {
    assert(
      property(script, (beats) => {
        for (const { run } of play(beats)) {
          expect(run.deadline).toBe(T0 + PLAN.time_ms + run.waited_ms)
          expect(run.waits).toBeGreaterThanOrEqual(0)
        }
      }),
      RUNS,
    )
  })

  test("the wall clock ends nothing early and no tick after it is survived", () => {
    assert(
      property(script, (beats) => {
        for (const { run, before, input, effects, now } of play(beats)) {
          const end = effects.find(({ type }) => type === "settle")
          if (end?.type === "settle" && end.failure?.code === "E010" && !end.failure.idle) {
            const [vain, until] = [input.type === "retry", input.type === "retry" ? input.until : now]
            expect(vain ? until : now).toBeGreaterThanOrEqual(before.deadline)
          }
          if (input.type === "tick" && before.waits === 0 && now >= before.deadline) expect(run.phase).toBe("ended")
        }
      }),
      RUNS,
    )
  })

  test("nobody is silent who waits for a provider, and only the deadline comes before it", () => {
    assert(
      property(script, (beats) => {
        for (const { run, before, input, effects, now } of play(beats)) {
          const at = due(run)
          if (at !== undefined) expect(at).toBeLessThanOrEqual(run.deadline)
          if (input.type !== "tick" || before.next || before.phase === "staged") continue
          if (now < before.held_until + PLAN.idle_ms && now < before.deadline) expect(effects).toEqual([])
        }
      }),
      RUNS,
    )
  })

  test("every step that was heard of before the end is counted", () => {
    assert(
      property(script, (beats) => {
        const played = play(beats)
        const heard = played.filter(({ input, before }) => input.type === "step" && before.phase !== "ended").length
        expect(played.at(-1)?.run.usage.input ?? 0).toBe(heard)
      }),
      RUNS,
    )
  })

  test("a child that touched something is never started from scratch", () => {
    assert(
      property(script, (beats) => {
        for (const { before, effects } of play(beats)) {
          const scratch = effects.some((effect) => effect.type === "prompt" && effect.kind === "scratch")
          if (scratch) expect(before).toMatchObject({ touched: false, session_gone: true })
        }
      }),
      RUNS,
    )
  })
})

test("a return in the last millisecond outlives timeout, cancellation and stop, in any order", () => {
  const late: Input[] = [
    TICK,
    CANCEL,
    STOPPED,
    { type: "stopped", failure: FAILURES[0] },
    { type: "step", usage: NO_USAGE },
  ]
  assert(
    property(script, shuffledSubarray(late, { minLength: 1 }), (beats, order) => {
      const open = play(beats).at(-1)?.run ?? begin(PLAN, T0)
      if (open.phase === "ended") return
      const answered = { ...open, waits: 0 }
      const staged = next(answered, { type: "returned" }, answered.deadline - 1)
      let { run } = staged
      const effects = [...staged.effects]
      for (const input of order) {
        const step = next(run, input, answered.deadline)
        run = step.run
        effects.push(...step.effects)
      }
      expect(effects.filter(({ type }) => type === "settle")).toEqual([{ type: "settle", from: "return" }])
    }),
    RUNS,
  )
})

test("from anywhere, ticks at the times it asks for lead to the end, and soon", () => {
  assert(
    property(script, boolean(), (beats, answering) => {
      const last = play(beats).at(-1)
      let run = last?.run ?? begin(PLAN, T0)
      let now = last?.now ?? T0
      while (run.waits > 0 && run.phase !== "ended") run = next(run, { type: "waiting", more: false }, now).run
      let ticks = 0
      while (run.phase !== "ended") {
        const at = due(run)
        if (at === undefined) throw new Error(`nothing is due while ${run.phase}`)
        now = Math.max(now, at)
        const step = next(run, TICK, now)
        // A tick that is due always does something, so that no timer can spin.
        expect(step.run).not.toEqual(run)
        run = step.run
        if (answering && step.effects.some(({ type }) => type === "stop")) run = next(run, STOPPED, now).run
        expect(++ticks).toBeLessThan(20)
      }
      expect(now).toBeLessThanOrEqual(Math.max(last?.now ?? T0, run.deadline))
    }),
    RUNS,
  )
})
