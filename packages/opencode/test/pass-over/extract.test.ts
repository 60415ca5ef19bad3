import { describe, expect, test } from "bun:test"
import { Extract } from "../../src/pass-over/domain/extract"
import { context, message, NOW, part, says } from "./sample"

describe("artifacts of tool parts", () => {
  test("a completed tool is a result with its input and output", () => {
    const messages = [
      says({
        type: "tool",
        tool_name: "bash",
        call_id: "call_1",
        tool_status: "completed",
        tool_input: { command: "bun test" },
        tool_output: "3 pass",
      }),
    ]
    expect(Extract.artifacts(messages, "audit")).toEqual([
      {
        type: "tool_result",
        tool_name: "bash",
        call_id: "call_1",
        input: { command: "bun test" },
        output: "3 pass",
        status: "success",
      },
    ])
  })

  test("a tool that failed is a result too, with its error", () => {
    const messages = [says({ type: "tool", tool_name: "read", tool_status: "error", tool_error: "no such file" })]
    expect(Extract.artifacts(messages, "audit")).toEqual([
      { type: "tool_result", tool_name: "read", call_id: "prt_1", input: {}, output: "no such file", status: "error" },
    ])
  })

  test("a tool that has not ended is no result", () => {
    const messages = [
      says(
        { type: "tool", tool_name: "bash", tool_status: "pending" },
        { type: "tool", tool_name: "bash", tool_status: "running", tool_output: "so far" },
        { type: "tool", tool_name: "bash" },
        { type: "tool", tool_status: "completed" },
      ),
    ]
    expect(Extract.artifacts(messages, "audit")).toEqual([])
  })

  test("the return itself is how artifacts arrive and not one of them", () => {
    const messages = [
      says({ type: "tool", tool_name: "pass_over_return", tool_status: "completed", tool_output: "ok" }),
    ]
    expect(Extract.artifacts(messages, "audit")).toEqual([])
  })

  test("an edit is a file modification with both contents, beside its tool result", () => {
    const change = { path: "src/a.ts", old_content: "1", new_content: "2" }
    const messages = [
      says({
        type: "tool",
        tool_name: "edit",
        call_id: "call_1",
        tool_status: "completed",
        metadata: { file_changes: [change, { ...change, path: "src/b.ts" }] },
      }),
    ]
    const found = Extract.artifacts(messages, "audit")
    expect(found.map((artifact) => artifact.type)).toEqual(["tool_result", "file_modification", "file_modification"])
    expect(found[1]).toEqual({
      type: "file_modification",
      ...change,
      reason: "edit by the agent",
      confidence: "high",
    })
  })

  test("a change that changes nothing, or that the host told only half of, is no modification", () => {
    const half = [
      { path: "a", old_content: "1", new_content: "1" },
      { path: "a", old_content: "1" },
      { path: 1, old_content: "1", new_content: "2" },
      null,
      "a",
    ]
    const types = [half, "a", null, {}].flatMap((file_changes) =>
      Extract.artifacts([says({ type: "tool", tool_status: "completed", metadata: { file_changes } })], "audit"),
    )
    expect(types).toEqual([])
  })

  test("a change of a tool that failed did not happen", () => {
    const file_changes = [{ path: "a", old_content: "1", new_content: "2" }]
    const messages = [says({ type: "tool", tool_name: "edit", tool_status: "error", metadata: { file_changes } })]
    expect(Extract.artifacts(messages, "audit").map((artifact) => artifact.type)).toEqual(["tool_result"])
  })
})

test("artifacts come from the agent's own answers and from nobody else's", () => {
  const tool = part({ type: "tool", tool_name: "bash", tool_status: "completed", tool_output: "x" })
  const messages = [
    message({ agent_name: "alice", parts: [tool] }),
    message({ role: "user", parts: [tool] }),
    message({ parts: [{ ...tool, call_id: "mine" }] }),
  ]
  expect(Extract.artifacts(messages, "audit")).toMatchObject([{ call_id: "mine" }])
})

test("artifacts keep the order of the parts: results, modifications and decisions as they came", () => {
  const messages = [
    says(
      { type: "reasoning", text: "DECISION: Start here? yes" },
      { type: "tool", tool_name: "read", tool_status: "completed" },
      { type: "text", text: "DECISION: Stop here? no" },
    ),
  ]
  expect(Extract.artifacts(messages, "audit").map((artifact) => artifact.type)).toEqual([
    "decision",
    "tool_result",
    "decision",
  ])
})

describe("the last words", () => {
  test("are the last text that the agent said", () => {
    const messages = [says({ text: "First." }), says({ text: "Found it." }, { type: "tool", tool_name: "read" })]
    expect(Extract.lastWords(messages, "audit")).toBe("Found it.")
  })

  test("are not blank, not ours, not hidden, not thought and not somebody else's", () => {
    const messages = [
      says({ text: "  Kept.  " }),
      says(
        { text: "  \n" },
        { text: "from us", synthetic: true },
        { text: "hidden", ignored: true },
        { type: "reasoning", text: "a thought" },
      ),
      message({ agent_name: "alice", parts: [part({ text: "from alice" })] }),
      message({ role: "user", parts: [part({ text: "from the user" })] }),
    ]
    expect(Extract.lastWords(messages, "audit")).toBe("Kept.")
  })

  test("are empty where nothing was said", () => {
    expect(Extract.lastWords([], "audit")).toBe("")
    expect(Extract.lastWords([says({ type: "tool" })], "audit")).toBe("")
  })
})

test("files read are counted once each, and searching is not reading", () => {
  const read = (
    tool_input: Record<string, unknown>,
    tool_name = "read",
    tool_status: "completed" | "error" = "completed",
  ) => ({ type: "tool", tool_name, tool_status, tool_input }) as const
  const messages = [
    says(
      read({ filePath: "a.ts" }),
      read({ filePath: "a.ts", offset: 100 }),
      read({ path: "b.ts" }),
      read({ file: "c.ts" }),
      read({ filePath: "d.ts" }, "grep"),
      read({ filePath: "e.ts" }, "read", "error"),
      read({ filePath: 7 }),
      read({}),
    ),
  ]
  expect(Extract.filesRead(messages)).toBe(3)
})

describe("whether the agent did something that must not happen twice", () => {
  const touched = (tool_name: string | undefined, type: "tool" | "text" = "tool") =>
    Extract.touched([says({ type, ...(tool_name ? { tool_name } : {}) })])

  test("reading, searching, thinking and returning are nothing of the kind", () => {
    for (const name of ["read", "grep", "glob", "list", "pass_over_return"]) expect(touched(name)).toBe(false)
    expect(touched("bash", "text")).toBe(false)
    expect(Extract.touched([])).toBe(false)
  })

  test("a command, an edit, a nested pass and any tool that nobody knows are, even unfinished", () => {
    for (const name of ["bash", "edit", "write", "pass_over", "mcp_deploy", undefined]) expect(touched(name)).toBe(true)
    expect(Extract.touched([says({ text: "I run it." }, { type: "tool", tool_name: "bash" }), says({})])).toBe(true)
  })
})

describe("tool calls as context", () => {
  test("are the latest state of each call, in order", () => {
    const call = (call_id: string, tool_status: "pending" | "running" | "completed" | "error") =>
      part({ type: "tool", tool_name: "bash", call_id, tool_status })
    const messages = [
      message({ parts: [call("one", "running"), call("two", "completed")] }),
      message({ parts: [call("one", "error"), call("three", "pending")] }),
    ]
    expect(Extract.toolResults(messages).map(({ call_id, status }) => `${call_id} ${status}`)).toEqual([
      "two completed",
      "one error",
      "three pending",
    ])
  })

  test("carry what is known and no empty fields", () => {
    const messages = [
      says(
        {
          type: "tool",
          tool_name: "a",
          tool_input: { x: 1 },
          tool_output: "out",
          tool_status: "running",
          timestamp: 5,
        },
        { type: "tool", tool_name: "b", call_id: "call_2", tool_error: "no" },
        { type: "tool", call_id: "nameless" },
        { type: "text", text: "not a tool" },
      ),
    ]
    expect(Extract.toolResults(messages)).toEqual([
      { tool_name: "a", call_id: "prt_1", status: "in_progress", input: { x: 1 }, output: "out", timestamp: 5 },
      { tool_name: "b", call_id: "call_2", status: "pending", input: {}, error: "no", timestamp: NOW },
    ])
  })
})

describe("workContext, the guide's entry", () => {
  const old = message({ id: "old", timestamp: NOW - 61 * 60_000 })
  const fresh = message({
    id: "new",
    timestamp: NOW,
    parts: [part({ type: "tool", tool_name: "bash", call_id: "call_1", tool_status: "completed" })],
  })
  const files = [{ path: "src/total.ts", content: "export const total = 0\n" }]

  test("takes the messages within the limits, the files as given and the tool calls of what it took", () => {
    const taken = Extract.workContext(context({ messages: [old, fresh] }), files, { lookback_minutes: 60, now: NOW })
    expect(taken.messages.map(({ id }) => id)).toEqual(["new"])
    expect(taken.files).toEqual(files)
    expect(taken.tool_results?.map(({ call_id }) => call_id)).toEqual(["call_1"])
    expect(taken.objective).toBe("Review the sums in src/total.ts")
  })

  test("takes times in seconds for what they are, and hands them on in milliseconds (decision 5)", () => {
    const seconds = (one: typeof fresh) => ({
      ...one,
      timestamp: one.timestamp / 1_000,
      parts: one.parts.map((each) => ({ ...each, timestamp: NOW / 1_000 })),
    })
    const taken = Extract.workContext(context({ messages: [seconds(old), seconds(fresh)] }), files, {
      now: NOW / 1_000,
    })
    expect(taken.messages).toMatchObject([{ id: "new", timestamp: NOW, parts: [{ timestamp: NOW }] }])
    expect(taken.tool_results).toMatchObject([{ timestamp: NOW }])
  })

  test("keeps tool results that the caller chose", () => {
    const tool_results = [
      { tool_name: "x", call_id: "chosen", status: "completed" as const, input: {}, timestamp: NOW },
    ]
    const taken = Extract.workContext(context({ messages: [fresh], tool_results }), [], { now: NOW })
    expect(taken.tool_results).toEqual(tool_results)
  })

  test("falls back on the architecture's limits where none is given", () => {
    const messages = Array.from({ length: 30 }, (_, index) => message({ id: String(index), timestamp: NOW }))
    expect(Extract.workContext(context({ messages: [old, ...messages] }), [], { now: NOW }).messages).toHaveLength(20)
  })
})
