import { describe, expect, test } from "bun:test"
import { ChainValidator, check, MAX_CHAIN_DEPTH, MAX_REPETITIONS } from "../../src/pass-over/domain/chain-validator"
import { PassOverError, type Refusal } from "../../src/pass-over/domain/errors"

type Lineage = Parameters<typeof check>[1]

const hop = (from: string, to: string, more: Partial<Lineage> = {}) =>
  check({ from, to }, { above: [], repeated: 0, ...more })

function refusal(checked: ReturnType<typeof check>): Refusal {
  if (checked.ok) throw new Error("expected a refusal")
  return checked.refusal
}

describe("what a chain may be", () => {
  test("a first pass has depth 1 and the caller as its only ancestor", () => {
    expect(hop("alice", "audit")).toEqual({ ok: true, ancestors: ["alice"], chain_depth: 1 })
  })

  test("a nested pass counts the passes above it and names the caller last", () => {
    expect(hop("scout", "audit", { above: ["alice"] })).toEqual({
      ok: true,
      ancestors: ["alice", "scout"],
      chain_depth: 2,
    })
  })

  test("three agents are the longest chain unless somebody set another length", () => {
    expect(MAX_CHAIN_DEPTH).toBe(3)
    expect(ChainValidator.MAX_CHAIN_DEPTH).toBe(3)
    expect(hop("scout", "audit", { above: ["alice"] }).ok).toBe(true)
    expect(refusal(hop("audit", "inspector", { above: ["alice", "scout"] })).code).toBe("E002")
    expect(hop("audit", "inspector", { above: ["alice", "scout"], max_chain_depth: 4 }).ok).toBe(true)
    expect(refusal(hop("scout", "audit", { above: ["alice"], max_chain_depth: 2 })).code).toBe("E002")
  })
})

describe("every refusal has its own sentence", () => {
  test("depth names the whole chain and the limit", () => {
    expect(refusal(hop("audit", "inspector", { above: ["alice", "scout"] }))).toEqual({
      code: "E002",
      message: "The chain would be 4 agents long and 3 are allowed (alice → scout → audit → inspector).",
      suggestion:
        "Do this part yourself, or return what you have. How long a chain may be is for the user to say (pass-over config set 'audit->inspector' max_chain_depth <agents>).",
      detail: { chain: ["alice", "scout", "audit", "inspector"], max_chain_depth: 3 },
    })
  })

  test("an agent that passes to itself is told just that", () => {
    expect(refusal(hop("alice", "alice"))).toMatchObject({
      code: "E003",
      message: "alice cannot pass work to itself (alice → alice).",
      detail: { chain: ["alice", "alice"] },
    })
  })

  test("a ping-pong is named, and answered with the return that was meant", () => {
    expect(refusal(hop("audit", "alice", { above: ["alice"] }))).toEqual({
      code: "E003",
      message: "Ping-pong: alice passed this work to audit, which now passes it back (alice → audit → alice).",
      suggestion: "Return your result to alice with pass_over_return; a return is not a pass.",
      detail: { chain: ["alice", "audit", "alice"] },
    })
  })

  test("a longer circle says which agent is in the chain already", () => {
    expect(refusal(hop("audit", "alice", { above: ["alice", "scout"], max_chain_depth: 5 }))).toMatchObject({
      code: "E003",
      message: "alice is already in this chain (alice → scout → audit → alice).",
    })
  })

  test("the fourth time for the same pair and objective is a repetition", () => {
    expect(MAX_REPETITIONS).toBe(3)
    expect(hop("alice", "audit", { repeated: 2 }).ok).toBe(true)
    expect(refusal(hop("alice", "audit", { repeated: 3 }))).toEqual({
      code: "E003",
      message: "Repetition: alice has passed this same objective to audit 3 times already in this session.",
      suggestion: "Use the results that came back (pass_over_read), or ask for something else.",
      detail: { repeated: 3 },
    })
  })

  test("a caller whose own time is up has none to give", () => {
    expect(hop("scout", "audit", { above: ["alice"], remaining_ms: 1 }).ok).toBe(true)
    for (const remaining_ms of [0, -1]) {
      expect(refusal(hop("scout", "audit", { above: ["alice"], remaining_ms }))).toEqual({
        code: "E010",
        message: "scout's own time is up, so audit would have none.",
        suggestion: "Return what you have now with pass_over_return.",
        detail: {},
      })
    }
  })

  test("a caller that the user started has no deadline of its own", () => {
    expect(hop("alice", "audit", { remaining_ms: undefined }).ok).toBe(true)
  })
})

test("refusals come in one order: depth, then the circle, then repetition, then the deadline", () => {
  const worst = { above: ["alice", "scout"], repeated: 9, remaining_ms: 0 }
  expect(refusal(hop("audit", "alice", worst)).message).toStartWith("The chain would be 4 agents long")
  expect(refusal(hop("audit", "audit", { ...worst, max_chain_depth: 4 })).message).toStartWith("audit cannot pass")
  expect(refusal(hop("audit", "scout", { ...worst, max_chain_depth: 4 })).message).toStartWith("Ping-pong")
  expect(refusal(hop("audit", "alice", { ...worst, max_chain_depth: 4 })).message).toStartWith("alice is already")
  expect(refusal(hop("audit", "inspector", { ...worst, max_chain_depth: 4 })).message).toStartWith("Repetition")
  expect(refusal(hop("audit", "inspector", { ...worst, max_chain_depth: 4, repeated: 0 })).code).toBe("E010")
})

describe("all chains of up to five agents", () => {
  const AGENTS = ["alice", "scout", "audit", "inspector", "build"]

  const sequences = (length: number): string[][] =>
    length === 0 ? [[]] : sequences(length - 1).flatMap((head) => AGENTS.map((agent) => [...head, agent]))

  // Written from decisions 7 and 8 alone: too long first, then anyone who stands in it already.
  function oracle(chain: readonly string[], limit: number): string {
    if (chain.length > limit) return "E002"
    const target = chain.at(-1) ?? ""
    const before = chain.slice(0, -1)
    if (!before.includes(target)) return "ok"
    if (before.at(-1) === target) return "E003 itself"
    if (before.at(-2) === target) return "E003 ping-pong"
    return "E003 circle"
  }

  function verdict(chain: readonly string[], limit: number): string {
    const checked = check(
      { from: chain.at(-2) ?? "", to: chain.at(-1) ?? "" },
      { above: chain.slice(0, -2), repeated: 0, max_chain_depth: limit },
    )
    if (checked.ok) {
      expect(checked.ancestors).toEqual(chain.slice(0, -1))
      expect(checked.chain_depth).toBe(chain.length - 1)
      return "ok"
    }
    const { code, message } = checked.refusal
    if (code !== "E003") return code
    if (message.includes("to itself")) return "E003 itself"
    return message.includes("Ping-pong") ? "E003 ping-pong" : "E003 circle"
  }

  for (const limit of [2, 3, 4, 5, 6]) {
    test(`are judged as the decisions say where ${limit} agents are allowed`, () => {
      const all = [2, 3, 4, 5].flatMap(sequences)
      expect(all).toHaveLength(25 + 125 + 625 + 3_125)
      const wrong = all.filter((chain) => verdict(chain, limit) !== oracle(chain, limit))
      expect(wrong).toEqual([])
    })
  }

  test("those that can come about hold no agent twice and never more than the limit", () => {
    const grow = (chain: string[]): string[][] => [
      chain,
      ...AGENTS.filter((agent) => verdict([...chain, agent], 3) === "ok").flatMap((agent) => grow([...chain, agent])),
    ]
    const reachable = AGENTS.flatMap((agent) => grow([agent]))
    expect(reachable).toHaveLength(5 + 5 * 4 + 5 * 4 * 3)
    expect(reachable.every((chain) => new Set(chain).size === chain.length)).toBe(true)
  })
})

describe("the guide's entry", () => {
  const request = { originating_agent_id: "alice", subagent_id: "audit" }

  test("validatePassOverChain says valid without any history", () => {
    expect(ChainValidator.validatePassOverChain(request)).toEqual({ valid: true })
  })

  test("validatePassOverChain hands over the error to throw", () => {
    const { valid, error } = ChainValidator.validatePassOverChain(request, { above: ["audit"] })
    expect(valid).toBe(false)
    expect(error).toBeInstanceOf(PassOverError)
    expect(error).toMatchObject({
      code: "E003",
      recoverable: false,
      message: "Ping-pong: audit passed this work to alice, which now passes it back (audit → alice → audit).",
      suggestedAction: "Return your result to audit with pass_over_return; a return is not a pass.",
      context: { chain: ["audit", "alice", "audit"] },
    })
  })

  test("validatePassOverChain sees repetition, the deadline and the limit too", () => {
    expect(ChainValidator.validatePassOverChain(request, { repeated: 3 }).error?.code).toBe("E003")
    expect(ChainValidator.validatePassOverChain(request, { remaining_ms: 0 }).error?.code).toBe("E010")
    expect(ChainValidator.validatePassOverChain(request, { above: ["scout"], max_chain_depth: 2 }).error?.code).toBe(
      "E002",
    )
  })
})
