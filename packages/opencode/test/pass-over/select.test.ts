import { beforeAll, describe, expect, test } from "bun:test"
import { assert, asyncProperty, integer, property } from "fast-check"
import { tokens } from "../../src/session/tokens"
import { contextProblems, selectionProblems } from "./support/select-property"

// script/prove-context.ts does the same ten thousand times.
const RUNS = 300

let count: (text: string) => number
beforeAll(async () => {
  count = await tokens()
})

describe("whatever a session holds", () => {
  test("the selection is within its budget, not empty, the same each time, readable and accounted for", () => {
    assert(
      property(integer({ min: 1 }), (seed) => expect(selectionProblems(seed, count)).toEqual([])),
      { numRuns: RUNS, seed: 4 },
    )
  }, 120_000)

  test("the whole context is within its budget, and every message and file is accounted for", async () => {
    await assert(
      asyncProperty(integer({ min: 1 }), async (seed) => expect(await contextProblems(seed, count)).toEqual([])),
      { numRuns: RUNS / 3, seed: 5 },
    )
  }, 120_000)
})
