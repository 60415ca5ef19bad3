import { expect, test } from "bun:test"
import type { Event } from "@opencode-ai/sdk/v2"
import { createFirsts } from "../../src/thread/firsts"
import type { Asked, Replied } from "../../src/thread/wire"

const CREATE: Asked = {
  url: "http://localhost/session?directory=%2Fa%20b",
  method: "POST",
  headers: [["authorization", "Basic x"]],
  body: "{}",
}
const FIRST = { pass_id: "pass_1", body: '{"parts":[]}' }
const MADE: Replied = { status: 200, headers: [], body: "made" }
const RESTED: Replied = { status: 200, headers: [], body: "rested" }

const created = (id: string, pass_over?: unknown) =>
  ({ id: "evt", type: "session.created", properties: { info: { id, metadata: { pass_over } } } }) as unknown as Event

/** An opencode that makes a session and tells of it, or does not, before it answers. */
function opencode({ told = true, refuses = false, most_ms = 60_000 } = {}) {
  const asked: Asked[] = []
  const end = Promise.withResolvers<Replied>()
  const firsts = createFirsts(async (request) => {
    asked.push(request)
    if (asked.length > 1) return end.promise
    if (refuses) throw new Error("no project is open")
    if (told) firsts.hear(created("ses_1", { id: "pass_1" }))
    return MADE
  }, most_ms)
  return { asked, end, firsts }
}

const pending = async (promise: Promise<unknown>) =>
  (await Promise.race([promise.then(() => "done"), Bun.sleep(20).then(() => "waits")])) === "waits"

test("a child is asked as soon as its session is there, where the session was made", async () => {
  const { asked, end, firsts } = opencode()
  expect(await firsts.make(CREATE, FIRST)).toEqual(MADE)
  expect(asked).toEqual([
    CREATE,
    { ...CREATE, url: "http://localhost/session/ses_1/message?directory=%2Fa%20b", body: FIRST.body },
  ])
  const rest = firsts.rest("ses_1")
  expect(await pending(rest)).toBe(true)
  end.resolve(RESTED)
  expect(await rest).toEqual(RESTED)
})

test("its model is asked for nothing before it is bound; nobody else's waits for that", async () => {
  const { firsts } = opencode()
  await firsts.make(CREATE, FIRST)
  const held = firsts.hold("ses_1")
  expect(await pending(held)).toBe(true)
  expect(await pending(firsts.hold("ses_2"))).toBe(false)
  void firsts.rest("ses_1")
  expect(await pending(held)).toBe(false)
  expect(await pending(firsts.hold("ses_1"))).toBe(false)
})

test("one that was not heard of is asked by whoever wanted it, also when it is heard of later", async () => {
  const { asked, firsts } = opencode({ told: false })
  await firsts.make(CREATE, FIRST)
  expect(await firsts.rest("ses_1")).toBeUndefined()
  firsts.hear(created("ses_1", { id: "pass_1" }))
  expect(asked).toHaveLength(1)
})

test("sessions of others are asked for nothing, and what could not be made is forgotten", async () => {
  const { asked, firsts } = opencode({ refuses: true })
  await expect(firsts.make(CREATE, FIRST)).rejects.toThrow("no project is open")
  for (const mark of [undefined, "pass_1", { id: "pass_1" }, { id: "pass_2" }]) firsts.hear(created("ses_1", mark))
  expect(asked).toHaveLength(1)
})

test("how it ended is told also where that was before anybody asked", async () => {
  const { end, firsts } = opencode()
  await firsts.make(CREATE, FIRST)
  end.reject(new Error("refused"))
  await Bun.sleep(5)
  await expect(firsts.rest("ses_1")).rejects.toThrow("refused")
  expect(await firsts.rest("ses_1")).toBeUndefined()
})

test("a child that nobody begins does not wait without end", async () => {
  const { firsts } = opencode({ most_ms: 10 })
  await firsts.make(CREATE, FIRST)
  await expect(Promise.race([firsts.hold("ses_1"), Bun.sleep(500)])).rejects.toThrow("never began")
  expect(await firsts.rest("ses_1")).toBeUndefined()
})
