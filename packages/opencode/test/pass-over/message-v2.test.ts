import { describe, expect, test } from "bun:test"
import type { Part } from "@opencode-ai/sdk/v2"
import { plain } from "../../src/pass-over/domain/plain"
import { Extract } from "../../src/pass-over/domain/extract"
import { toMessage, toPart, type Stored } from "../../src/session/message-v2"

/** Parts as no type allows them: what a host of another version, or somebody hostile, may hand over. */
const odd = (part: unknown) => toPart(part as Part)
const stored = (info: unknown, parts: unknown) => toMessage({ info, parts } as unknown as Stored)

describe("kinds that opencode 1.18.33 knows and stores in no session of ours", () => {
  test("a snapshot is left out", () => {
    expect(odd({ id: "p", type: "snapshot", snapshot: "abc" })).toBeUndefined()
  })

  test("a retry tells of its failure", () => {
    const error = { name: "APIError", data: { message: "overloaded" } }
    expect(odd({ id: "p", type: "retry", attempt: 2, error })).toEqual({
      id: "p",
      type: "text",
      text: "Attempt 2 failed: overloaded",
      synthetic: true,
      ignored: true,
    })
  })
})

describe("an odd part", () => {
  test("of a later version is kept as it is", () => {
    const part = { id: "p", type: "hologram", depth: 3, inner: { a: [1, "b"] } }
    expect(odd(part)).toEqual({
      id: "p",
      type: "text",
      text: "[hologram]",
      synthetic: true,
      ignored: true,
      metadata: { host_part: part },
    })
  })

  test("of any shape becomes something that can be stored, and never throws", () => {
    const circle: Record<string, unknown> = { id: "p", type: "tool", tool: "x", callID: "c" }
    circle.state = { status: "completed", input: { circle }, output: "o", metadata: circle }
    const trap = Object.defineProperty({ id: "p", type: "tool" }, "state", {
      enumerable: true,
      get() {
        throw new Error("no")
      },
    })
    const shapes: unknown[] = [
      undefined,
      null,
      7,
      "text",
      [],
      {},
      { type: "text" },
      { id: 5, type: "text", text: 5, time: "now", metadata: 3 },
      { id: "p", type: "tool" },
      { id: "p", type: "tool", state: { status: "exploded", input: 4 } },
      { id: "p", type: "tool", tool: 1, state: { status: "completed", output: { not: "text" } } },
      { id: "p", type: "file" },
      { id: "p", type: "patch", files: "none" },
      { id: "p", type: "subtask" },
      { id: "p", type: "reasoning", text: "x".repeat(5_000_000), time: { start: -1 } },
      {
        id: "p",
        type: "tool",
        tool: "x",
        state: { status: "completed", output: "y".repeat(5_000_000), input: new Uint8Array(9) },
      },
      circle,
      trap,
    ]
    for (const shape of shapes) {
      const made = odd(shape)
      expect(() => JSON.stringify(made)).not.toThrow()
      if (made) expect(made.text?.length ?? 0).toBeLessThanOrEqual(4_000_000)
    }
    const message = stored({ id: "m", role: "assistant", agent: "audit", time: { created: 5 } }, shapes)
    expect(() => JSON.stringify(Extract.artifacts([message], "audit"))).not.toThrow()
    expect(message.parts.length).toBeGreaterThan(10)
  })
})

describe("an odd message", () => {
  test("is a message all the same", () => {
    for (const info of [undefined, null, {}, { id: 3, role: "system", time: 4 }]) {
      expect(stored(info, undefined)).toMatchObject({ id: "unknown", role: "assistant", timestamp: 0, parts: [] })
    }
  })

  test("that broke off says why, unless it was stopped", () => {
    const info = { id: "m", role: "assistant", time: { created: 1 } }
    const error = { name: "APIError", data: { message: "overloaded" } }
    expect(stored({ ...info, error }, []).parts).toMatchObject([
      { id: "m_error", text: "This answer failed: APIError overloaded", synthetic: true },
    ])
    expect(stored({ ...info, error: { name: "MessageAbortedError", data: {} } }, []).parts).toEqual([])
  })
})

describe("what both sides of are known", () => {
  const call = (tool: string, state: object) =>
    odd({ id: "p", type: "tool", tool, callID: "c", state: { status: "completed", output: "", ...state } })?.metadata
      ?.file_changes

  test("is a new file, by write and by patch", () => {
    const input = { filePath: "/project/src/a.ts", content: "one\n" }
    const metadata = { filepath: "/project/src/a.ts", exists: false }
    expect(call("write", { title: "src/a.ts", input, metadata })).toEqual([
      { path: "src/a.ts", old_content: "", new_content: "one\n" },
    ])
    const patch = "--- /dev/null\n+++ b/src/b.ts\n@@ -0,0 +1,2 @@\n+one\n+++two\n"
    const files = [{ relativePath: "src/b.ts", type: "add", patch }]
    expect(call("apply_patch", { input: {}, metadata: { files } })).toEqual([
      { path: "src/b.ts", old_content: "", new_content: "one\n++two\n" },
    ])
  })

  test("is nothing that was there before, and nothing that did not happen", () => {
    const input = { filePath: "/project/src/a.ts", content: "one\n" }
    expect(call("write", { input, metadata: { filepath: "/project/src/a.ts", exists: true } })).toBeUndefined()
    expect(call("edit", { input: { filePath: "a", oldString: "1", newString: "2" }, metadata: {} })).toBeUndefined()
    expect(call("write", { status: "error", input, metadata: { exists: false } })).toBeUndefined()
  })
})

test("a plain value is bounded: depth, width, circles, bytes, functions", () => {
  const deep: Record<string, unknown> = {}
  let at = deep
  for (let level = 0; level < 10_000; level += 1) at = at.next = {} as Record<string, unknown>
  expect(() => JSON.stringify(plain(deep))).not.toThrow()
  const wide = plain(Array.from({ length: 1_000_000 }, (_, index) => index)) as unknown[]
  expect(wide.length).toBeLessThanOrEqual(20_000)
  expect(plain({ big: 1n, f: () => 1, nan: NaN, bytes: new Uint8Array(3), when: new Date(0) })).toEqual({
    big: "1",
    f: "[function]",
    nan: "NaN",
    bytes: "[3 bytes]",
    when: "1970-01-01T00:00:00.000Z",
  })
  const shared = { a: 1 }
  expect(plain([shared, shared])).toEqual([{ a: 1 }, { a: 1 }])
})
