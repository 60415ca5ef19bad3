import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import { aggregate, impossible, passes, ruleName, type AggregationRule } from "../../../src/pass-over/handoff/aggregate"
import {
  Envelope,
  EnvelopeDraft,
  envelopeFile,
  envelopeProblems,
  improved,
  scoreOf,
} from "../../../src/pass-over/handoff/envelope"
import { SEED } from "./generated"

const meta = { step_id: "implement", flow_key: "build", agent_key: "implementer", timestamp: "2024-01-15T14:30:00Z" }

const implementer = {
  summary: {
    what_i_did: "Implemented REQ-001 through REQ-005",
    evidence: {
      artifacts_produced: ["src/auth.py", "tests/test_auth.py"],
      commands_run: ["pytest tests/test_auth.py -v"],
    },
  },
  status: "UNVERIFIED",
  routing: { recommendation: "CONTINUE", reason: "Ready for review" },
}
const loop = {
  summary: { what_i_found: "3 issues found" },
  concerns: [
    {
      severity: "HIGH",
      description: "Missing input validation",
      location: "src/auth.py:42",
      recommendation: "Add validation before database query",
    },
  ],
  status: "UNVERIFIED",
  routing: {
    recommendation: "LOOP",
    can_further_iteration_help: true,
    reason: "Issues are fixable, iteration will help",
  },
}
const exit = {
  summary: { what_i_found: "Implementation meets requirements" },
  concerns: [],
  status: "VERIFIED",
  routing: { recommendation: "CONTINUE", can_further_iteration_help: false, reason: "No issues found" },
}

const paths = (value: unknown) => envelopeProblems(EnvelopeDraft.parse(value)).map(({ path }) => path)

describe("the examples of the document", () => {
  test("each role's envelope is taken as a worker writes it", () => {
    for (const example of [implementer, loop, exit]) expect(EnvelopeDraft.safeParse(example).success).toBe(true)
    expect(paths(implementer)).toEqual([])
  })

  test("the whole structure is taken once everything is filled in", () => {
    const { summary, ...rest } = EnvelopeDraft.parse(implementer)
    expect(Envelope.safeParse({ ...rest, meta, summary }).success).toBe(true)
    expect(Envelope.safeParse({ ...rest, summary }).success).toBe(false)
    expect(Envelope.safeParse({ ...rest, meta, summary, mood: 1 }).success).toBe(false)
  })

  test("evidence pointers are required: a VERIFIED that points at nothing is refused", () => {
    expect(paths(exit)).toEqual(["summary.evidence"])
    const pointed = { ...exit, summary: { ...exit.summary, evidence: { commands_run: ["pytest"] } } }
    expect(paths(pointed)).toEqual([])
  })

  test("files stand where the document puts them", () => {
    expect(envelopeFile(meta)).toBe("implement-implementer.json")
    expect(envelopeFile(meta, { draft: true })).toBe("implement-implementer.draft.json")
    expect(envelopeFile(meta, { round: 2 })).toBe("implement-implementer.2.json")
  })
})

describe("the rules", () => {
  test("what contradicts itself is refused", () => {
    expect(
      paths({ ...loop, status: "VERIFIED", summary: { ...loop.summary, evidence: { commands_run: ["x"] } } }),
    ).toContain("status")
    expect(paths({ ...implementer, status: "BLOCKED" })).toEqual(["routing.recommendation"])
    expect(paths({ ...loop, routing: { ...loop.routing, can_further_iteration_help: false } })).toContain(
      "routing.recommendation",
    )
    expect(paths({ ...implementer, summary: {} })).toContain("summary")
  })

  test("no key becomes a path out of its folder", () => {
    for (const key of ["../x", "a/b", "", ".", "..", "a\\b", "\u0000"])
      expect(Envelope.shape.meta.safeParse({ ...meta, step_id: key }).success).toBe(false)
  })

  test("improvement is fewer of the worst that differ", () => {
    const score = (high: number, medium: number, low: number) => ({ high, medium, low })
    expect(improved(score(2, 0, 0), score(1, 5, 5))).toBe(true)
    expect(improved(score(1, 5, 5), score(1, 4, 9))).toBe(true)
    expect(improved(score(1, 1, 1), score(1, 1, 1))).toBe(false)
    expect(improved(score(0, 0, 1), score(0, 1, 0))).toBe(false)
    expect(scoreOf(EnvelopeDraft.parse(loop).concerns)).toEqual(score(1, 0, 0))
  })

  test("a loop that improves each round ends: no two rounds can each be better than the other", () => {
    const score = fc.record({ high: fc.nat(5), medium: fc.nat(5), low: fc.nat(5) })
    fc.assert(
      fc.property(score, score, (a, b) => {
        expect(improved(a, b) && improved(b, a)).toBe(false)
      }),
      SEED,
    )
  })
})

describe("aggregation", () => {
  const votes = (...yes: boolean[]) => yes.map((passed) => ({ passed }))
  const TABLE: [AggregationRule, { passed: boolean; weight?: number }[], boolean][] = [
    ["all", votes(true, true), true],
    ["all", votes(true, false), false],
    ["any", votes(false, true), true],
    ["any", votes(false, false), false],
    ["majority", votes(true, true, false), true],
    ["majority", votes(true, false), false],
    [{ quorum: 2 }, votes(true, true, false), true],
    [{ quorum: 2 }, votes(true, false, false), false],
    [
      { weighted: 0.3 },
      [
        { passed: true, weight: 0.1 },
        { passed: true, weight: 0.2 },
        { passed: false, weight: 9 },
      ],
      true,
    ],
    [
      { weighted: 3 },
      [
        { passed: true, weight: 2 },
        { passed: false, weight: 5 },
      ],
      false,
    ],
    ["all", [], false],
  ]
  for (const [rule, given, expected] of TABLE)
    test(`${ruleName(rule)} over ${given.map(({ passed }) => (passed ? "yes" : "no")).join(" ") || "nobody"} is ${expected}`, () => {
      expect(passes(rule, given)).toBe(expected)
    })

  test("says what it counted", () => {
    const result = (task_id: string, passed: boolean) => ({
      task_id,
      type: "validate",
      passed,
      summary: "x",
      details: {},
    })
    expect(aggregate({ quorum: 2 }, [result("a", true), result("b", false), result("c", true)]).aggregation).toEqual({
      total: 3,
      passed: 2,
      failed: 1,
      rule: "quorum 2",
      overall_passed: true,
    })
  })

  test("a rule that can never pass is found before anything runs", () => {
    expect(impossible({ quorum: 4 }, [{}, {}, {}])).toContain("a quorum of 4")
    expect(impossible({ weighted: 4 }, [{ weight: 1 }, { weight: 2 }])).toContain("are 3")
    expect(impossible("all", [{}])).toBeUndefined()
  })

  test("more yes never makes a pass into a failure", () => {
    const rule = fc.oneof(
      fc.constantFrom<AggregationRule>("all", "any", "majority"),
      fc.integer({ min: 1, max: 5 }).map((quorum) => ({ quorum })),
      fc.integer({ min: 1, max: 9 }).map((weighted) => ({ weighted })),
    )
    const vote = fc.record({ passed: fc.boolean(), weight: fc.integer({ min: 1, max: 3 }) })
    fc.assert(
      fc.property(rule, fc.array(vote, { minLength: 1, maxLength: 6 }), fc.nat(5), (by, given, index) => {
        const more = given.map((each, at) => (at === index % given.length ? { ...each, passed: true } : each))
        expect(!passes(by, given) || passes(by, more)).toBe(true)
      }),
      SEED,
    )
  })
})
