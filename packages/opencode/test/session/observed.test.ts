import { expect, test } from "bun:test"
import type { Event, Part } from "@opencode-ai/sdk/v2"
import type { Stored } from "../../src/session/message-v2"
import { createObserved } from "../../src/session/observed"

const text = (id: string, said: string, sessionID = "ses_child") =>
  ({ id, sessionID, messageID: `msg_${id.slice(4)}`, type: "text", text: said }) as Part

const stored = (id: string, said: string): Stored => ({
  info: { id: `msg_${id}`, sessionID: "ses_child", role: "assistant" } as Stored["info"],
  parts: [text(`prt_${id}`, said)],
})

const updated = (part: Part) =>
  ({ id: "evt_1", type: "message.part.updated", properties: { sessionID: part.sessionID, part, time: 1 } }) as Event

const message = ({ info }: Stored) =>
  ({ id: "evt_2", type: "message.updated", properties: { sessionID: "ses_child", info } }) as Event

const said = (observed: ReturnType<typeof createObserved>) =>
  observed.transcript("ses_child")?.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")))

test("a session that is gone on in is kept whole: what it had said, and what it says from now on", () => {
  const observed = createObserved()
  observed.watch("ses_child", [stored("1", "before"), stored("2", "then")])
  const next = stored("3", "now")
  observed.hear(message(next))
  for (const part of next.parts) observed.hear(updated(part))
  expect(said(observed)).toEqual([["before"], ["then"], ["now"]])
  expect(observed.lastMessage("ses_child")).toBe("msg_3")
  // Watched anew, without anything before, it begins empty.
  observed.watch("ses_child")
  expect(said(observed)).toEqual([])
})

test("what the host tells again of the time before is known as that; what is new, or another session's, is not", () => {
  const observed = createObserved()
  observed.watch("ses_child", [stored("1", "before")])
  expect(observed.past(updated(text("prt_1", "before, thrown away to make room")))).toBe(true)
  expect(observed.past(updated(text("prt_2", "now")))).toBe(false)
  expect(observed.past(updated(text("prt_1", "elsewhere", "ses_other")))).toBe(false)
  expect(observed.past(message(stored("1", "before")))).toBe(false)
  observed.unwatch("ses_child")
  expect(observed.past(updated(text("prt_1", "before")))).toBe(false)
})

const born = (id: string, pass_id?: string) => {
  const info = { id, parentID: "ses_root", metadata: pass_id === undefined ? {} : { pass_over: { id: pass_id } } }
  return { id: "evt_3", type: "session.created", properties: { sessionID: id, info } } as unknown as Event
}

test("the child session of a pass is there as soon as the host tells of it, and no other one is taken for it", async () => {
  const observed = createObserved()
  const birth = observed.birth("pass-1")
  observed.hear(born("ses_other"))
  observed.hear(born("ses_another", "pass-2"))
  observed.hear(born("ses_child", "pass-1"))
  expect((await birth.session).id).toBe("ses_child")
})

test("whoever does not wait for a child session any more is told of none", async () => {
  const observed = createObserved()
  const birth = observed.birth("pass-1")
  birth.over()
  observed.hear(born("ses_child", "pass-1"))
  const none = Symbol()
  expect(await Promise.race([birth.session, Bun.sleep(5).then(() => none)])).toBe(none)
})

test("it is told once when a session's model begins to answer, or when nothing is expected of it any more", () => {
  const observed = createObserved()
  const told: string[] = []
  observed.onAnswer("ses_child", () => told.push("child"))
  observed.onAnswer("ses_other", () => told.push("other"))
  observed.hear(updated(text("prt_1", "asked")))
  expect(told).toEqual([])
  const step = { id: "prt_2", sessionID: "ses_child", messageID: "msg_2", type: "step-start" } as Part
  observed.hear(updated(step))
  observed.hear(updated(step))
  expect(told).toEqual(["child"])
  observed.answered("ses_other")
  observed.answered("ses_other")
  expect(told).toEqual(["child", "other"])
})

test("a stop that was heard of in an earlier pass does not stand for one of the pass that goes on in its session", () => {
  const observed = createObserved()
  observed.stops.add("ses_child")
  observed.watch("ses_child")
  expect(observed.stops.has("ses_child")).toBe(false)
})
