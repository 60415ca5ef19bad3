import { beforeAll, expect, test } from "bun:test"
import * as fc from "fast-check"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { tokens } from "../../src/session/tokens"

const exact = (text: string) => countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() })

const held = {} as { count: (text: string) => number }
beforeAll(async () => void (held.count = await tokens()))

test("ordinary text counts for exactly what it is, control tokens and all", () => {
  const line = "    return text.replaceAll(pattern, (run) => `${run} `) // <|endoftext|> über 日本語 👩‍👩‍👧\n"
  const text = `${line.repeat(40)}${" ".repeat(200)}a${"x".repeat(200)}\n`
  const dense = JSON.stringify({ a: line.trim().replaceAll(" ", ""), b: [1, true, null], c: { ä: "x-y_z" } })
  expect(held.count(text)).toBe(exact(text))
  expect(held.count(dense.repeat(40))).toBe(exact(dense.repeat(40)))
})

const Letter = fc.constantFrom(...Array.from(" \n\t\r/!aé0A😀語-={_\\"), "\u00a0", "\u3000", "\u200d", "the", "'s")
const Stretch = fc.oneof(
  fc.tuple(fc.array(Letter, { minLength: 1, maxLength: 3 }), fc.nat(700)).map(([of, n]) => of.join("").repeat(n)),
  fc.array(Letter, { maxLength: 700, size: "max" }).map((of) => of.join("")),
)

test("no text counts for less than it is, however it is made", () => {
  fc.assert(
    fc.property(fc.array(Stretch, { minLength: 1, maxLength: 3 }), (stretches) => {
      const text = stretches.join("").slice(0, 2_500)
      expect(held.count(text)).toBeGreaterThanOrEqual(exact(text))
    }),
    { seed: 7, numRuns: 1_000 },
  )
}, 60_000)

test("half a megabyte of anything is counted in no time", () => {
  const began = performance.now()
  for (const piece of ["a", " ", "\n", "\t", "\r\n", "\u00a0", "\u3000", "=", "!/", "\n/", " \t", "\u200d", "\ud83d"]) {
    held.count(`!${piece.repeat(512_000 / piece.length)}`)
  }
  expect(performance.now() - began).toBeLessThan(10_000)
}, 60_000)
