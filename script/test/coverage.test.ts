import { expect, test } from "bun:test"
import { coverageOf, coveredIn } from "./coverage"

const report = (file: string, lines: readonly (readonly [line: number, count: number])[]) =>
  [`TN:`, `SF:${file}`, ...lines.map(([line, count]) => `DA:${line},${count}`), "LF:9", "LH:9", "end_of_record"].join(
    "\n",
  )

const ONE = report("src/core/a.ts", [[1, 3], [2, 0], [3, 0]]) // prettier-ignore
const TWO = [report("src/core/a.ts", [[1, 0], [2, 4], [3, 0]]), report("src/edge/b.ts", [[1, 0]])].join("\n") // prettier-ignore

test("a line that any process has run is covered, and what lies elsewhere does not count", () => {
  expect([...coveredIn([ONE, TWO], "src/core/")]).toEqual([["src/core/a.ts", { lines: 3, hit: 2 }]])
})

test("the whole is told with the files that lack most", () => {
  const other = report("src/core/c.ts", [[1, 1]])
  const { percent, files, told } = coverageOf([ONE, TWO, other], "src/core/")
  expect([percent, files]).toEqual([75, 2])
  expect(told).toBe("75.0 % of 4 lines in 2 files; the least:\n   67 % src/core/a.ts\n  100 % src/core/c.ts")
})

test("nothing that was run is nothing covered", () => {
  expect(coverageOf([], "src/core/").percent).toBe(0)
})
