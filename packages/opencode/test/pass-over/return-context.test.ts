import { describe, expect, test } from "bun:test"
import { ended, move, open, ReturnStatus, ReturnToContext } from "../../src/pass-over/domain/return-context"
import { NOW, output, PASS } from "./sample"

// Decision 9, by hand.
const LEGAL = [
  "initial -> waiting_for_return",
  "initial -> cancelled",
  "waiting_for_return -> returned",
  "waiting_for_return -> timed_out",
  "waiting_for_return -> cancelled",
  "returned -> processed",
  "returned -> cancelled",
  "returned -> timed_out",
]

const STATES = ["initial", "waiting_for_return", "returned", "processed", "timed_out", "cancelled"] as const
const PAIRS = STATES.flatMap((from) => STATES.map((to) => [from, to] as const))

test("the states are those of the guide", () => {
  expect(ReturnStatus.options.toSorted()).toEqual([...STATES].toSorted())
})

test("moves are exactly those of decision 9", () => {
  const moves = PAIRS.flatMap(([from, to]) =>
    move({ id: "p", status: from, revision: 0 }, to).ok ? [`${from} -> ${to}`] : [],
  )
  expect(moves.toSorted()).toEqual(LEGAL.toSorted())
})

describe("a legal move", () => {
  for (const legal of LEGAL) {
    test(`${legal} raises the revision by one and says why`, () => {
      const [from, to] = legal.split(" -> ").map((state) => ReturnStatus.parse(state))
      const moved = move({ id: "p", status: from!, revision: 7 }, to!)
      expect(moved).toEqual({ ok: true, move: { from: from!, to: to!, revision: 8, reason: expect.any(String) } })
      expect(moved.ok && moved.move.reason.length).toBeGreaterThan(5)
    })
  }

  test("gives each of the three ways to be cancelled its own reason", () => {
    const reasons = (["initial", "waiting_for_return", "returned"] as const).map((status) => {
      const moved = move({ id: "p", status, revision: 0 }, "cancelled")
      return moved.ok ? moved.move.reason : ""
    })
    expect(reasons).toEqual(["cancelled before it started", "cancelled while it ran", "rejected whole"])
  })
})

describe("any other move is refused", () => {
  for (const [from, to] of PAIRS.filter(([from, to]) => !LEGAL.includes(`${from} -> ${to}`))) {
    test(`${from} -> ${to}`, () => {
      const context = { id: "p", status: from, revision: 7 }
      const moved = move(context, to)
      expect(moved).toMatchObject({ ok: false, refusal: { code: "E040", detail: { status: from, to } } })
      expect(context).toEqual({ id: "p", status: from, revision: 7 })
    })
  }

  test("with a sentence that names what is still open", () => {
    const moved = move({ id: "0198", status: "waiting_for_return", revision: 1 }, "processed")
    expect(moved.ok ? "" : moved.refusal.message).toBe(
      "Cannot move to processed: pass 0198 is waiting_for_return and can only become returned or timed_out or cancelled.",
    )
    expect(moved.ok ? {} : moved.refusal.detail.allowed).toEqual(["returned", "timed_out", "cancelled"])
  })

  test("with a sentence that says that it is over", () => {
    const moved = move({ id: "0198", status: "timed_out", revision: 3 }, "returned")
    expect(moved.ok ? "" : moved.refusal.message).toBe("Cannot move to returned: pass 0198 has ended: it is timed_out.")
    expect(moved.ok ? {} : moved.refusal.detail.allowed).toEqual([])
  })
})

test("three states are ends, and until something came back a pass is open", () => {
  expect(STATES.filter(ended)).toEqual(["processed", "timed_out", "cancelled"])
  expect(STATES.filter(open)).toEqual(["initial", "waiting_for_return"])
})

test("no walk through the states is longer than three moves, so every pass comes to an end", () => {
  const walks = (from: ReturnStatus): ReturnStatus[][] => {
    const next = STATES.filter((to) => move({ id: "p", status: from, revision: 0 }, to).ok)
    return next.length === 0 ? [[from]] : next.flatMap((to) => walks(to).map((rest) => [from, ...rest]))
  }
  const all = walks("initial")
  expect(Math.max(...all.map((walk) => walk.length))).toBe(4)
  expect(all.every((walk) => ended(walk.at(-1)!))).toBe(true)
})

describe("the return context as it is kept", () => {
  const whole = {
    session_id: "ses_1",
    return_id: `ret_${"0".repeat(32)}`,
    originating_agent_id: "alice",
    subagent_id: "audit",
    pass_over_id: PASS,
    auto_return_enabled: true,
    auto_apply_enabled: false,
    return_deadline: NOW + 60_000,
    chain_depth: 1,
    max_chain_depth: 3,
    ancestors: ["alice", "scout", "audit"],
    status: "returned",
    created_at: NOW,
    returned_at: NOW + 1,
    pending_work_output: output(),
    processing_errors: ["the originator's session was gone"],
    revision: 2,
  }

  test("holds every field of the architecture, §4.1", () => {
    expect(ReturnToContext.parse(whole)).toEqual(whole as ReturnToContext)
  })

  test("does without the fields that §4.1 makes optional, and without no other", () => {
    const optional = ["return_deadline", "returned_at", "pending_work_output", "processing_errors"]
    const dispensable = Object.keys(whole).filter((key) => {
      const { [key as keyof typeof whole]: _left, ...rest } = whole
      return ReturnToContext.safeParse(rest).success
    })
    expect(dispensable.toSorted()).toEqual(optional.toSorted())
  })

  test("takes no field that nobody knows", () => {
    expect(ReturnToContext.safeParse({ ...whole, note: "x" }).success).toBe(false)
  })
})
