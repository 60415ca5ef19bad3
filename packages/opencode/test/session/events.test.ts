import { expect, test } from "bun:test"
import type { Event, Message, Part } from "@opencode-ai/sdk/v2"
import { hear } from "../../src/session/events"
import { createObserved } from "../../src/session/observed"

const CHILD = "ses_child"

const part = (more: Record<string, unknown>) => ({ id: "prt_1", sessionID: CHILD, messageID: "msg_a", ...more }) as Part

const updated = (given: Part) =>
  ({ id: "evt_1", type: "message.part.updated", properties: { sessionID: CHILD, part: given, time: 1 } }) as Event

const message = (info: Record<string, unknown>) =>
  ({
    id: "evt_2",
    type: "message.updated",
    properties: { sessionID: CHILD, info: { sessionID: CHILD, ...info } },
  }) as Event

function listening() {
  const observed = createObserved()
  observed.watch(CHILD)
  observed.hear(message({ id: "msg_u", role: "user", time: { created: 3 } } satisfies Partial<Message>))
  observed.hear(message({ id: "msg_a", role: "assistant", agent: "audit", time: { created: 4 } }))
  return (more: Record<string, unknown>) =>
    hear(updated(part(more)), observed.author).flatMap((heard) => (heard.type === "said" ? [heard.said] : []))
}

test("words of a child are heard when they are whole, and what it is told at once", () => {
  const said = listening()
  const text = { type: "text", text: "I read it." }
  expect(said({ ...text, time: { start: 5 } })).toEqual([])
  expect(said({ ...text, time: { start: 5, end: 6 } })).toEqual([
    { id: "prt_1", kind: "said", text: "I read it.", agent: "audit", at: 5 },
  ])
  expect(said({ type: "reasoning", text: "Hm", time: { start: 5 } })).toEqual([])
  expect(said({ type: "reasoning", text: "Hm", time: { start: 5, end: 6 } })).toMatchObject([{ kind: "thought" }])
  expect(said({ type: "text", text: "Review it", messageID: "msg_u" })).toEqual([
    { id: "prt_1", kind: "told", text: "Review it", at: 3 },
  ])
})

test("notes of the host are nobody's words, nor is what is said in a session that no pass runs in", () => {
  const said = listening()
  const whole = { type: "text", text: "x", time: { start: 5, end: 6 } }
  expect(said({ ...whole, synthetic: true })).toEqual([])
  expect(said({ ...whole, ignored: true })).toEqual([])
  expect(said({ ...whole, messageID: "msg_u", synthetic: true })).toEqual([])
  expect(said({ ...whole, messageID: "msg_unknown" })).toEqual([])
  expect(said({ ...whole, sessionID: "ses_other" })).toEqual([])
  expect(said({ type: "file", url: "file:///a.ts" })).toEqual([])
})

test("a tool call is heard with its name and its beginning once it is over", () => {
  const state = { status: "completed", input: { a: 1 }, output: "yes", time: { start: 7, end: 9 } }
  const heard = hear(updated(part({ type: "tool", tool: "bash", callID: "call_1", state })), () => undefined)
  expect(heard).toMatchObject([
    { type: "activity" },
    { type: "turn", turn: { id: "prt_1", call_id: "call_1", at: 7, tool: "bash", output: "yes", failed: false } },
  ])
})

test("a provider that asks for patience is heard with when it is asked again, and with its words", () => {
  const status = (of: object) =>
    hear(
      { id: "evt_3", type: "session.status", properties: { sessionID: CHILD, status: of } } as Event,
      () => undefined,
    )
  expect(status({ type: "retry", attempt: 2, message: "Too Many Requests", next: 9_000 })).toEqual([
    { type: "retry", session_id: CHILD, until: 9_000, message: "Too Many Requests" },
  ])
  expect([...status({ type: "busy" }), ...status({ type: "idle" })]).toEqual([])
})
