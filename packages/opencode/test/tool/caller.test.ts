import { describe, expect, test } from "bun:test"
import type { ToolContext } from "@opencode-ai/plugin"
import { callerOf } from "../../src/tool/caller"

type Info = { id: string; role: string; time: { created: number } } & Record<string, unknown>

const user = (created: number, variant?: string, id = `msg_${created}`): Info => ({
  id,
  role: "user",
  time: { created },
  model: { providerID: "rehearsal", modelID: "script", ...(variant === undefined ? {} : { variant }) },
})
const assistant = (created: number, variant?: string): Info => ({
  id: `msg_${created}`,
  role: "assistant",
  time: { created },
  ...(variant === undefined ? {} : { variant }),
})

const HOST = { agent: "alice", sessionID: "ses_1", messageID: "msg_9" }

const context = (messages: readonly Info[] | undefined) =>
  ({
    ...HOST,
    callID: "call_1",
    extra: { model: { id: "script", providerID: "rehearsal" } },
    ...(messages ? { messages: messages.map((info) => ({ info, parts: [] })) } : {}),
  }) as unknown as ToolContext

const modelOf = (...messages: Info[]) => callerOf(context(messages)).model

describe("the caller's model", () => {
  test("has the variant that the user asks for, also where nobody has answered yet", () => {
    expect(modelOf(user(1, "high"))).toBe("rehearsal/script#high")
  })

  test("has the variant after a switch, and none where the user has gone back to none", () => {
    const before = [user(1, "high"), assistant(2, "high")]
    expect(modelOf(...before, user(3, "low"))).toBe("rehearsal/script#low")
    expect(modelOf(...before, user(3))).toBe("rehearsal/script")
  })

  test("has the variant of the newest prompt, wherever a compaction has put it", () => {
    expect(modelOf(user(5, "low"), assistant(6, "low"), user(3, "high"), assistant(4, "high"))).toBe(
      "rehearsal/script#low",
    )
    expect(modelOf(user(5, "low", "msg_a"), user(3, "high", "msg_b"))).toBe("rehearsal/script#low")
    expect(modelOf(user(5, "high", "msg_a"), user(5, "low", "msg_b"))).toBe("rehearsal/script#low")
  })

  test("has no variant where the host says nothing of one", () => {
    expect(modelOf(assistant(2, "high"))).toBe("rehearsal/script")
    expect(modelOf({ id: "msg_1", role: "user", time: { created: 1 }, model: "script" })).toBe("rehearsal/script")
    expect(callerOf(context(undefined)).model).toBe("rehearsal/script")
  })
})

test("the caller is who the host says, and what the host does not say is left open", () => {
  const known = { agent: "alice", session_id: "ses_1", message_id: "msg_9" }
  expect(callerOf(context([user(1)]))).toMatchObject({ ...known, call_id: "call_1", history: expect.any(Function) })
  expect(callerOf(HOST as unknown as ToolContext)).toEqual({ ...known, call_id: null, model: null })
})
