import { describe, expect, test } from "bun:test"
import { assert, constantFrom, integer, nat, option, property, record, string, uniqueArray } from "fast-check"
import type { ContextMessage, MessagePart } from "../../src/pass-over/domain/context"
import { isRedacted, redact } from "../../src/pass-over/domain/secret"
import {
  beginning,
  PASS_CHARACTERS,
  SAID_CHARACTERS,
  saidData,
  transcriptItem,
  transcriptOf,
  turnData,
} from "../../src/pass-over/domain/transcript"
import { inOrder } from "../../src/pass-over/domain/transcript-order"
import { plant } from "./support/secrets"

const SEED = { seed: 11, numRuns: 200 }

describe("the beginning of a text", () => {
  test("is all of it where it is short, and says how much more there was where it is not", () => {
    expect(beginning("short", 10)).toEqual({ text: "short", more: 0 })
    expect(beginning("0123456789", 10)).toEqual({ text: "0123456789", more: 0 })
    expect(beginning("0123456789a", 10)).toEqual({ text: "0123456789", more: 1 })
    expect(beginning("x".repeat(100_000), 10)).toEqual({ text: "xxxxxxxxxx", more: 99_990 })
    expect(beginning("", 10)).toEqual({ text: "", more: 0 })
  })

  test("of any text without a secret is its beginning, and nothing of it is unaccounted for", () => {
    const text = string({ unit: constantFrom("a ", "\n", "é", "😀"), maxLength: 6_000 })
    assert(
      property(text, integer({ min: 0, max: 5_000 }), (given, most) => {
        const { text, more } = beginning(given, most)
        expect(text.length + more).toBe(given.length)
        expect(text.length).toBeLessThanOrEqual(most)
        // Half of a pair is nothing that can be written down.
        expect(text.isWellFormed()).toBe(true)
        expect(given.startsWith(text.replace(/\uFFFD$/, ""))).toBe(true)
      }),
      SEED,
    )
  })

  test("has nothing of a secret in it, wherever the cut goes through it, or through what was looked at of the text", () => {
    for (const { value, text, kind } of plant(40).filter(({ value }) => value.length >= 16)) {
      expect({ kind, redacted: isRedacted(redact(text).text) }).toEqual({ kind, redacted: true })
      const half = value.slice(0, Math.floor(value.length / 2))
      for (let at = 0; at <= text.length; at += 7) {
        expect(beginning(`${"- ".repeat(500)}${text} and on`, 1_000 + at).text).not.toContain(half)
      }
      // So many that taking them out brings the end of what was looked at into what is shown.
      for (let most = 1; most < 400; most += 29) {
        expect(beginning(`${text}\n`.repeat(400), most + 8_000).text).not.toContain(half)
      }
    }
  })
})

describe("what is kept", () => {
  test("of words is their beginning, and little of them once a child has said a great deal", () => {
    const text = "word ".repeat(10_000)
    const said = { id: "prt_1", kind: "said", text, agent: "audit", at: 5 } as const
    expect(saidData(said, PASS_CHARACTERS)).toMatchObject({ part: "prt_1", agent: "audit", began: 5 })
    expect(saidData(said, 1).text).toHaveLength(SAID_CHARACTERS)
    expect(saidData(said, 0)).toMatchObject({ text: text.slice(0, 200), more: 49_800 })
  })

  test("is read as it was kept; what is no line of a transcript is none", () => {
    const kept = (type: string, data: Record<string, unknown>) => transcriptItem({ seq: 7, at: 9, type, data })
    const said = saidData({ id: "prt_1", kind: "thought", text: "Hm", at: 5 }, 1)
    expect(kept("pass.said", said)).toEqual([
      { seq: 7, at: 5, part: "prt_1", kind: "thought", agent: null, text: "Hm", more: 0 },
    ])
    const turn = turnData({ tool: "read", input: "{}", output: "x".repeat(2_001), failed: false, call_id: "call_1" })
    expect(kept("pass.artifact", turn)).toMatchObject([
      { at: 9, part: null, kind: "tool", tool: "read", call_id: "call_1", output_more: 1 },
    ])
    expect(kept("pass.said", { text: "no kind" })).toEqual([])
    expect(kept("pass.said", { ...said, kind: "tool" })).toEqual([])
    expect(kept("pass.artifact", { ...said, tool: 5 })).toEqual([])
  })
})

const part = (id: string, more: Partial<MessagePart>): MessagePart => ({ id, type: "text", ...more })
const message = (role: "user" | "assistant", parts: MessagePart[]): ContextMessage => ({
  id: `msg_${parts[0]?.id}`,
  role,
  timestamp: 3,
  parts,
  ...(role === "assistant" ? { agent_name: "audit" } : {}),
})

test("messages that are read are the same lines: words, thoughts and calls that are over, and no notes of the host", () => {
  const tool = (id: string, tool_status: MessagePart["tool_status"]) =>
    part(id, { type: "tool", tool_name: "bash", tool_status, tool_error: "no", tool_output: "yes" })
  const lines = transcriptOf([
    message("user", [part("1", { text: "Review it" }), part("2", { text: "a file", synthetic: true })]),
    message("assistant", [
      part("3", { type: "reasoning", text: "Hm", timestamp: 4 }),
      part("4", { text: "  " }),
      part("5", { text: "I run it" }),
      tool("6", "completed"),
      tool("7", "error"),
      tool("8", "running"),
      part("9", { text: "returned to alice", ignored: true }),
    ]),
  ])
  expect(lines).toMatchObject([
    { said: { id: "1", kind: "told", text: "Review it", at: 3 } },
    { said: { id: "3", kind: "thought", agent: "audit", at: 4 } },
    { said: { id: "5", kind: "said", text: "I run it" } },
    { turn: { id: "6", tool: "bash", output: "yes", failed: false } },
    { turn: { id: "7", output: "no", failed: true } },
  ])
})

test("lines are in the order in which they began, each once, in whatever order they come", () => {
  const line = record({ seq: nat(30), at: nat(5), part: option(constantFrom("a", "b", "c")) })
  assert(
    property(uniqueArray(line, { selector: ({ seq }) => seq }), (lines) => {
      const ordered = inOrder(lines)
      expect(ordered.map(({ at }) => at)).toEqual(ordered.map(({ at }) => at).toSorted((a, b) => a - b))
      const parts = ordered.flatMap(({ part }) => part ?? [])
      expect(new Set(parts).size).toBe(parts.length)
      expect(new Set(parts)).toEqual(new Set(lines.flatMap(({ part }) => part ?? [])))
    }),
    SEED,
  )
})
