import { expect, test } from "bun:test"
import { screenWith } from "../src/screen"

/** A screen that shows these one after the other, a new one at every look, and stays with the last. */
function shown(...screens: string[]) {
  const left = [...screens]
  return { capture: async () => (left.length > 1 ? left.shift()! : left[0]!), timeout_ms: 1_000 }
}

test("a screen is given when it is painted, and not in halves", async () => {
  expect(await screenWith({ ...shown("", "a", "a b", "a b c"), text: "a" })).toBe("a b c")
})

test("one that moves all the time is given all the same", async () => {
  const clock = { at: 0 }
  const capture = async () => `at ${(clock.at += 1)}`
  expect(await screenWith({ capture, text: /^at/, timeout_ms: 1_000 })).toMatch(/^at \d+$/)
})

test("what was there for a moment has been seen", async () => {
  expect(await screenWith({ ...shown("", "asked", "answered"), text: "asked" })).toBe("asked")
})

test("what never comes is told with the screen that was there instead", async () => {
  await expect(screenWith({ ...shown("nothing"), text: "a", timeout_ms: 50 })).rejects.toThrow(
    "a was not on the screen within 50 ms:\nnothing",
  )
})
