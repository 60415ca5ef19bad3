import { expect, test } from "bun:test"
import type { Event } from "@opencode-ai/sdk/v2"
import { createSieve } from "../../src/thread/sieve"

const event = (type: string, properties: unknown) => ({ id: "evt", type, properties }) as unknown as Event
const created = (info: Record<string, unknown>) => event("session.created", { info })
const part = (sessionID: string, more: Record<string, unknown>) =>
  event("message.part.updated", { sessionID, part: { id: "prt", sessionID, ...more } })

const MARK = { pass_over: { id: "01" } }

test("what sessions say that are no children of ours stays where it is; calls of our tools do not", () => {
  const sieve = createSieve()
  expect(sieve.wanted(created({ id: "ses_top" }))).toBe(true)
  expect(sieve.wanted(created({ id: "ses_other", parentID: "ses_top" }))).toBe(true)
  expect(sieve.wanted(created({ id: "ses_child", parentID: "ses_top", metadata: MARK }))).toBe(true)
  const said = [
    (id: string) => part(id, { type: "text", text: "x" }),
    (id: string) => part(id, { type: "tool", tool: "read" }),
    (id: string) => event("message.part.delta", { sessionID: id, delta: "x" }),
    (id: string) => event("message.updated", { info: { id: "msg", sessionID: id } }),
    (id: string) => event("session.status", { sessionID: id, status: { type: "retry", next: 1 } }),
  ]
  for (const of of said) {
    expect(sieve.wanted(of("ses_top"))).toBe(false)
    expect(sieve.wanted(of("ses_other"))).toBe(false)
    expect(sieve.wanted(of("ses_child"))).toBe(true)
    // Whoever was never heard of may be one of ours.
    expect(sieve.wanted(of("ses_unknown"))).toBe(true)
  }
  expect(sieve.wanted(part("ses_top", { type: "tool", tool: "pass_over" }))).toBe(true)
  expect(sieve.wanted(part("ses_top", { type: "tool", tool: "flow" }))).toBe(true)
  expect(sieve.wanted(event("permission.asked", { sessionID: "ses_top" }))).toBe(true)
  expect(sieve.wanted(event("session.status", { sessionID: "ses_child", status: { type: "busy" } }))).toBe(false)
  expect(sieve.wanted(event("file.edited", {}))).toBe(false)
})

test("a session is told of again when there is something new about it", () => {
  const sieve = createSieve()
  const updated = (info: Record<string, unknown>) => event("session.updated", { info: { id: "ses_1", ...info } })
  expect(sieve.wanted(created({ id: "ses_1", parentID: "ses_top" }))).toBe(true)
  expect(sieve.wanted(updated({ parentID: "ses_top", title: "another" }))).toBe(false)
  const permission = [{ permission: "edit", pattern: "*", action: "deny" }]
  expect(sieve.wanted(updated({ parentID: "ses_top", permission }))).toBe(true)
  expect(sieve.wanted(updated({ parentID: "ses_top", permission: [...permission] }))).toBe(false)
  // A session that is gone on in becomes ours.
  expect(sieve.wanted(updated({ parentID: "ses_top", permission, metadata: MARK }))).toBe(true)
  expect(sieve.wanted(part("ses_1", { type: "text" }))).toBe(true)
  expect(sieve.wanted(event("session.deleted", { info: { id: "ses_1" } }))).toBe(true)
})

test("only who is known to have nobody above is taken for nobody's child", () => {
  const sieve = createSieve()
  sieve.wanted(created({ id: "ses_top" }))
  sieve.wanted(created({ id: "ses_child", parentID: "ses_top" }))
  expect(["ses_top", "ses_child", "ses_unknown"].map(sieve.top)).toEqual([true, false, false])
  sieve.wanted(event("session.deleted", { info: { id: "ses_top" } }))
  expect(sieve.top("ses_top")).toBe(false)
})
