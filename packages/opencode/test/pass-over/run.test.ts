import { describe, expect, test } from "bun:test"
import {
  begin,
  due,
  next,
  remaining,
  type Effect,
  type Input,
  type Run,
  type Usage,
} from "../../src/pass-over/domain/run"

const T0 = 5_000
const PLAN = { time_ms: 100_000, idle_ms: 10_000 }
const DEADLINE = T0 + PLAN.time_ms

const CRASH = { code: "E011", message: "the connection broke off" } as const
const CANCELLED = { code: "E016", message: "the user stopped it" } as const
const USAGE: Usage = { input: 10, output: 5, reasoning: 1, cache_read: 2, cache_write: 3, cost: 0.25 }

const STARTED: Input = { type: "started" }
const RETURNED: Input = { type: "returned" }
const OFFERED: Input = { type: "offered" }
const STOPPED: Input = { type: "stopped" }
const BROKE: Input = { type: "stopped", failure: CRASH }
const STEP: Input = { type: "step", usage: USAGE }
const TICK: Input = { type: "tick" }
const CANCEL: Input = { type: "cancel", failure: CANCELLED }
const ASK: Input = { type: "waiting", more: true }
const ANSWER: Input = { type: "waiting", more: false }
const SIGN: Input = { type: "activity" }
const TOUCH: Input = { type: "activity", touched: true }

const told = (effect: Effect) => {
  if (effect.type === "stop") return "stop"
  if (effect.type === "prompt") return `prompt ${effect.kind}`
  return effect.from === "return" ? "settle return" : `settle ${effect.failure.code}`
}

type Played = { run: Run; effects: Effect[]; told: string[] }

/** Plays inputs, each at so many milliseconds after the beginning. */
function play(...script: [at: number, input: Input][]): Played {
  const effects: Effect[] = []
  const run = script.reduce<Run>(
    (before, [at, input]) => {
      const step = next(before, input, T0 + at)
      effects.push(...step.effects)
      return step.run
    },
    begin(PLAN, T0),
  )
  return { run, effects, told: effects.map(told) }
}

const lastMessage = ({ effects }: Played) => {
  const last = effects.at(-1)
  return last?.type === "settle" ? last.failure?.message : undefined
}

describe("a run that goes well", () => {
  test("starts, works, returns and settles at the end of its step", () => {
    expect(play().run).toMatchObject({ phase: "starting", attempt: 1, deadline: DEADLINE })
    expect(play([10, STARTED]).run.phase).toBe("working")
    expect(play([10, STARTED], [20, RETURNED])).toMatchObject({ run: { phase: "staged" }, told: [] })
    expect(play([10, STARTED], [20, RETURNED], [30, STEP])).toMatchObject({
      run: { phase: "ended" },
      told: ["stop", "settle return"],
    })
  })

  test("settles at once where the child comes to rest with its return", () => {
    expect(play([10, STARTED], [20, RETURNED], [30, STOPPED]).told).toEqual(["stop", "settle return"])
    expect(play([10, STARTED], [20, RETURNED], [30, BROKE]).told).toEqual(["stop", "settle return"])
  })

  test("counts what its steps used, the last one included", () => {
    const { run } = play([0, STARTED], [1, STEP], [2, STEP], [3, RETURNED], [4, STEP])
    expect(run.steps).toBe(3)
    expect(run.usage).toEqual({ input: 30, output: 15, reasoning: 3, cache_read: 6, cache_write: 9, cost: 0.75 })
  })

  test("stays staged through everything that is not the end of the step", () => {
    const staged = play([0, STARTED], [1, RETURNED], [2, SIGN], [3, STARTED], [4, RETURNED], [5, ASK], [6, ANSWER])
    expect(staged).toMatchObject({ run: { phase: "staged" }, told: [] })
  })
})

describe("the deadline", () => {
  test("ends a run that has not returned, and not a millisecond earlier", () => {
    const busy: [number, Input][] = Array.from({ length: 20 }, (_, index) => [(index + 1) * 5_000 - 1, SIGN])
    expect(play([0, STARTED], ...busy, [99_999, TICK]).told).toEqual([])
    const late = play([0, STARTED], ...busy, [100_000, TICK])
    expect(late.told).toEqual(["stop", "settle E010"])
    expect(lastMessage(late)).toBe("its time of 1 min 40 s was up")
  })

  test("ends a run that never started", () => {
    expect(next({ ...begin(PLAN, T0), idle_ms: 1e9 }, TICK, DEADLINE).effects.map(told)).toEqual([
      "stop",
      "settle E010",
    ])
  })

  test("keeps what was returned in time, even where the step around it hangs", () => {
    const { run } = play([0, STARTED], [99_999, RETURNED])
    expect(due(run)).toBe(DEADLINE)
    expect(next(run, TICK, DEADLINE).effects.map(told)).toEqual(["stop", "settle return"])
  })

  test("beats an attempt that is still to come", () => {
    const { run } = play([0, STARTED], [50_000, BROKE])
    expect(next({ ...run, next: { ...run.next!, at: DEADLINE } }, TICK, DEADLINE).effects.map(told)).toEqual([
      "stop",
      "settle E010",
    ])
  })

  test("is not looked at before somebody ticks, and a late tick sees it all the same", () => {
    expect(play([0, STARTED], [500_000, TICK]).told).toEqual(["stop", "settle E010"])
  })
})

describe("a child that falls silent", () => {
  test("is stopped, and goes on where it was once it has stopped", () => {
    const silent = play([0, STARTED], [10_000, TICK])
    expect(silent).toMatchObject({ run: { phase: "stopping", attempt: 1 }, told: ["stop"] })
    const again = play([0, STARTED], [10_000, TICK], [10_500, STOPPED], [11_000, TICK])
    expect(again).toMatchObject({ run: { phase: "working", attempt: 2 }, told: ["stop", "prompt continue"] })
    expect(again.effects.at(-1)).toMatchObject({
      after: { code: "E010", idle: true, message: "nothing came from it for 10 s" },
    })
  })

  test("is given a second to stop and then not waited for any longer", () => {
    expect(play([0, STARTED], [10_000, TICK], [10_999, TICK]).told).toEqual(["stop"])
    expect(play([0, STARTED], [10_000, TICK], [11_000, TICK]).told).toEqual(["stop", "prompt continue"])
  })

  test("is not silent while it gives any sign", () => {
    for (const sign of [SIGN, STEP, STARTED]) {
      expect(play([0, STARTED], [9_999, sign], [19_998, TICK]).told).toEqual([])
      expect(play([0, STARTED], [9_999, sign], [19_999, TICK]).told).toEqual(["stop"])
    }
  })

  test("is salvaged where too little time is left for another attempt", () => {
    const signs: [number, Input][] = Array.from({ length: 7 }, (_, index) => [(index + 1) * 10_000 - 1, SIGN])
    const silent = play([0, STARTED], ...signs, [79_999, TICK])
    expect(silent.told).toEqual(["stop", "settle E010"])
    expect(lastMessage(silent)).toBe("nothing came from it for 10 s")
  })

  test("is not told to stop twice by two ticks", () => {
    expect(play([0, STARTED], [10_000, TICK], [10_000, TICK], [10_001, TICK]).told).toEqual(["stop"])
  })
})

describe("an attempt that fails", () => {
  test("is followed by another in the same session after its pause", () => {
    const failed = play([0, STARTED], [1_000, BROKE])
    expect(failed).toMatchObject({ run: { phase: "backing_off", attempt: 1 }, told: [] })
    expect(due(failed.run)).toBe(T0 + 2_000)
    const again = play([0, STARTED], [1_000, BROKE], [1_999, TICK], [2_000, TICK])
    expect(again).toMatchObject({
      run: { phase: "working", attempt: 2, active: T0 + 2_000 },
      told: ["prompt continue"],
    })
    expect(again.effects[0]).toMatchObject({ after: CRASH })
  })

  test("pauses longer each time and gives up after the third repetition", () => {
    const played = play(
      [0, STARTED],
      [1_000, BROKE],
      [2_000, TICK],
      [3_000, BROKE],
      [4_999, TICK],
      [5_000, TICK],
      [6_000, BROKE],
      [9_999, TICK],
      [10_000, TICK],
      [11_000, BROKE],
    )
    expect(played.told).toEqual(["prompt continue", "prompt continue", "prompt continue", "stop", "settle E011"])
    expect(played.run.attempt).toBe(4)
  })

  test("ends the run where the failure cannot be helped by trying again", () => {
    const final: Input = { type: "stopped", failure: { ...CRASH, message: "the key is wrong", final: true } }
    const ended = play([0, STARTED], [1_000, final])
    expect(ended.told).toEqual(["stop", "settle E011"])
    expect(lastMessage(ended)).toBe("the key is wrong")
  })

  test("starts from scratch where its session is gone and nothing was touched", () => {
    const gone: Input = { ...BROKE, session_gone: true }
    expect(play([0, STARTED], [1_000, SIGN], [1_000, gone], [2_000, TICK]).told).toEqual(["prompt scratch"])
    expect(play([0, STARTED], [1_000, TOUCH], [1_000, gone]).told).toEqual(["stop", "settle E011"])
  })

  test("goes on in the session of the attempt from scratch once that has begun", () => {
    const gone: Input = { ...BROKE, session_gone: true }
    const script: [number, Input][] = [
      [0, STARTED],
      [1_000, gone],
      [2_000, TICK],
      [2_100, STARTED],
      [3_000, BROKE],
      [5_000, TICK],
    ]
    expect(play(...script).told).toEqual(["prompt scratch", "prompt continue"])
  })

  test("starts from scratch where no session was ever made, so that the child is told its work", () => {
    expect(play([1_000, BROKE], [2_000, TICK]).told).toEqual(["prompt scratch"])
    expect(play([1_000, BROKE], [2_000, TICK], [3_000, BROKE], [5_000, TICK]).told).toEqual([
      "prompt scratch",
      "prompt scratch",
    ])
    expect(play([10_000, TICK], [11_000, TICK]).told).toEqual(["stop", "prompt scratch"])
  })

  test("is not counted twice by a second word that it stopped", () => {
    const once = play([0, STARTED], [1_000, BROKE])
    for (const again of [BROKE, STOPPED]) {
      expect(next(once.run, again, T0 + 1_500)).toEqual({ run: once.run, effects: [] })
    }
  })

  test("pauses as the plan says, but a silent child has its second to stop", () => {
    const plan = { ...PLAN, retrying: { max_retries: 1, retry_delay_ms: 10, backoff_multiplier: 2 } }
    const working = next(begin(plan, T0), STARTED, T0).run
    expect(due(next(working, BROKE, T0 + 500).run)).toBe(T0 + 510)
    expect(due(next(working, TICK, T0 + 10_000).run)).toBe(T0 + 11_000)
    const slow = { ...working, retrying: { ...plan.retrying, retry_delay_ms: 5_000 } }
    expect(due(next(slow, TICK, T0 + 10_000).run)).toBe(T0 + 15_000)
    expect(next({ ...working, attempt: 2 }, BROKE, T0 + 500).effects.map(told)).toEqual(["stop", "settle E011"])
  })

  test("is judged by what was heard until its pause was over", () => {
    const gone: Input = { ...BROKE, session_gone: true }
    const late = play([0, STARTED], [1_000, gone], [1_500, TOUCH], [2_000, TICK])
    expect(late.told).toEqual(["stop", "settle E011"])
    const stopped: Input = { type: "stopped", session_gone: true }
    expect(play([0, STARTED], [10_000, TICK], [10_500, stopped], [11_000, TICK]).told).toEqual([
      "stop",
      "prompt scratch",
    ])
  })

  test("takes a return that comes late, with nothing left to wait for", () => {
    expect(play([0, STARTED], [1_000, BROKE], [1_500, RETURNED])).toMatchObject({
      run: { phase: "ended" },
      told: ["stop", "settle return"],
    })
  })

  test("is not waited for longer than the idle limit when the step of its return hangs", () => {
    expect(play([0, STARTED], [1_000, RETURNED], [10_999, TICK]).told).toEqual([])
    expect(play([0, STARTED], [1_000, RETURNED], [11_000, TICK]).told).toEqual(["stop", "settle return"])
    expect(play([0, STARTED], [1_000, RETURNED], [9_000, SIGN], [11_000, TICK]).told).toEqual([])
  })

  test("takes a return that comes while the child is being stopped", () => {
    const late = play([0, STARTED], [10_000, TICK], [10_100, RETURNED])
    expect(late).toMatchObject({ run: { phase: "staged" }, told: ["stop"] })
    expect(late.run.next).toBeUndefined()
    expect(next(late.run, STOPPED, T0 + 10_200).effects.map(told)).toEqual(["stop", "settle return"])
  })
})

describe("a return that was put off", () => {
  const offered = (...after: [number, Input][]) => play([0, STARTED], [1_000, OFFERED], ...after)

  test("changes nothing by itself", () => {
    expect(offered([2_000, STEP], [3_000, SIGN])).toMatchObject({ run: { phase: "working", offered: true }, told: [] })
  })

  test("is the return where the run comes to no other, whatever ends it", () => {
    expect(offered([2_000, STOPPED], [3_000, STOPPED]).told).toEqual(["prompt finalise", "stop", "settle return"])
    expect(offered([100_000, TICK]).told).toEqual(["stop", "settle return"])
    const broken: Input = { type: "stopped", failure: { ...CRASH, final: true } }
    expect(offered([2_000, broken]).told).toEqual(["stop", "settle return"])
  })

  test("is none of a run that is cancelled", () => {
    expect(offered([2_000, CANCEL]).told).toEqual(["stop", "settle E016"])
  })
})

describe("a child that stops without a return", () => {
  test("is asked for it once, in the same session", () => {
    expect(play([0, STARTED], [1_000, STOPPED])).toMatchObject({
      run: { phase: "asking", asked: true, active: T0 + 1_000 },
      told: ["prompt finalise"],
    })
  })

  test("may return then like any other", () => {
    expect(play([0, STARTED], [1_000, STOPPED], [1_100, STARTED], [2_000, RETURNED], [2_001, STEP]).told).toEqual([
      "prompt finalise",
      "stop",
      "settle return",
    ])
  })

  test("is salvaged where it stops again", () => {
    const again = play([0, STARTED], [1_000, STOPPED], [2_000, STOPPED])
    expect(again.told).toEqual(["prompt finalise", "stop", "settle E021"])
    expect(lastMessage(again)).toBe("it stopped without calling pass_over_return, and again when it was asked for it")
  })

  test("is not asked where its session is gone", () => {
    const gone = play([0, STARTED], [1_000, { type: "stopped", session_gone: true }])
    expect(gone.told).toEqual(["stop", "settle E021"])
    expect(lastMessage(gone)).toBe("it stopped without calling pass_over_return, and its session is gone")
  })

  test("is asked only once, also where the asking itself broke off", () => {
    const script: [number, Input][] = [
      [0, STARTED],
      [1_000, STOPPED],
      [2_000, BROKE],
      [3_000, TICK],
      [4_000, STOPPED],
    ]
    expect(play(...script).told).toEqual(["prompt finalise", "prompt continue", "stop", "settle E021"])
  })

  test("is bound by the limits while it is asked, too", () => {
    expect(play([0, STARTED], [1_000, STOPPED], [11_000, TICK]).told).toEqual(["prompt finalise", "stop"])
    expect(play([0, STARTED], [1_000, STOPPED], [100_000, TICK]).told).toEqual([
      "prompt finalise",
      "stop",
      "settle E010",
    ])
  })
})

describe("a cancellation", () => {
  test("ends the run in any phase, with its own failure", () => {
    const phases: [string, [number, Input][]][] = [
      ["starting", []],
      ["working", [[0, STARTED]]],
      [
        "asking",
        [
          [0, STARTED],
          [1, STOPPED],
        ],
      ],
      [
        "backing_off",
        [
          [0, STARTED],
          [1, BROKE],
        ],
      ],
      [
        "stopping",
        [
          [0, STARTED],
          [10_000, TICK],
        ],
      ],
    ]
    for (const [phase, script] of phases) {
      const before = play(...script)
      expect(before.run.phase).toBe(phase as Run["phase"])
      const { run, effects } = next(before.run, CANCEL, T0 + 20_000)
      expect(run.phase).toBe("ended")
      expect(run.next).toBeUndefined()
      expect(effects).toEqual([{ type: "stop" }, { type: "settle", from: "salvage", failure: CANCELLED }])
    }
  })

  test("does not throw away what was returned already", () => {
    expect(play([0, STARTED], [1, RETURNED], [1, CANCEL]).told).toEqual(["stop", "settle return"])
  })
})

describe("waiting for a person", () => {
  test("stops the clock: nothing is due, and no tick does anything", () => {
    const { run } = play([0, STARTED], [5_000, ASK])
    expect(due(run)).toBeUndefined()
    expect(remaining(run, T0 + 1e9)).toBe(95_000)
    expect(next(run, TICK, T0 + 1e9)).toEqual({ run, effects: [] })
  })

  test("moves the deadline by as long as the answer took", () => {
    const { run } = play([0, STARTED], [5_000, ASK], [65_000, ANSWER])
    expect(run).toMatchObject({ deadline: DEADLINE + 60_000, waited_ms: 60_000, waits: 0, active: T0 + 65_000 })
    expect(remaining(run, T0 + 65_000)).toBe(95_000)
    expect(due(run)).toBe(T0 + 75_000)
  })

  test("counts overlapping questions once, from the first question to the last answer", () => {
    const asked = play([0, STARTED], [1_000, ASK], [2_000, ASK], [5_000, ANSWER])
    expect(asked.run).toMatchObject({ waits: 1, deadline: DEADLINE })
    expect(due(asked.run)).toBeUndefined()
    expect(next(asked.run, ANSWER, T0 + 9_000).run).toMatchObject({ waits: 0, waited_ms: 8_000 })
  })

  test("adds up over several questions", () => {
    const { run } = play([0, STARTED], [1_000, ASK], [2_000, ANSWER], [3_000, ASK], [7_000, ANSWER])
    expect(run).toMatchObject({ waited_ms: 5_000, deadline: DEADLINE + 5_000 })
  })

  test("makes nothing of an answer to no question", () => {
    expect(play([0, STARTED], [5_000, ANSWER]).run).toMatchObject({ waits: 0, waited_ms: 0, deadline: DEADLINE })
  })

  test("holds back a failure's next attempt until the answer is in", () => {
    const held = play([0, STARTED], [1_000, ASK], [2_000, BROKE], [60_000, TICK])
    expect(held).toMatchObject({ run: { phase: "backing_off" }, told: [] })
    const free = play([0, STARTED], [1_000, ASK], [2_000, BROKE], [60_000, ANSWER], [60_000, TICK])
    expect(free).toMatchObject({ run: { phase: "working", attempt: 2 }, told: ["prompt continue"] })
  })

  test("does not count towards the quarter that must be left", () => {
    expect(play([0, STARTED], [1_000, ASK], [300_000, BROKE]).run.phase).toBe("backing_off")
  })

  test("does not keep a person from cancelling, nor a child from returning", () => {
    expect(play([0, STARTED], [1_000, ASK], [2_000, CANCEL]).told).toEqual(["stop", "settle E016"])
    expect(play([0, STARTED], [1_000, ASK], [2_000, RETURNED], [3_000, STEP]).told).toEqual(["stop", "settle return"])
  })
})

describe("a provider that asks for patience", () => {
  const retry = (until: number, message = "Too many requests"): Input => ({ type: "retry", until: T0 + until, message })

  test("is a sign of life, and its child is not silent before it may ask again", () => {
    const held = play([0, STARTED], [9_000, retry(60_000)], [59_999, TICK], [69_999, TICK])
    expect(held).toMatchObject({ run: { phase: "working", attempt: 1 }, told: [] })
    expect(due(held.run)).toBe(T0 + 70_000)
    const silent = next(held.run, TICK, T0 + 70_000)
    expect(silent.effects).toEqual([{ type: "stop" }])
    // One that wants it at once is no less a sign.
    expect(due(play([0, STARTED], [9_000, retry(9_000)]).run)).toBe(T0 + 19_000)
  })

  test("is waited for by those above it, too, until all below them may go on", () => {
    const below = (until: number): Input => ({ type: "activity", until: T0 + until })
    const { run } = play([0, STARTED], [1_000, below(60_000)], [2_000, below(30_000)], [3_000, SIGN])
    expect(due(run)).toBe(T0 + 70_000)
    expect(lastMessage(play([0, STARTED], [1_000, below(60_000)], [100_000, TICK]))).toBe(
      "its time of 1 min 40 s was up",
    )
  })

  test("ends the run at once where it would be asked again only after the deadline, and says why", () => {
    expect(play([0, STARTED], [9_000, retry(99_999)]).told).toEqual([])
    const vain = play([0, STARTED], [9_000, TOUCH], [10_000, retry(310_000, " Rate limit\n reached ")])
    expect(vain.told).toEqual(["stop", "settle E010"])
    expect(lastMessage(vain)).toBe(
      "its provider asks for patience for 5 min 00 s, and only 1 min 30 s of its time were left: Rate limit reached",
    )
    expect(lastMessage(play([0, STARTED], [0, retry(100_000, "x".repeat(1_000))]))?.length).toBeLessThan(300)
  })

  test("does not end a run whose clock stands still for a person", () => {
    const asked = play([0, STARTED], [1_000, ASK], [2_000, retry(150_000)], [120_000, ANSWER])
    expect(asked).toMatchObject({ run: { phase: "working", deadline: T0 + 219_000 }, told: [] })
    expect(due(asked.run)).toBe(T0 + 160_000)
  })

  test("is named where it was the last that was heard", () => {
    const again = play([0, STARTED], [1_000, retry(20_000)], [30_000, TICK], [31_000, TICK])
    expect(again.effects.at(-1)).toMatchObject({
      after: { message: "nothing came from it for 10 s after its provider had asked for patience: Too many requests" },
    })
    expect(again.run.patience).toBeUndefined()
    const late = play([0, STARTED], [1_000, retry(95_000)], [100_000, TICK])
    expect(lastMessage(late)).toBe(
      "its time of 1 min 40 s was up; its provider had asked for patience: Too many requests",
    )
    for (const sign of [SIGN, STEP]) {
      const heard = play([0, STARTED], [1_000, retry(20_000)], [20_000, sign], [100_000, TICK])
      expect(lastMessage(heard)).toBe("its time of 1 min 40 s was up")
    }
  })

  test("is asked again by us no earlier than by the host", () => {
    const broke = play([0, STARTED], [1_000, retry(30_000)], [2_000, BROKE])
    expect(due(broke.run)).toBe(T0 + 30_000)
    expect(due(play([0, STARTED], [1_000, retry(30_000)], [31_000, STEP], [31_500, BROKE]).run)).toBe(T0 + 32_500)
    // What is left afterwards has to be worth it.
    expect(play([0, STARTED], [1_000, retry(80_000)], [2_000, BROKE]).told).toEqual(["stop", "settle E011"])
  })

  test("changes nothing of an attempt that is over, and keeps no return waiting", () => {
    const over = play([0, STARTED], [10_000, TICK])
    expect(next(over.run, retry(500_000), T0 + 10_500)).toEqual({ run: over.run, effects: [] })
    expect(play([0, STARTED], [1_000, RETURNED], [2_000, retry(60_000)]).told).toEqual(["stop", "settle return"])
  })
})

test("after the end nothing comes out any more", () => {
  const { run } = play([0, STARTED], [1, CANCEL])
  expect(due(run)).toBeUndefined()
  const retry: Input = { type: "retry", until: T0 + 1e10, message: "later" }
  for (const input of [STARTED, RETURNED, STOPPED, BROKE, STEP, TICK, CANCEL, ASK, ANSWER, TOUCH, retry]) {
    expect(next(run, input, T0 + 1e9)).toEqual({ run, effects: [] })
  }
})
