import { expect, test } from "bun:test"
import type { Event } from "@opencode-ai/sdk/v2"
import { createOutbox, patience, type Heard } from "../../src/thread/outbox"

const event = (type: string, properties: unknown = {}) => ({ id: "evt_1", type, properties }) as unknown as Event
const part = (value: Record<string, unknown>) =>
  event("message.part.updated", { part: { sessionID: "ses_1", ...value } })
const session = (metadata?: Record<string, unknown>) => event("session.created", { info: { id: "ses_1", metadata } })
const DELTA = event("message.part.delta", { sessionID: "ses_1", delta: "a" })
const END = part({ type: "step-finish" })

function collected() {
  const sent: Event[][] = []
  const outbox = createOutbox((all: Heard[]) => void sent.push(all.map(({ event }) => event)))
  const put = (...events: Event[]) => events.forEach((event) => outbox.put({ event, stopped: false }))
  return { sent, outbox, put }
}

test("what is said letter by letter goes along with what decides something, in its order", () => {
  const { sent, put } = collected()
  put(DELTA, DELTA)
  expect(sent).toEqual([])
  put(END)
  expect(sent).toEqual([[DELTA, DELTA, END]])
})

test("it is sent a moment later where nothing else comes, once", async () => {
  const { sent, put } = collected()
  put(DELTA)
  await Bun.sleep(100)
  expect(sent).toEqual([[DELTA]])
  put(END)
  await Bun.sleep(100)
  expect(sent).toEqual([[DELTA], [END]])
})

test("whoever has something else to send sends it first", () => {
  const { sent, put, outbox } = collected()
  put(DELTA)
  outbox.flush()
  outbox.flush()
  expect(sent).toEqual([[DELTA]])
})

test("a new session that is not ours wakes nobody, and whatever comes first takes it along", async () => {
  const { sent, put } = collected()
  const made = session()
  put(made)
  await Bun.sleep(100)
  expect(sent).toEqual([])
  put(DELTA)
  await Bun.sleep(100)
  expect(sent).toEqual([[made, DELTA]])
})

test("where nothing else comes it is told of all the same", async () => {
  const { sent, put } = collected()
  const made = session()
  put(made)
  await Bun.sleep(1_100)
  expect(sent).toEqual([[made]])
})

test("somebody waits for all but words, and for parts that are an answer or a step's beginning or end", () => {
  const tool = (status: string) => part({ type: "tool", tool: "read", state: { status } })
  const message = (info: unknown) => event("message.updated", { info })
  const yes = [
    part({ type: "tool", tool: "flow", state: { status: "running" } }),
    message({ role: "assistant", time: { created: 1, completed: 2 } }),
    message({ role: "assistant", time: { created: 1 }, error: { name: "MessageAbortedError" } }),
    tool("completed"),
    tool("error"),
    part({ type: "step-start" }),
    END,
    session({ pass_over: { id: "pass_1" } }),
    ...["session.updated", "session.status", "session.deleted", "permission.asked", "permission.replied"].map((type) =>
      event(type),
    ),
  ]
  const no = [
    tool("pending"),
    tool("running"),
    part({ type: "text" }),
    part({ type: "reasoning" }),
    DELTA,
    message({ role: "assistant", time: { created: 1 } }),
    message({ role: "user", time: { created: 1 } }),
  ]
  expect(yes.map(patience)).toEqual(yes.map(() => 0))
  expect(no.map(patience)).toEqual(no.map(() => 40))
})
