import { describe, expect, test } from "bun:test"
import { assert, constantFrom, integer, property, string } from "fast-check"
import { besides, inside, room, rowsOf, short, view, wrap } from "../src/lines"

const text = string({ unit: constantFrom("a", "b", " ", "\n", "日本", "é", "👩‍👩‍👧", "longword") })

describe("text is put into rows", () => {
  test("between words, and inside of one only where it is wider than a row", () => {
    expect(wrap("the sums go the wrong way", 10)).toEqual(["the sums", "go the", "wrong way"])
    expect(wrap("src/a/very/long/path.ts:12 here", 10)).toEqual(["src/a/very", "/long/path", ".ts:12", "here"])
    expect(wrap("one\n\n\n\ntwo", 10)).toEqual(["one", "", "two"])
  })

  test("none wider than there is room, and no letter lost, whatever it is", () => {
    assert(
      property(text, integer({ min: 2, max: 40 }), (given, width) => {
        const rows = wrap(given, width)
        for (const row of rows) expect(Bun.stringWidth(row)).toBeLessThanOrEqual(width)
        expect(rows.join("").replaceAll(/\s/g, "")).toBe(given.replaceAll(/\s/g, ""))
      }),
      { seed: 7, numRuns: 500 },
    )
  })

  test("below their heading, each section apart from the one before", () => {
    const line = (text: string, indent = 0) => ({ text, tone: "text" as const, indent })
    const rows = rowsOf(
      [
        { title: "Asked for", lines: [line("the sums")] },
        { title: "Found", lines: [line("it subtracts always", 1)] },
      ],
      14,
    )
    expect(rows.map((row) => [row.text, row.heading])).toEqual([
      ["Asked for", true],
      ["the sums", false],
      ["", false],
      ["Found", true],
      ["  it subtracts", false],
      ["  always", false],
    ])
  })

  test("and not without end", () => {
    const lines = Array.from({ length: 5_000 }, () => ({ text: "x", tone: "text" as const, indent: 0 }))
    expect(rowsOf([{ title: "", lines }], 40)).toHaveLength(2_001)
  })
})

test("text is cut to its columns with a mark, and never beyond them", () => {
  expect(short("the sums", 8)).toBe("the sums")
  expect(short("the sums go", 8)).toBe("the sum…")
  expect([short("x", 0), short("xx", 1)]).toEqual(["", ""])
  assert(
    property(text, integer({ min: 0, max: 40 }), (given, columns) =>
      expect(Bun.stringWidth(short(given.replaceAll("\n", ""), columns))).toBeLessThanOrEqual(columns),
    ),
    { seed: 7, numRuns: 500 },
  )
})

test("what is seen never runs past either end", () => {
  expect(view(50, 20, -3)).toEqual({ first: 0, end: 20, more: true })
  expect(view(50, 20, 45)).toEqual({ first: 30, end: 50, more: true })
  expect(view(5, 20, 3)).toEqual({ first: 0, end: 5, more: false })
})

test("a dialog fits its terminal, from the smallest to a large one", () => {
  for (const rows of [10, 24, 40, 60]) expect(room(rows) + Math.floor(rows / 4)).toBeLessThanOrEqual(Math.max(rows, 5))
  expect([inside("large", 60), inside("large", 200), inside("medium", 200)]).toEqual([50, 80, 52])
  expect(besides(60, "alice → audit", "refused E004")).toBe(22)
  expect(besides(20, "a".repeat(30), "")).toBe(0)
})
