import type { ToolContext } from "@opencode-ai/plugin"
import type { Event } from "@opencode-ai/sdk/v2"
import { expect, test } from "bun:test"
import { createPlugin } from "../../src/plugin"
import { earAt } from "../../src/session/tree-map"
import { createViews } from "../../src/session/views"

const PART = "prt_1"

test("a call's end waits for the view that is on its way, and nothing is shown afterwards", async () => {
  const views = createViews()
  const order: string[] = []
  const slow = Promise.withResolvers<void>()
  const view = views.show(PART, () => slow.promise.then(() => order.push("view")))
  const end = views.end(PART).then(() => order.push("end"))
  await Bun.sleep(5)
  expect(order).toEqual([])
  slow.resolve()
  await Promise.all([view, end])
  expect(order).toEqual(["view", "end"])
  await views.show(PART, async () => order.push("too late"))
  expect(order).toEqual(["view", "end"])
})

test("a view that could not be written holds nobody up, and other calls go on", async () => {
  const views = createViews()
  const failing = views.show(PART, () => Promise.reject(new Error("the host is gone")))
  await expect(failing).rejects.toThrow("the host is gone")
  await views.end(PART)
  const shown: string[] = []
  await views.show("prt_2", async () => shown.push("other"))
  expect(shown).toEqual(["other"])
})

const running = {
  id: "evt_1",
  type: "message.part.updated",
  properties: {
    sessionID: "ses_1",
    time: 1,
    part: {
      id: PART,
      sessionID: "ses_1",
      messageID: "msg_1",
      type: "tool",
      tool: "pass_over",
      callID: "call_1",
      state: { status: "running", input: {}, time: { start: 1 } },
    },
  },
} as unknown as Event

test("an answer of ours reaches the host after the last view of its call", async () => {
  process.env.PASS_OVER_DB = ":memory:"
  const input = {
    client: {} as never,
    directory: "/project",
    worktree: "/project",
    serverUrl: new URL("http://localhost:4096"),
  }
  const observed = earAt(input.directory)
  observed.hear(running)
  const plugin = createPlugin({ input, quit: () => {} })
  const slow = Promise.withResolvers<void>()
  const order: string[] = []
  const view = observed.views.show(PART, () => slow.promise.then(() => order.push("view")))
  const context = { sessionID: "ses_1", messageID: "msg_1", callID: "call_1", agent: "alice" } as unknown as ToolContext
  const answer = plugin.execute("pass_over", {}, context).then(() => order.push("answer"))
  await Bun.sleep(20)
  slow.resolve()
  await Promise.all([view, answer])
  expect(order).toEqual(["view", "answer"])
  await plugin.dispose()
})
