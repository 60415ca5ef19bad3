import { PassOverErrorCode } from "../../../src/pass-over/domain/errors"
import type { Failure } from "../../../src/pass-over/domain/retry"
import type { Rest } from "../../../src/pass-over/service/port-host"
import type { Child } from "../support/scripted-host"

/** Numbers that are the same for the same seed. */
export type Draw = (from: number, to: number) => number

export function drawing(seed: number): Draw {
  let state = seed >>> 0
  return (from, to) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return from + (((mixed ^ (mixed >>> 14)) >>> 0) % (to - from + 1))
  }
}

/** What a fault comes to: the child has come to rest with it, or the host has got over it and the child goes on. */
export type Fault = (child: Child, draw: Draw) => Promise<Rest | "on">

const STOPPED: Rest = {
  failure: { code: PassOverErrorCode.CANCELLED, message: "its session was stopped", final: true },
}
const provider = (message: string, more: Partial<Failure> = {}): Rest => ({
  failure: { code: PassOverErrorCode.SUBAGENT_CRASHED, message: `the provider failed: ${message}`, ...more },
})

/** Lets time pass in which nothing is heard of the child, unless it is stopped. */
async function silence(child: Child, ms: number): Promise<boolean> {
  await Promise.race([child.wait(ms), child.told])
  return !child.stopped
}

/** The same, where opencode has said that it waits for its provider. */
function putOff(child: Child, ms: number): Promise<boolean> {
  child.putOff(ms, "the provider asks for patience")
  return silence(child, ms)
}

// opencode tries again after 2 s and then longer each time, five times, and says so.
async function retried(child: Child, draw: Draw, last: Rest): Promise<Rest | "on"> {
  const enough = draw(1, 8)
  for (let attempt = 0; attempt < 5; attempt += 1) {
    if (!(await putOff(child, 2_000 * 2 ** attempt))) return STOPPED
    if (attempt + 1 >= enough) return "on"
  }
  return last
}

// opencode asks again at once, for as long as the answers break off.
async function again(child: Child, draw: Draw): Promise<Rest | "on"> {
  const enough = draw(0, 1) === 0 ? draw(1, 4) : Infinity
  for (let answer = 0; answer < enough; answer += 1) {
    if (!(await silence(child, draw(100, 5_000)))) return STOPPED
    child.step()
  }
  return "on"
}

/** What providers do wrong, as the host reports it; the names are those of the rehearsal. */
export const FAULTS: Record<string, Fault> = {
  refuse: (child, draw) => retried(child, draw, provider("cannot connect")),
  reset: (child, draw) => retried(child, draw, provider("the connection was reset")),
  "reset in mid-stream": (child, draw) => {
    child.say("I have seen")
    return retried(child, draw, provider("the connection was reset"))
  },
  stall: async (child) => {
    await child.told
    return STOPPED
  },
  "status 500": (child, draw) => retried(child, draw, provider("500")),
  "status 503": (child, draw) => retried(child, draw, provider("503")),
  rateLimit: (child, draw) => retried(child, draw, provider("429", { retry_after_ms: draw(0, 60_000) })),
  "rateLimit for an hour": async (child) => ((await putOff(child, 3_600_000)) ? "on" : STOPPED),
  "status 400": async (child, draw) =>
    (await silence(child, draw(0, 500))) ? provider("400", { final: true }) : STOPPED,
  overloaded: (child, draw) => {
    child.say("Let me")
    return retried(child, draw, provider("overloaded"))
  },
  cut: again,
  torn: (child, draw) => {
    child.say("It is")
    return again(child, draw)
  },
  blank: again,
  wrongType: again,
  empty: async () => ({}),
  badArguments: async (child) => {
    child.tool(
      "invalid",
      { tool: "read", error: '{"filePath": "REA' },
      "The arguments provided to the tool are invalid",
    )
    child.step()
    return "on"
  },
  sameId: async (child, draw) => {
    child.tool("read", { filePath: "b.ts" }, "1: b")
    await silence(child, draw(0, 100))
    return "on"
  },
  flood: async (child, draw) => {
    child.say("x".repeat(draw(1, 200) * 1_000))
    return "on"
  },
  "no room": async () => ({ failure: { code: PassOverErrorCode.CONTEXT_OVERFLOW, message: "too long", final: true } }),
  "wrong key": async () => provider("the provider refused the key", { final: true }),
  "session gone": async () => ({
    session_gone: true,
    failure: { code: PassOverErrorCode.SUBAGENT_CRASHED, message: "gone" },
  }),
  "host throws": async () => {
    throw new Error("opencode could not be reached")
  },
}
