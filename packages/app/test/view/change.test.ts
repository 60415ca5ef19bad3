import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import * as change from "../../src/components/pass-over-change-view"

describe("a change", () => {
  const PATCH = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -9 +9 @@\n-c\n+C\n"
  const file = (taken: "all" | "none" | number[]) => ({ path: "x", taken, hunks: 2 })

  test("is shown hunk by hunk, each line with its numbers", () => {
    expect(
      change
        .hunks(PATCH)
        .map(({ number, lines }) => [
          number,
          lines.map((line) => `${line.old ?? ""}:${line.new ?? ""}${line.sign}${line.text}`).join("|"),
        ]),
    ).toEqual([
      [1, ":@@@ -1,2 +1,2 @@|1:1 a|2:-b|:2+B"],
      [2, ":@@@ -9 +9 @@|9:-c|:9+C"],
    ])
    expect(change.hunks(null)).toEqual([])
  })

  test("shows where a line break is missing, and which lines end otherwise than the rest", () => {
    const told = (patch: string) =>
      change.hunks(patch).flatMap(({ lines }) => lines.slice(1).map(({ sign, text, bare }) => [sign + text, bare]))
    const head = "@@ -1,2 +1,2 @@\n"
    expect(told(`${head} a\n-b\n\\ No newline at end of file\n+b\n`)).toEqual([
      [" a", false],
      ["-b", true],
      ["+b", false],
    ])
    expect(told(`${head}-a\r\n+a\n`)).toEqual([
      ["-a\r", false],
      ["+a", false],
    ])
    // A file all of whose lines end so says nothing by it.
    expect(told(`${head} a\r\n-b\r\n+c\r\n`).map(([text]) => text)).toEqual([" a", "-b", "+c"])
  })

  describe("too long for one page", () => {
    const lines = (count: number) => Array.from({ length: count }, (_, index) => `+line ${index}\n`).join("")
    const part = (count: number) => `@@ -0,0 +1,${count} @@\n${lines(count)}`

    test("is never cut in the data: its last line is there", () => {
      const [whole] = change.hunks(part(6_000))
      expect(whole?.lines).toHaveLength(6_001)
      expect(whole?.lines.at(-1)).toMatchObject({ text: "line 5999", new: 6_000 })
    })

    test("says how much of it is not shown, page after page, to its end", () => {
      const parts = change.hunks(part(6_000))
      const after = (pages: number) => change.unseen(parts, change.PAGE * pages, null)
      expect([after(1), after(2), after(3)]).toEqual([4_000, 2_000, 0])
      expect(change.portions(parts, change.PAGE)).toEqual([2_000])
    })

    test("is cut between its parts where a page can hold each of them", () => {
      const parts = change.hunks(part(1_500) + part(1_500) + part(10))
      expect(change.portions(parts, change.PAGE)).toEqual([1_500, 1_500, 0])
      expect(change.unseen(parts, change.PAGE, null)).toBe(10)
      expect([1, 2, 3].map((hunk) => change.unseen(parts, change.PAGE, hunk))).toEqual([0, 0, 10])
      // Who goes to a part is shown it, and of one that is too long its first page.
      expect(change.unseen(parts, change.roomFor(parts, 3), 3)).toBe(0)
      const long = change.hunks(part(10) + part(5_000))
      expect(change.portions(long, change.roomFor(long, 2))).toEqual([10, 2_000])
      expect(change.unseen(long, change.roomFor(long, 2), 2)).toBe(3_000)
    })
  })

  test("stands in place of the one that it was made from", () => {
    const one = (change_id: string, from_change_id: string | null) => ({ change_id, from_change_id }) as never
    const all = [one("a", null), one("b", "a")]
    expect(all.map((each) => change.replacement(each, all)?.change_id)).toEqual(["b", undefined])
  })

  test("side by side shows what comes beside what goes, and loses no line", () => {
    const shown = (patch: string) =>
      change
        .hunks(patch)
        .flatMap(({ lines }) => change.rows(lines))
        .map((row) => `${row.old?.text ?? "·"}/${row.new?.text ?? "·"}`)
    const head = "@@ -1,9 +1,9 @@\n"
    expect(shown(`${head} a\n-b\n-c\n+B\n d\n`)).toEqual(["a/a", "b/B", "c/·", "d/d"])
    expect(shown(`${head}-b\n+B\n+C\n d\n+e\n`)).toEqual(["b/B", "·/C", "d/d", "·/e"])
    expect(shown(`${head}+x\n-b\n+B\n-c\n-d\n+C\n+D\n`)).toEqual(["·/x", "b/B", "c/C", "d/D"])
    const line = fc.tuple(
      fc.constantFrom("-", "+", " "),
      fc.string({ maxLength: 3 }).map((text) => text.replaceAll("\n", "")),
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), (given) => {
        const lines = change
          .hunks(head + given.map(([sign, text]) => sign + text).join("\n"))
          .flatMap((one) => one.lines)
        const pairs = change.rows(lines)
        const old = pairs.flatMap((pair) => (pair.old ? [pair.old.text] : []))
        const fresh = pairs.flatMap((pair) => (pair.new ? [pair.new.text] : []))
        expect(old).toEqual(given.filter(([sign]) => sign !== "+").map(([, text]) => text))
        expect(fresh).toEqual(given.filter(([sign]) => sign !== "-").map(([, text]) => text))
      }),
      { seed: 7, numRuns: 300 },
    )
  })

  test("is taken whole, in part or not at all", () => {
    expect([
      change.share(file("all")),
      change.share(file([1])),
      change.share(file([1, 2])),
      change.share(file([])),
    ]).toEqual(["all", "part", "all", "none"])
    const files = [
      { ...file("all"), refused: null },
      { ...file("none"), path: ".git/config", refused: "never" },
    ] as never
    expect(change.all({ files }).map(({ path }) => path)).toEqual(["x"])
    expect(change.chosen({ files })).toBe(1)
  })

  test("says of a file and of each of its parts what was decided, and why not", () => {
    const no = (hunk: number | null, reason: string) => ({ hunk, reason })
    expect(change.decided({ ...file("none"), declined: [] }, null).state).toBe("open")
    expect(change.decided({ ...file("all"), declined: [] }, 2).state).toBe("accepted")
    expect(change.decided({ ...file([1]), declined: [no(2, "later")] }, null).state).toBe("part")
    expect(change.decided({ ...file([1]), declined: [no(2, "later")] }, 2)).toEqual({
      state: "declined",
      reason: "later",
    })
    expect(change.decided({ ...file("none"), declined: [no(null, "no")] }, 1)).toEqual({
      state: "declined",
      reason: "no",
    })
    expect(change.decline({ path: "x", hunk: 2 }, " ")).toEqual({ path: "x", hunk: 2, accepted: false, reason: null })
  })

  test("is gone through by keys: files, and the parts of those that have several", () => {
    const files = [
      { path: "one", hunks: 1, refused: null },
      { path: "two", hunks: 2, refused: null },
      { path: "never", hunks: 3, refused: "never" },
    ]
    expect(change.stops(files).map(({ path, hunk }) => `${path}${hunk ?? ""}`)).toEqual(["one", "two", "two1", "two2"])
    const key = (key: string, more = {}) =>
      change.deed({ key, ctrlKey: false, metaKey: false, altKey: false, typing: false, ...more })
    expect(["j", "K", "a", "r", "v", "Enter"].map((one) => key(one))).toEqual([
      "next",
      "previous",
      "accept",
      "decline",
      "layout",
      undefined,
    ])
    expect([key("a", { typing: true }), key("a", { ctrlKey: true })]).toEqual([undefined, undefined])
  })

  test("stands while its last application does", () => {
    const one = (kind: string, status: string) => ({ kind, status }) as never
    expect(change.standing({ applications: [one("apply", "undone"), one("undo", "done")] })).toBeUndefined()
    expect(change.standing({ applications: [one("apply", "undone"), one("apply", "done")] })).toBeDefined()
  })
})
