import { expect, test } from "bun:test"
import { takeSeat } from "../src/seat"

const taken = (seat: ReturnType<typeof takeSeat>) => ("taken" in seat ? seat.taken : undefined)
const leave = (seat: ReturnType<typeof takeSeat>) => "leave" in seat && seat.leave()

test("a folder has one Pass Over, the first, until that goes; what is loaded anew from its place has its seat again", () => {
  const first = takeSeat("/seat/a", "one.js")
  expect(taken(first)).toBeUndefined()
  expect(taken(takeSeat("/seat/a", "two.js"))).toBe("one.js")
  const elsewhere = takeSeat("/seat/b", "two.js")
  expect(taken(elsewhere)).toBeUndefined()
  const again = takeSeat("/seat/a", "one.js")
  expect(taken(again)).toBeUndefined()
  // Whoever was replaced takes nobody's seat with it.
  leave(first)
  expect(taken(takeSeat("/seat/a", "two.js"))).toBe("one.js")
  leave(again)
  const second = takeSeat("/seat/a", "two.js")
  expect(taken(second)).toBeUndefined()
  leave(second)
  leave(elsewhere)
})
