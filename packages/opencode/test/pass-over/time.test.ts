import { describe, expect, test } from "bun:test"
import { DurationMs, QueryTime, readable, Timestamp } from "../../src/pass-over/domain/time"

const FEBRUARY = Date.UTC(2024, 1, 1)

describe("a point in time", () => {
  test("is kept in milliseconds and taken in seconds too, as in the spec's examples", () => {
    expect(Timestamp.parse(1_700_000_000_000)).toBe(1_700_000_000_000)
    expect(Timestamp.parse(1_700_000_000)).toBe(1_700_000_000_000)
    expect(Timestamp.parse(1_700_000_000.123)).toBe(1_700_000_000_123)
    expect(Timestamp.parse(0)).toBe(0)
  })

  test("is in seconds below 10^11 and in milliseconds from there on", () => {
    expect(Timestamp.parse(99_999_999_999)).toBe(99_999_999_999_000)
    expect(Timestamp.parse(100_000_000_000)).toBe(100_000_000_000)
  })

  test("is no fraction, no text and not before 1970", () => {
    expect(Timestamp.parse(1_700_000_000_000.6)).toBe(1_700_000_000_001)
    for (const value of [-1, NaN, Infinity, "1700000000", null, undefined, new Date()]) {
      expect(Timestamp.safeParse(value).success).toBe(false)
    }
  })
})

describe("a time in a query", () => {
  const READ: [unknown, number][] = [
    [1_700_000_000, 1_700_000_000_000],
    [1_700_000_000_000, 1_700_000_000_000],
    ["1700000000", 1_700_000_000_000],
    ["1700000000000", 1_700_000_000_000],
    ["0", 0],
    ["2024-02-01", FEBRUARY],
    [" 2024-02-01 ", FEBRUARY],
    ["2024-02-29", FEBRUARY + 28 * 86_400_000],
    ["2024-02-01T00:00Z", FEBRUARY],
    ["2024-02-01T00:00:00Z", FEBRUARY],
    ["2024-02-01T00:00:00.250Z", FEBRUARY + 250],
    ["2024-02-01T02:00:00+02:00", FEBRUARY],
    ["2024-02-01T10:00:00", new Date(2024, 1, 1, 10).getTime()],
  ]
  for (const [input, time] of READ) {
    test(`may be ${JSON.stringify(input)}`, () => {
      expect(QueryTime.parse(input)).toBe(time)
    })
  }

  const REFUSED = [
    "",
    " ",
    "yesterday",
    "tomorrow 5",
    "x 2024",
    "-5",
    "1.5",
    "1e12",
    "2024-02-30",
    "2024-13-01",
    "2024-02-01T25:00Z",
    "12/31/2024",
  ]
  for (const input of [...REFUSED, "9".repeat(400), -1, null, undefined, true, {}]) {
    test(`may not be ${JSON.stringify(input)?.slice(0, 20)}`, () => {
      expect(QueryTime.safeParse(input).success).toBe(false)
    })
  }

  test("is refused with what may be sent instead", () => {
    const [issue] = QueryTime.safeParse("soon").error?.issues ?? []
    expect(issue?.message).toBe('Not a time: "soon". Send Unix milliseconds, seconds or ISO 8601.')
  })
})

test("a duration is whole milliseconds, at least one and at most a day", () => {
  expect([1, 30_000, 86_400_000].filter((ms) => !DurationMs.safeParse(ms).success)).toEqual([])
  const wrong = [0, -1, 1.5, 86_400_001, Infinity, NaN, "30s", null]
  expect(wrong.filter((ms) => DurationMs.safeParse(ms).success)).toEqual([])
})

test("a duration reads as people say it", () => {
  const SAID: [number, string][] = [
    [-5, "0 ms"],
    [0, "0 ms"],
    [250.4, "250 ms"],
    [999, "999 ms"],
    [1_000, "1.0 s"],
    [1_540, "1.5 s"],
    [10_000, "10 s"],
    [41_000, "41 s"],
    [59_499, "59 s"],
    [59_500, "1 min 00 s"],
    [125_000, "2 min 05 s"],
    [600_000, "10 min 00 s"],
    [3_599_999, "1 h 00 min"],
    [3_780_000, "1 h 03 min"],
    [86_400_000, "24 h 00 min"],
  ]
  expect(SAID.map(([ms]) => readable(ms))).toEqual(SAID.map(([, words]) => words))
})
