import { describe, expect, test } from "bun:test"
import { assert, constantFrom, property } from "fast-check"
import {
  AuditAction,
  AuditLine,
  canonical,
  GENESIS,
  PassOverAuditEntry,
  type Unchained,
} from "../../src/pass-over/domain/audit-log"
import { NOW, PASS } from "./sample"

const entry = {
  pass_over_id: PASS,
  session_id: "ses_1",
  timestamp: NOW,
  originating_agent: "alice",
  subagent: "audit",
  user_id: "ada",
  reason: "review_changes",
  work_context_size_bytes: 1_024,
  expected_output_type: "mixed",
  started_at: NOW - 41_000,
  completed_at: NOW,
  duration_ms: 41_000,
  status: "completed" as const,
  artifacts_count: 3,
  files_modified_count: 1,
  issues_found_count: 2,
  returned: true,
  returned_at: NOW,
  applied: true,
  applied_by: "ada",
  policy_applied: "alice->audit",
  policy_overrides: { timeout_ms: 90_000 },
  summary: "needs_modification",
}

const unchained: Unchained = {
  ...entry,
  seq: 1,
  action: "returned",
  actor: "audit",
  error_code: null,
  decision: null,
  detail: null,
}
const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex")

describe("an audit entry", () => {
  test("has exactly the fields of the architecture, §7.1", () => {
    expect(PassOverAuditEntry.parse(entry)).toEqual(entry)
    expect(Object.keys(PassOverAuditEntry.shape).toSorted()).toEqual(Object.keys(entry).toSorted())
    expect(PassOverAuditEntry.safeParse({ ...entry, note: "x" }).success).toBe(false)
  })

  test("says null where a pass never came, and leaves out nothing (decision 15)", () => {
    const nullable = ["user_id", "started_at", "completed_at", "duration_ms", "status", "returned_at", "applied_by"]
    const accepting = Object.keys(entry).filter(
      (key) => PassOverAuditEntry.safeParse({ ...entry, [key]: null }).success,
    )
    expect(accepting.toSorted()).toEqual(nullable.toSorted())
    const dispensable = Object.keys(entry).filter((key) => {
      const { [key as keyof typeof entry]: _left, ...rest } = entry
      return PassOverAuditEntry.safeParse(rest).success
    })
    expect(dispensable).toEqual([])
  })

  test("knows partial as a status", () => {
    const statuses = ["completed", "failed", "aborted", "partial"]
    expect(statuses.filter((status) => !PassOverAuditEntry.safeParse({ ...entry, status }).success)).toEqual([])
    expect(PassOverAuditEntry.safeParse({ ...entry, status: "returned" }).success).toBe(false)
  })
})

test("a line names what happened, who did it and where it stands in its session", () => {
  const line = { ...unchained, prev: GENESIS, hash: "0" }
  expect(AuditLine.parse(line)).toEqual(line)
  expect(AuditLine.safeParse({ ...line, actor: "" }).success).toBe(false)
  expect(AuditLine.safeParse({ ...line, seq: 0 }).success).toBe(false)
  expect(AuditAction.options.filter((action) => !AuditLine.safeParse({ ...line, action }).success)).toEqual([])
  expect(AuditLine.safeParse({ ...line, action: "deleted" }).success).toBe(false)
})

describe("what is hashed of a line", () => {
  test("is the line before it and every field, in one fixed order", () => {
    expect(canonical(unchained, "before")).toBe(
      JSON.stringify([
        "before",
        PASS,
        "ses_1",
        NOW,
        "alice",
        "audit",
        "ada",
        "review_changes",
        1_024,
        "mixed",
        NOW - 41_000,
        NOW,
        41_000,
        "completed",
        3,
        1,
        2,
        true,
        NOW,
        true,
        "ada",
        "alice->audit",
        { timeout_ms: 90_000 },
        "needs_modification",
        1,
        "returned",
        "audit",
        null,
        null,
        null,
      ]),
    )
  })

  test("does not depend on the order in which a store keeps keys, at any depth", () => {
    const one = { ...unchained, policy_overrides: { b: 1, a: { d: [{ y: 1, x: 2 }], c: null } } }
    const other = {
      ...Object.fromEntries(Object.entries(one).toReversed()),
      policy_overrides: { a: { c: null, d: [{ x: 2, y: 1 }] }, b: 1 },
    }
    expect(canonical(other as unknown as Unchained, GENESIS)).toBe(canonical(one, GENESIS))
  })

  test("is the same after a line was written down and read back", () => {
    const read = JSON.parse(JSON.stringify({ ...unchained, prev: GENESIS, hash: "x" }))
    expect(canonical(AuditLine.parse(read), GENESIS)).toBe(canonical(unchained, GENESIS))
  })

  test("does not hold the hash itself, nor another word for the line before", () => {
    expect(canonical({ ...unchained, prev: "x", hash: "y" } as Unchained, GENESIS)).toBe(canonical(unchained, GENESIS))
  })

  test("keeps lists in their order: that is their meaning", () => {
    const list = (items: number[]) => canonical({ ...unchained, policy_overrides: { items } }, GENESIS)
    expect(list([1, 2])).not.toBe(list([2, 1]))
  })

  test("changes with every single field", () => {
    const changed: Record<string, unknown> = {
      timestamp: NOW + 1,
      status: null,
      returned: false,
      policy_overrides: {},
      action: "cancelled",
      seq: 2,
      error_code: "E010",
    }
    for (const key of Object.keys(unchained)) {
      const value = changed[key] ?? `${JSON.stringify(unchained[key as keyof Unchained])}0`
      expect(canonical({ ...unchained, [key]: value }, GENESIS)).not.toBe(canonical(unchained, GENESIS))
    }
  })

  test("cannot be shifted from one field into the next", () => {
    const a = canonical({ ...unchained, originating_agent: 'a","b', subagent: "c" }, GENESIS)
    const b = canonical({ ...unchained, originating_agent: "a", subagent: 'b","c' }, GENESIS)
    expect(a).not.toBe(b)
  })
})

describe("the chain of a session", () => {
  const chain = (lines: readonly Unchained[]): AuditLine[] => {
    const done: AuditLine[] = []
    for (const line of lines) {
      const prev = done.at(-1)?.hash ?? GENESIS
      done.push({ ...line, prev, hash: sha256(canonical(line, prev)) })
    }
    return done
  }
  /** The first line that does not follow from the one before it. */
  const broken = (lines: readonly AuditLine[]) =>
    lines.findIndex(
      (line, index) =>
        line.prev !== (lines[index - 1]?.hash ?? GENESIS) || line.hash !== sha256(canonical(line, line.prev)),
    )
  const whole = chain([1, 2, 3, 4].map((seq) => ({ ...unchained, seq })))

  test("begins with nothing before it and holds together", () => {
    expect(whole[0]?.prev).toBe("0".repeat(64))
    expect(broken(whole)).toBe(-1)
  })

  test("shows an edited line, a missing one, and two that changed places", () => {
    expect(broken(whole.map((line) => (line.seq === 2 ? { ...line, applied: false } : line)))).toBe(1)
    expect(broken(whole.filter((line) => line.seq !== 3))).toBe(2)
    expect(broken([whole[0]!, whole[2]!, whole[1]!, whole[3]!])).toBe(1)
    expect(broken(whole.slice(1))).toBe(0)
  })

  test("shows a line that was edited and hashed again", () => {
    const [first, second, ...rest] = whole
    const forged = { ...second!, applied: false }
    expect(broken([first!, { ...forged, hash: sha256(canonical(forged, forged.prev)) }, ...rest])).toBe(2)
  })

  test("shows whatever single field of whatever single line was edited", () => {
    const fields = constantFrom(...(Object.keys(unchained) as (keyof Unchained)[]))
    assert(
      property(constantFrom(0, 1, 2, 3), fields, (at, field) => {
        const edited = whole.map((line, index) => (index === at ? { ...line, [field]: "edited" } : line))
        expect(broken(edited)).toBe(at)
      }),
      { numRuns: 500 },
    )
  })
})
