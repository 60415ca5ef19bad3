import { expect, test } from "bun:test"
import { createPace } from "../../src/pass-over/service/pace"

test("few views on a host that has time are shown as often as one likes", () => {
  expect(createPace().between(1)).toBeLessThan(300)
})

test("the more there are, and the longer one takes, the rarer they are", () => {
  const pace = createPace()
  const before = pace.between(4)
  expect(pace.between(8)).toBe(before * 2)
  for (let view = 0; view < 20; view += 1) pace.took(40)
  expect(pace.between(4)).toBeGreaterThan(before * 3)
})

test("altogether they take a fiftieth of the host's time at the most, as long as five seconds are enough for that", () => {
  const pace = createPace()
  for (let view = 0; view < 50; view += 1) pace.took(12)
  const running = 4
  expect((running * 12) / pace.between(running)).toBeCloseTo(0.02, 3)
})

test("however busy a host is, a view is never older than five seconds", () => {
  const pace = createPace()
  for (let view = 0; view < 50; view += 1) pace.took(4_000)
  expect(pace.between(100)).toBe(5_000)
})

test("a host that was slow once is believed to be quick again", () => {
  const pace = createPace()
  pace.took(2_000)
  for (let view = 0; view < 30; view += 1) pace.took(5)
  expect(pace.between(1)).toBeLessThan(300)
})
