import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import { clean, cleanPatch, oneLine, safeJson } from "../../src/cli/clean"
import { fit, table } from "../../src/cli/table"

describe("a table", () => {
  const columns = [
    { title: "ID" },
    { title: "COST", align: "right", rank: 1 },
    { title: "OBJECTIVE", grow: true },
  ] as const

  test("lines its columns up and leaves no blanks behind", () => {
    expect(
      table(columns, [
        ["a", "$1.00", "short"],
        ["bcd", "$12.00", "a longer one"],
      ]),
    ).toEqual(["ID     COST  OBJECTIVE", "a     $1.00  short", "bcd  $12.00  a longer one"])
  })

  test("counts what a terminal shows, not what a text holds", () => {
    const lines = table(
      [{ title: "A" }, { title: "B" }],
      [
        ["日本", "x"],
        ["👩‍👩‍👧", "y"],
        ["e\u0301", "z"],
      ],
    )
    expect(lines.map((line) => Bun.stringWidth(line.slice(0, line.search(/[Bxyz]$/))))).toEqual([6, 6, 6, 6])
  })

  test("cuts the column that may grow, then leaves out what matters least", () => {
    const rows = [["abcdefgh", "$12.00", "an objective that is much longer than the line"]]
    expect(table(columns, rows, { width: 40 })[1]).toBe("abcdefgh  $12.00  an objective that is …")
    expect(table(columns, rows, { width: 24 })).toEqual(["ID        OBJECTIVE", "abcdefgh  an objective …"])
  })

  test("in a pipe is cut nowhere", () => {
    expect(table(columns, [["a", "", "x".repeat(500)]])[1]).toEndWith("x".repeat(500))
  })

  test("is never wider than the terminal, whatever is in it", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 60 })
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ maxLength: 8 }), text, text), { maxLength: 5 }),
        fc.integer({ min: 40, max: 120 }),
        (rows, width) => {
          const wide = [{ title: "ID" }, { title: "A", grow: true, rank: 1 }, { title: "B", grow: true }]
          for (const line of table(wide, rows, { width })) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(width)
        },
      ),
      { seed: 17, numRuns: 500 },
    )
  })

  test("is coloured after it was fitted", () => {
    const paint = (text: string) => `<${text}>`
    expect(
      table(
        [{ title: "S" }, { title: "T" }],
        [
          [{ text: "ok", paint }, "x"],
          [{ text: "failed", paint }, "y"],
        ],
      ),
    ).toEqual(["S       T", "<ok    >  x", "<failed>  y"])
  })
})

test("a text is cut to a width with a mark", () => {
  expect([fit("abc", 3), fit("abcd", 3), fit("日本語", 4), fit("abc", 1), fit("abc", 0)]).toEqual([
    "abc",
    "ab…",
    "日…",
    "…",
    "",
  ])
})

describe("text of somebody else", () => {
  const ATTACKS = [
    "\u001b[31mred\u001b[0m",
    "\u001b[2J\u001b[H",
    "\u001b]0;title\u0007",
    "\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\",
    "\u009b31m",
    "\u009d0;t\u009c",
    "a\rb",
    "a\bb",
    "\u202Eevil",
    "\u2066x\u2069",
    "a\u0000b",
    "\u200Bx",
    "\u001bPq\u001b\\",
    "\u001b",
    "\u001bc",
  ]

  test.each(ATTACKS)("can do nothing in a terminal: %j", (text) => {
    // eslint-disable-next-line no-control-regex
    const bad = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]/
    expect(clean(text)).not.toMatch(bad)
    expect(oneLine(text)).not.toMatch(bad)
    expect(safeJson({ [text]: text })).not.toMatch(bad)
    expect(JSON.parse(safeJson({ [text]: [text] }))).toEqual({ [text]: [text] })
  })

  test("keeps lines, and is one where one is wanted", () => {
    expect(clean("a\r\nb\tc\u2028d")).toBe("a\nb  cd")
    expect(oneLine(" a\n\n b ")).toBe("a b")
    expect(clean("👩‍👩‍👧 日本")).toBe("👩‍👩‍👧 日本")
    // Whoever decides about a patch sees what is hidden in it.
    expect(cleanPatch("@@ -1 +1 @@\n-a\u202eb\u001b[2J\n+ab\u3164\n")).toBe(
      "@@ -1 +1 @@\n-a<U+202E>b<U+001B>[2J\n+ab<U+3164>\n",
    )
    expect(cleanPatch("--- a\n+++ b\n@@ -1 +1 @@\n-a\r\n+a\n")).toContain("-a<U+000D>\n+a\n")
    expect(cleanPatch("--- a\n+++ b\n@@ -1 +1 @@\n-a\r\n+b\r\n")).toContain("-a\n+b\n")
  })
})
