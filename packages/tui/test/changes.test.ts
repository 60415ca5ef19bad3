import { describe, expect, test } from "bun:test"
import { assert, constantFrom, integer, property, string } from "fast-check"
import type { FileView } from "../../opencode/src/pass-over/service/change/view"
import type { Proposal } from "../src/changes-source"
import { deedOption, deeds, fileOption, fileRows, notesOf } from "../src/changes-view"
import { ending } from "../src/lines"

const PATCH = `--- a/src/a.ts
+++ b/src/a.ts
@@ -1,2 +1,2 @@
 one
-\tif (x) {
+\tif (y) {
@@ -9 +9 @@
-nine
+ten
`

const file = (given: Partial<FileView> = {}): FileView => ({
  path: "src/a.ts",
  line: "M src/a.ts",
  hunks: 2,
  taken: "none",
  declined: [],
  refused: null,
  reason: "",
  patch: PATCH,
  ...given,
})

const shown = (given: Partial<Proposal> = {}): Proposal => ({
  change_id: "chg_1",
  origin: "proposed",
  from_change_id: null,
  notes: [],
  files: [file()],
  applications: [],
  approval: "sha",
  problem: null,
  check: undefined,
  ...given,
})

const applied = {
  apply_id: "apl_1",
  kind: "apply",
  status: "done",
  actor: "ada",
  time_done: 1,
  verification: null,
} as const

describe("what can be done with a change", () => {
  test("follows from what was decided, and from what stands in the tree", () => {
    expect(deeds(shown())).toEqual(["accept"])
    expect(deeds(shown({ files: [file({ taken: [1] })] }))).toEqual(["apply", "accept"])
    expect(deeds(shown({ files: [file({ taken: "all" })] }))).toEqual(["apply"])
    // What does not fit any more is not offered.
    expect(deeds(shown({ files: [file({ taken: "all" })], approval: null }))).toEqual([])
    const declined = file({ taken: [1], declined: [{ hunk: 2, reason: null }] })
    expect(deeds(shown({ files: [declined] }))).toEqual(["apply", "accept", "send_back"])
    expect(deeds(shown({ files: [file({ taken: "all" })], applications: [applied] }))).toEqual(["undo"])
    expect(deeds(shown({ files: [file({ taken: "none", refused: "it is a link" })] }))).toEqual([])
  })

  test("is said with what it leads to", () => {
    const one = shown({ files: [file({ taken: "all" })], check: "npm \u001b[31mtest" })
    expect(deedOption("apply", one)).toMatchObject({
      title: "Apply 1 file",
      description: "writes what is accepted, and runs npm test",
    })
    expect(deedOption("undo", shown({ applications: [applied] })).description).toBe("Applied by ada.")
  })

  test("notes and what stands in the way are one line each", () => {
    expect(notesOf(shown({ notes: ["moved\nhere"], problem: "it was changed since" }))).toEqual([
      "it was changed since",
      "moved here",
    ])
  })
})

describe("a file of a change", () => {
  test("is shown whole, part by part, with the place at hand marked and its indents kept", () => {
    const { rows, starts } = fileRows(file({ taken: [2], declined: [{ hunk: 1, reason: "not so" }] }), 1, 60)
    expect(rows.map(({ text }) => text)).toEqual([
      "  the whole file, 2 parts · ◐ accepted in part",
      "▸ part 1 of 2 · ✕ declined: not so",
      "@@ -1,2 +1,2 @@",
      "  one",
      "-   if (x) {",
      "+   if (y) {",
      "  part 2 of 2 · ✓ accepted",
      "@@ -9 +9 @@",
      "- nine",
      "+ ten",
    ])
    expect(starts).toEqual([0, 1, 6])
    expect(rows.map(({ tone }) => tone).filter((tone) => tone === "added" || tone === "removed")).toHaveLength(4)
  })

  test("of one part has one place; one that is never written has none, and says why", () => {
    const single = fileRows(file({ hunks: 1, patch: "@@ -1 +1 @@\n-a\n+b\n" }), 0, 60)
    expect([single.rows[0]?.text, single.starts]).toEqual(["▸ the whole file · ○ not decided", [0]])
    const never = fileRows(file({ refused: "it is a link" }), 0, 60)
    expect([never.rows[0]?.text, never.starts]).toEqual(["This file is never written: it is a link", []])
    expect(fileRows(file({ hunks: 0, patch: null }), 0, 60).rows.at(-1)?.text).toContain("not shown here")
  })

  test("shows all of a long file, and what is hidden in it", () => {
    const lines = Array.from({ length: 6_000 }, (_, index) => `+line ${index}\n`).join("")
    const long = fileRows(file({ hunks: 1, patch: `@@ -0,0 +1,6000 @@\n${lines}` }), 0, 60)
    expect(long.rows.at(-1)?.text).toBe("+ line 5999")
    const patch = "@@ -1 +1 @@\n-a\u202eb\n+ab\n\\ No newline at end of file\n"
    const told = fileRows(file({ hunks: 1, patch }), 0, 60).rows.map(({ text }) => text)
    expect(told.slice(-3)).toEqual(["- a<U+202E>b", "+ ab", "\\ no line break at the end"])
  })

  test("moves no cursor and is never wider than the room, whatever it holds", () => {
    const unit = constantFrom("a", " ", "\t", "\r", "\u001b[2J", "\u202e", "日本", "👩‍👩‍👧", "\u2028", "'", "]")
    assert(
      property(string({ unit, maxLength: 120 }), integer({ min: 20, max: 70 }), (text, width) => {
        const { rows } = fileRows(
          file({ hunks: 1, patch: `@@ -1 +1 @@\n-${text}\n+${text}x\n`, reason: text }),
          0,
          width,
        )
        for (const row of rows) {
          expect(Bun.stringWidth(row.text)).toBeLessThanOrEqual(width)
          expect(row.text).not.toMatch(/(?!\u200d)[\p{Cc}\p{Cf}]/u)
        }
      }),
      { seed: 7, numRuns: 300 },
    )
  })

  test("is named in a list by the end of its path, where it is long", () => {
    const option = fileOption(file({ path: "packages/very/long/way/down/to/the/file/that/is/meant/total.ts" }), 60)
    expect(option.title).toMatch(/^….*total\.ts$/)
    expect(ending("src/日本/total.ts", 12)).toBe("…本/total.ts".slice(0, 12))
    assert(
      property(string({ unit: constantFrom("a", "/", "日本", "é") }), integer({ min: 2, max: 30 }), (path, columns) =>
        expect(Bun.stringWidth(ending(path, columns))).toBeLessThanOrEqual(columns),
      ),
      { seed: 7, numRuns: 300 },
    )
  })
})
