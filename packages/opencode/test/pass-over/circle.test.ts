import { describe, expect, test } from "bun:test"
import { CIRCLES, watchCircles, type Turn } from "../../src/pass-over/domain/circle"
import { compare, words } from "../../src/pass-over/domain/circle-words"
import { corpus, judge, score } from "./support/circle-corpus"
import { bash, call, createDraw, source } from "./support/circle-draw"
import { HONEST } from "./support/circle-honest"
import { LOOPS } from "./support/circle-loops"

// The rules and weights were set on seed 1. No other seed was looked at kind by kind.
const HELD_OUT = 2
const EACH = 100

const watched = (turns: readonly Turn[]) => judge({ kind: "", loop: true, steps: turns.map((turn) => [turn]) })
const times = (count: number, make: (index: number) => Turn | Turn[]) =>
  Array.from({ length: count }, (_, index) => [make(index)].flat()).flat()

describe("on sessions that were not used to set the rules", () => {
  const result = score(HELD_OUT, EACH)

  test("the corpus holds enough kinds of both", () => {
    expect(Object.keys(LOOPS).length).toBeGreaterThanOrEqual(12)
    expect(Object.keys(HONEST).length).toBeGreaterThanOrEqual(16)
    expect(result.rows.every(({ sessions }) => sessions === EACH)).toBe(true)
  })

  test("precision is at least 0.95 and recall at least 0.9", () => {
    expect(result.precision).toBeGreaterThanOrEqual(0.95)
    expect(result.recall).toBeGreaterThanOrEqual(0.9)
  })

  test("no kind is given up: each loop is mostly found, each honest work mostly left alone", () => {
    const weak = result.rows.filter(({ loop, told, sessions }) =>
      loop ? told < sessions * 0.8 : told > sessions * 0.05,
    )
    expect(weak).toEqual([])
  })

  test("honest work is never ended", () => {
    expect(result.rows.filter(({ loop, ended }) => !loop && ended > 0)).toEqual([])
  })

  test("what is named is what was planted", () => {
    for (const session of corpus(HELD_OUT, 10)) {
      if (session.kind !== "verbatim") continue
      const last = session.steps.at(-1)![0]!
      expect(judge(session).what).toStartWith(`${last.tool} ${last.input.slice(0, 40)}`)
    }
  })
})

test("the same corpus comes from the same seed, another from another", () => {
  const text = (seed: number) => JSON.stringify([...corpus(seed, 1)])
  expect(text(3)).toBe(text(3))
  expect(text(3)).not.toBe(text(4))
})

describe("call and answer together", () => {
  test("the same call with the same answer is told the fourth time", () => {
    expect(watched(times(9, () => call("glob", { pattern: "x" }, "No files found")))).toMatchObject({
      told: 4,
      ended: 8,
    })
  })

  test("the same call with other answers is work", () => {
    expect(watched(times(40, (index) => bash("cat log", `${index} lines so far`)))).toEqual({})
  })

  test("another object with the same answer is work", () => {
    expect(
      watched(times(40, (index) => call("write", { filePath: `src/probe${index}.txt` }, "Wrote file successfully."))),
    ).toEqual({})
  })

  test("the order of a call's fields is nothing", () => {
    const turns = times(4, (index) =>
      call("grep", index % 2 === 0 ? { pattern: "x", path: "src" } : { path: "src", pattern: "x" }, "No files found"),
    )
    expect(watched(turns).told).toBe(4)
  })

  test("a failure is another answer than a success of the same words", () => {
    expect(watched(times(6, (index) => call("x", {}, "done as far as it goes", index % 2 === 0)))).toEqual({})
  })

  test("calls of one step count once: none of them knew the answer of another", () => {
    const turn = call("glob", { pattern: "x" }, "No files found")
    const batch = Array.from({ length: 3 }, () => Array.from({ length: 10 }, () => turn))
    expect(judge({ kind: "", loop: false, steps: batch })).toEqual({})
  })
})

describe("changes in between", () => {
  const edit = (index: number) =>
    call(
      "edit",
      { filePath: `src/${index}.ts`, oldString: `a${index}`, newString: `b${index}` },
      "Edit applied successfully.",
    )

  test("after a change the same complaint counts half, and all being well counts nothing", () => {
    const rounds = (output: string) => times(30, (index) => [edit(index), bash("bun test", output)])
    expect(watched(rounds("12 pass\n0 fail"))).toEqual({})
    expect(watched(rounds("11 pass\n1 fail")).told).toBe(20)
  })

  test("a change that failed is none", () => {
    const turns = times(6, (index) => [
      { ...edit(index), failed: true, output: `no ${index}` },
      bash("bun test", "1 fail"),
    ])
    expect(watched(turns).told).toBeLessThanOrEqual(10)
  })

  test("a complaint that only moved to another line is the same after a small change", () => {
    const line = "const total = items.reduce((sum, item) => sum + item.price, start)"
    const turns = times(14, (index) => [
      call(
        "edit",
        { filePath: "a.ts", oldString: line, newString: `${line} // ${"try ".repeat(index % 5)}${index}` },
        "Edit applied.",
      ),
      bash("bun a.ts", `a.ts:${3 + index}:7\nTypeError: undefined is not an object, evaluating items.reduce`),
    ])
    expect(watched(turns).told).toBeDefined()
  })
})

describe("what is left out of an answer", () => {
  const key = (text: string) => words(text, "without ids").key
  test.each([
    ["2026-01-02T03:04:05.678Z failed", "2026-11-12T13:14:15Z failed"],
    ["[10:11:12] failed", "[22:01:59] failed"],
    ["failed in 3.21s", "failed in 128ms"],
    ["failed after 3 seconds", "failed after 14 seconds"],
    ["pid 123 failed", "pid 4567 failed"],
    ["commit 0a1b2c3d4e failed", "commit ffeedd0011 failed"],
    ["at 1763479999 failed", "at 1763480123456 failed"],
    ["id 0191c3de-0000-7000-8000-000000000001", "id 0191c3de-0000-7000-8000-00000000abcd"],
    ["see /tmp/out.1", "see /tmp/out.2"],
    ["Attempt 3 failed", "Attempt 4 failed"],
  ])("%s is %s", (a, b) => expect(key(a)).toBe(key(b)))

  test.each([
    ["41 of 100 done", "42 of 100 done"],
    ["3 min left", "2 min left"],
    ["a.ts:12:5 error", "a.ts:13:5 error"],
    ["is pending", "is done"],
    ["Received: 3", "Received: 4"],
  ])("%s is not %s", (a, b) => expect(key(a)).not.toBe(key(b)))

  test("in a call, an id is what it is about", () => {
    const id = (text: string) => words(text, "with ids").key
    expect(id("git show 0a1b2c3d4e")).not.toBe(id("git show ffeedd0011"))
    expect(id("curl x?ts=1763479999")).toBe(id("curl x?ts=1763480000"))
  })
})

test("two bags differ by their words", () => {
  const bag = (text: string) => words(text, "without ids").bag
  expect(compare(bag("red green blue"), bag("green blue red"), "end")).toMatchObject({ shared: 3, left: 0, right: 0 })
  expect(compare(bag("red green"), bag("red 17"), "end")).toEqual({
    shared: 1,
    left: 1,
    right: 1,
    news: true,
    moved: false,
  })
})

describe("hostile and huge turns", () => {
  const draw = createDraw(1)
  const evil = [
    "a".repeat(200_000),
    ":".repeat(50_000),
    `${" ".repeat(100_000)}x`,
    "1a".repeat(60_000),
    ' -m "\\'.repeat(20_000),
    "; echo ".repeat(20_000),
    "[".repeat(100_000),
    "\u0000\ud800",
    "",
    '{"command":5}',
    "null",
    source(draw, 3_000).join("\n"),
  ]

  test("any text is read, as call or as answer, and found again", () => {
    for (const text of evil) {
      const turn = { tool: "bash", input: JSON.stringify({ command: text }), output: text, failed: false }
      expect([text.slice(0, 9), watched(times(4, () => turn)).told]).toEqual([text.slice(0, 9), 4])
      const raw = { ...turn, input: text }
      expect(watched(times(4, () => raw)).told).toBe(4)
    }
  })

  test("huge contents that differ only where nobody reads are told apart by their length", () => {
    const body = "x ".repeat(40_000)
    const turns = times(12, (index) =>
      call("write", { filePath: "a.ts", content: body + "y".repeat(index) + body }, "Wrote file successfully."),
    )
    expect(watched(turns)).toEqual({})
  })

  test("what lies too far back is forgotten", () => {
    const circles = watchCircles({ ...CIRCLES, deeds: 5, fade: 1 })
    const turn = call("glob", { pattern: "x" }, "No files found")
    const found = times(40, (index) =>
      index % 8 === 0 ? turn : call("read", { filePath: `${index}` }, `${index}`),
    ).map((one) => {
      circles.step()
      return circles.next(one)
    })
    expect(found.filter(Boolean)).toEqual([])
  })
})
