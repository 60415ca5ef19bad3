import { expect, test } from "bun:test"
import type { Event } from "@opencode-ai/sdk/v2"
import { createReturns } from "../../src/thread/returns"

const part = (sessionID: string, type: string) =>
  ({
    id: "evt",
    type: "message.part.updated",
    properties: { part: { id: "prt", sessionID, type } },
  }) as unknown as Event

test("a child whose return was taken is done with the end of that step, once; nobody else is", () => {
  const returns = createReturns()
  expect(returns.endedBy(part("ses_child", "step-finish"))).toBeUndefined()
  returns.taken("ses_child")
  expect(returns.endedBy(part("ses_other", "step-finish"))).toBeUndefined()
  expect(returns.endedBy(part("ses_child", "text"))).toBeUndefined()
  expect(returns.endedBy(part("ses_child", "step-finish"))).toBe("ses_child")
  expect(returns.endedBy(part("ses_child", "step-finish"))).toBeUndefined()
})

test("nothing is asked of a model for a child that is being stopped; when it is at rest, it may go on in another pass", async () => {
  const returns = createReturns()
  const held = async () =>
    (await Promise.race([returns.hold("ses_child").then(() => "asked"), Bun.sleep(20).then(() => "held")])) === "held"
  returns.taken("ses_child")
  expect(await held()).toBe(false)
  returns.endedBy(part("ses_child", "step-finish"))
  expect(await held()).toBe(true)
  const rests = { sessionID: "ses_child", status: { type: "idle" } }
  returns.endedBy({ id: "evt", type: "session.status", properties: rests } as unknown as Event)
  expect(await held()).toBe(false)
})

test("a step that broke off after its return does not end the first one of a pass that goes on in its session", () => {
  const returns = createReturns()
  returns.taken("ses_child")
  expect(returns.endedBy(part("ses_child", "step-start"))).toBeUndefined()
  expect(returns.endedBy(part("ses_child", "step-finish"))).toBeUndefined()
})
