import { expect, test } from "bun:test"
import { createTrouble } from "../src/trouble"

const MINUTE = 60_000

function scene() {
  const state = { now: 0 }
  const trouble = createTrouble({ mono: () => state.now })
  const heard: string[] = []
  const listen = (name: string) => trouble.listen(name, (sentence) => void heard.push(`${name}: ${sentence}`))
  const later = (ms: number) => void (state.now += ms)
  return { trouble, heard, listen, later }
}

test("trouble is told once, to everybody who is there", () => {
  const { trouble, heard, listen } = scene()
  listen("one")
  listen("two")
  trouble.ill("The disk is full.")
  trouble.ill("The disk is full.")
  expect(heard).toEqual(["one: The disk is full.", "two: The disk is full."])
})

test("whoever comes while it lasts is told too, and whoever comes afterwards is not", () => {
  const { trouble, heard, listen } = scene()
  trouble.ill("The disk is full.")
  listen("one")
  trouble.well()
  listen("two")
  expect(heard).toEqual(["one: The disk is full."])
})

test("other trouble is told at once, the same again only when all was well and some time has gone by", () => {
  const { trouble, heard, listen, later } = scene()
  listen("one")
  trouble.ill("The disk is full.")
  later(60 * MINUTE)
  trouble.ill("The disk is full.")
  expect(heard).toHaveLength(1)
  trouble.ill("The disk is read-only.")
  expect(heard).toHaveLength(2)

  trouble.well()
  later(9 * MINUTE)
  trouble.ill("The disk is read-only.")
  expect(heard).toHaveLength(2)
  trouble.well()
  later(MINUTE)
  trouble.ill("The disk is read-only.")
  expect(heard).toHaveLength(3)
})

test("two who come under one name are one, and the end of the first does not take the second away", () => {
  const { trouble, heard, listen } = scene()
  const first = listen("one")
  const second = listen("one")
  first()
  trouble.ill("The disk is full.")
  expect(heard).toEqual(["one: The disk is full."])
  second()
  trouble.ill("The disk is read-only.")
  expect(heard).toHaveLength(1)
})
