import { describe, expect, test } from "bun:test"
import { findings } from "../../src/pass-over/domain/finding-text"
import { part } from "./sample"

const found = (text: string) => findings(part({ type: "text", text }))

describe("a finding is found", () => {
  test("with its severity, its place and its message", () => {
    expect(found("FINDING (error): src/total.ts:12:3 sums the wrong column")).toEqual([
      {
        type: "finding",
        severity: "error",
        category: "general",
        message: "sums the wrong column",
        location: { path: "src/total.ts", line: 12, column: 3 },
      },
    ])
  })

  const DRESSED: [string, string][] = [
    ["- **FINDING**: error src/a.ts:1 - wrong", "error src/a.ts:1 wrong"],
    ["> Finding [info]: a remark", "info : a remark"],
    ["finding: `src/a b.ts` is odd", "warning : `src/a b.ts` is odd"],
    ["1. FINDING: nothing", ""],
    ["FINDING: src/a.ts:0 zero is no line", "warning src/a.ts zero is no line"],
    ["FINDING - warning: a/b.tsx:9: too long\r", "warning a/b.tsx:9 too long"],
  ]
  for (const [text, wanted] of DRESSED) {
    test(`in ${JSON.stringify(text)}`, () => {
      const [one] = found(text)
      const place = one?.location ? `${one.location.path}${one.location.line ? `:${one.location.line}` : ""}` : ":"
      expect(one ? `${one.severity} ${place} ${one.message}` : "").toBe(wanted)
    })
  }
})

test("a finding is not found in prose, in what we wrote, without a message, or in other parts", () => {
  for (const text of ["I am finding it hard: yes", "findings: 3", "FINDING:", "FINDING: src/a.ts:3", ""]) {
    expect(found(text)).toEqual([])
  }
  expect(findings(part({ text: "FINDING: x y", synthetic: true }))).toEqual([])
  expect(findings(part({ type: "tool", text: "FINDING: x y" }))).toEqual([])
})

test("a hostile megabyte is read in time", () => {
  const MB = 1_000_000
  for (const text of [
    `FINDING${"*".repeat(MB)}`,
    `FINDING: ${"a.".repeat(MB / 2)}`,
    `FINDING: ${"a/".repeat(MB / 2)} x`,
    `${"*".repeat(MB)}FINDIN`,
    "FINDING: x y\n".repeat(MB / 13),
    `FINDING:${" ".repeat(MB)}`,
  ]) {
    const began = performance.now()
    found(text)
    expect(performance.now() - began).toBeLessThan(400)
  }
})
