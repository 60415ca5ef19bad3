import { describe, expect, test } from "bun:test"
import { array, assert, nat, property, record } from "fast-check"
import type { ContextMessage } from "../../src/pass-over/domain/context"
import { HistorySelector } from "../../src/history-selector"
import { select, SPEC_LIMIT } from "../../src/pass-over/domain/history-selector"
import { message, NOW, part } from "./sample"

const MINUTE = 60_000
const ids = (messages: ContextMessage[]) => messages.map(({ id }) => id).join(" ")

/** Messages "1" to "n", one a minute, the last one now. */
const history = (length: number) =>
  Array.from({ length }, (_, index) =>
    message({ id: String(index + 1), timestamp: NOW - (length - 1 - index) * MINUTE }),
  )

/** Every message counts as many tokens as its text is long. */
const count = ({ parts }: ContextMessage) => parts.reduce((sum, { text }) => sum + (text?.length ?? 0), 0)

describe("a call without any limit", () => {
  test("gets the limits of the architecture, §6.2", () => {
    expect(SPEC_LIMIT).toEqual({ max_messages: 20, max_tokens: 50_000, lookback_minutes: 60 })
    expect(HistorySelector.select(history(25), { now: NOW })).toHaveLength(20)
  })

  test("looks back 60 minutes and not one millisecond more", () => {
    const at = (ago: number) => message({ id: String(ago), timestamp: NOW - ago })
    const messages = [at(60 * MINUTE + 1), at(60 * MINUTE), at(0)]
    expect(ids(HistorySelector.select(messages, { now: NOW }))).toBe("3600000 0")
  })

  test("takes no more than 50,000 tokens, a byte being counted as one", () => {
    const big = (id: string) => message({ id, parts: [part({ text: "x".repeat(24_900) })] })
    expect(ids(HistorySelector.select([big("1"), big("2"), big("3")], { now: NOW }))).toBe("2 3")
  })

  test("measures the window from the present where it is told no other time", () => {
    const at = (ago: number) => message({ id: String(ago), timestamp: Date.now() - ago * MINUTE })
    expect(ids(HistorySelector.select([at(90), at(61), at(59)]))).toBe("59")
    expect(HistorySelector.select([at(90), at(61)])).toEqual([])
    expect(HistorySelector.select([])).toEqual([])
  })

  test("has no clock in the core: there the newest message is the present", () => {
    expect(select(history(70))).toHaveLength(20)
    const messages = [message({ id: "old", timestamp: NOW - 61 * MINUTE }), message({ id: "new", timestamp: NOW })]
    expect(ids(select(messages))).toBe("new")
    expect(select([])).toEqual([])
  })
})

describe("a limit", () => {
  test("on messages keeps the most recent", () => {
    expect(ids(HistorySelector.select(history(5), { max_messages: 2, now: NOW }))).toBe("4 5")
    expect(ids(HistorySelector.select(history(3), { max_messages: 9, now: NOW }))).toBe("1 2 3")
  })

  test("of no messages, or of no tokens, is none, as in the architecture's own code", () => {
    expect(HistorySelector.select(history(25), { max_messages: 0, now: NOW })).toHaveLength(25)
    const big = message({ parts: [part({ text: "x".repeat(60_000) })] })
    expect(HistorySelector.select([big], { now: NOW })).toHaveLength(0)
    expect(HistorySelector.select([big], { max_tokens: 0, now: NOW })).toHaveLength(1)
  })

  test("on time keeps what is young enough", () => {
    expect(ids(HistorySelector.select(history(5), { lookback_minutes: 2, now: NOW }))).toBe("3 4 5")
    expect(ids(HistorySelector.select(history(5), { lookback_minutes: 2, now: NOW + 3 * MINUTE }))).toBe("")
    expect(ids(HistorySelector.select(history(5), { lookback_minutes: 0, now: NOW }))).toBe("5")
  })

  test("on tokens keeps the most recent that fit, whole, and stops at the first that does not", () => {
    const sized = (id: string, size: number) => message({ id, parts: [part({ text: "x".repeat(size) })] })
    const messages = [sized("1", 1), sized("2", 50), sized("3", 10), sized("4", 10)]
    const select = (max_tokens: number) => ids(HistorySelector.select(messages, { max_tokens, count, now: NOW }))
    expect(select(71)).toBe("1 2 3 4")
    expect(select(70)).toBe("2 3 4")
    expect(select(69)).toBe("3 4")
    expect(select(20)).toBe("3 4")
    expect(select(19)).toBe("4")
    expect(select(9)).toBe("")
    expect(select(-1)).toBe("")
  })

  test("that is given leaves the others as they are (decision 22); Infinity leaves one open", () => {
    const [old, big] = [history(200), message({ parts: [part({ text: "x".repeat(30_000) })] })]
    expect(HistorySelector.select(old, { max_tokens: 1_000_000, now: NOW })).toHaveLength(20)
    expect(HistorySelector.select(old, { max_messages: 100, now: NOW })).toHaveLength(61)
    expect(HistorySelector.select([big, big], { lookback_minutes: 5, now: NOW })).toHaveLength(1)
    const open = { max_messages: Infinity, max_tokens: Infinity, lookback_minutes: Infinity }
    expect(HistorySelector.select([...old, big, big], { ...open, now: NOW + 1e12 })).toHaveLength(202)
  })
})

test("times may be in seconds, and are looked at as what they are (decision 5)", () => {
  const seconds = (ago: number) => message({ id: String(ago), timestamp: NOW / 1_000 - ago * 60 })
  const messages = [seconds(90), seconds(30), message({ id: "now", timestamp: NOW })]
  expect(ids(HistorySelector.select(messages, { now: NOW }))).toBe("30 now")
  expect(ids(HistorySelector.select(messages, { now: NOW / 1_000 }))).toBe("30 now")
})

test("a message in another script is never counted as less than it is", () => {
  // Four bytes each in UTF-8, and byte-level encodings make up to one token of each.
  const messages = [message({ parts: [part({ text: "𓀀".repeat(100) })] })]
  expect(HistorySelector.select(messages, { max_tokens: 399, now: NOW })).toEqual([])
})

describe("whatever the history and the limits are", () => {
  const messages = array(record({ ago: nat(120), size: nat(40) }), { maxLength: 40 }).map((all) =>
    all
      .toSorted((a, b) => b.ago - a.ago)
      .map(({ ago, size }, index) =>
        message({
          id: String(index),
          timestamp: NOW - ago * MINUTE,
          parts: [part({ text: "x".repeat(size) })],
        }),
      ),
  )
  const limit = record(
    { max_messages: nat(45), max_tokens: nat(500), lookback_minutes: nat(120) },
    { requiredKeys: [] },
  )

  test("what is selected is the end of the history, in order, within every limit, and could not be longer", () => {
    assert(
      property(messages, limit, (all, given) => {
        const bound = { ...SPEC_LIMIT, ...given }
        const fits = (some: readonly ContextMessage[]) =>
          some.length <= (bound.max_messages || Infinity) &&
          some.reduce((sum, one) => sum + count(one), 0) <= (bound.max_tokens || Infinity) &&
          some.every(({ timestamp }) => timestamp >= NOW - bound.lookback_minutes * MINUTE)
        const kept = HistorySelector.select(all, { ...given, now: NOW, count })
        expect(ids(kept)).toBe(ids(all.slice(all.length - kept.length)))
        expect(fits(kept)).toBe(true)
        if (kept.length < all.length) expect(fits(all.slice(all.length - kept.length - 1))).toBe(false)
      }),
      { numRuns: 3_000 },
    )
  })

  test("the history itself is not changed", () => {
    assert(
      property(messages, limit, (all, given) => {
        const before = JSON.stringify(all)
        HistorySelector.select(all, { ...given, now: NOW })
        expect(JSON.stringify(all)).toBe(before)
      }),
      { numRuns: 200 },
    )
  })
})
