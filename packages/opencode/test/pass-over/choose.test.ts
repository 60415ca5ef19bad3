import { describe, expect, test } from "bun:test"
import { byteLength } from "../../src/pass-over/domain/bytes"
import type { ContextMessage } from "../../src/pass-over/domain/context"
import { choose, DIGEST_ID, type Ask } from "../../src/pass-over/domain/select/choose"
import { condense } from "../../src/pass-over/domain/select/condense"
import { cut } from "../../src/pass-over/domain/select/cut"
import { chooseLog, toContext } from "../../src/pass-over/domain/select/log"
import { agentLog, readable, runs } from "./support/agent-log"
import { scan, termOf } from "../../src/pass-over/domain/select/words"

// A token for every four bytes is near enough for what is tested here; the exact count has its own properties.
const count = (text: string) => Math.ceil(byteLength(text) / 4)

const WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa".split(
  " ",
)
/** Words that nobody else says. */
const prose = (about: string, length = 60) =>
  Array.from({ length }, (_, index) => `${about}${WORDS[index % WORDS.length]}${index}`).join(" ")

const says = (id: string, text: string, more: Partial<ContextMessage> = {}): ContextMessage => ({
  id,
  role: "assistant",
  agent_name: "alice",
  timestamp: Number(id.replace(/\D/g, "")) || 0,
  parts: [{ id: `prt_${id}`, type: "text", text }],
  ...more,
})

const crowd = (from: number, size = 8) =>
  Array.from({ length: size }, (_, at) => says(`m${from + at}`, prose(`x${from + at}`)))

/** What goes along so that it can be read, not only seen. */
const taken = (messages: ContextMessage[], ask: Partial<Ask> = {}) =>
  choose(messages, { objective: "anything", max_tokens: 700, count, ...ask })
    .items.filter(({ taken, why }) => taken !== "none" && !why.includes("cut inside"))
    .map(({ ref }) => ref)

describe("a message is taken before others because", () => {
  const among = (one: ContextMessage, ask: Partial<Ask> = {}) =>
    taken([...crowd(10), one, ...crowd(30)], ask).includes(one.id)

  test("it speaks of what the objective names", () => {
    const one = says("m20", `${prose("yyy")} the parser of the ledger`)
    expect(among(one)).toBe(false)
    expect(among(one, { objective: "Why does the ledger parser fail?" })).toBe(true)
  })

  test("it names a file in question", () => {
    const one = says("m20", `${prose("yyy")} total.ts`)
    expect(among(one, { files: ["src/total.ts"] })).toBe(true)
    expect(among(one, { files: ["src/other.ts"] })).toBe(false)
  })

  test("it is the user's own word", () => {
    expect(among(says("m20", prose("yyy"), { role: "user", agent_name: "build" }))).toBe(true)
    const ours = { id: "p", type: "text" as const, text: prose("yyy"), synthetic: true }
    expect(among(says("m20", "", { role: "user", parts: [ours] }))).toBe(false)
  })

  test("its agent is named in the objective", () => {
    const one = says("m20", prose("yyy"), { agent_name: "Surveyor" })
    expect(among(one)).toBe(false)
    expect(among(one, { objective: "What did Surveyor do wrong?" })).toBe(true)
  })

  test("it rests on an assumption, decides, or led to an error", () => {
    expect(among(says("m20", `I assume that ${prose("yyy")}`))).toBe(true)
    expect(among(says("m20", `I decided it: ${prose("yyy")}`))).toBe(true)
    const failed = says("m21", "Traceback: it failed with an error", { agent_name: "Terminal" })
    expect(taken([...crowd(10), says("m20", prose("yyy")), failed, ...crowd(30)])).toContain("m20")
  })

  test("what it says first is taken up later", () => {
    const figure = "the perigee of 356501 kilometres"
    const later = [40, 41, 42].map((at) => says(`m${at}`, `${prose(`z${at}`)} ${figure}`))
    expect(taken([...crowd(10), says("m20", `${prose("yyy")} ${figure}`), ...later])).toContain("m20")
  })

  test("a model ranks it, through `ranked`", () => {
    expect(among(says("m20", prose("yyy")), { ranked: new Map([["m20", 1]]) })).toBe(true)
  })

  test("the user weighs it so", () => {
    const one = says("m20", "Look at this:\n```\n" + prose("yyy") + "\n```")
    expect(among(one, { weights: { kind: { code: 0.01 } } })).toBe(false)
    expect(among(one, { weights: { kind: { code: 9 } } })).toBe(true)
  })
})

test("a copy of what was said before is left out before the first of it", () => {
  const text = prose("same")
  const messages = [says("m1", text), ...crowd(10, 3), says("m20", text), ...crowd(30, 3)]
  const kept = taken(messages, { max_tokens: 700 })
  expect(kept).toContain("m1")
  expect(kept).not.toContain("m20")
})

test("a long answer of a tool is cut inside, with its head, its tail and what matches", () => {
  const middle = Array.from({ length: 400 }, (_, at) => `row ${at} of nothing in particular`)
  middle[200] = "the ledger parser stopped here"
  const output = ["first line", ...middle, "last line"].join("\n")
  const tool = { id: "t", type: "tool" as const, tool_name: "bash", call_id: "t", tool_status: "completed" as const }
  const message = says("m1", "", { parts: [{ ...tool, tool_input: { command: "x" }, tool_output: output }] })
  const choice = choose([message], { objective: "the ledger parser", max_tokens: 500, count })
  const shown = choice.messages.find(({ id }) => id === "m1")?.parts[0]?.tool_output ?? ""
  expect(shown.startsWith("first line")).toBe(true)
  expect(shown.endsWith("last line")).toBe(true)
  expect(shown).toContain("the ledger parser stopped here")
  expect(shown).toContain("[…]")
  expect(choice.items[0]).toMatchObject({ taken: "part", why: expect.stringContaining("cut inside") })
})

test("what did not fit is told in a digest, one line for each run, and every message has its reason", () => {
  const messages = [...crowd(10, 30), says("m50", `the ledger ${prose("yyy", 20)}`), ...crowd(60, 30)]
  const choice = choose(messages, { objective: "the ledger", max_tokens: 4_000, count })
  const digest = choice.messages.find(({ id }) => id === DIGEST_ID)
  expect(choice.messages[0]).toBe(digest as ContextMessage)
  expect(digest?.parts[0]?.text).toMatch(/^Left out here: \d+ of 61 messages\.\n- /)
  expect(choice.items.map(({ ref }) => ref)).toEqual(messages.map(({ id }) => id))
  expect(choice.items.every(({ why }) => why.length > 0)).toBe(true)
  expect(choice.items.find(({ ref }) => ref === "m50")?.why).toContain("speaks of the objective")
})

describe("a condensed text", () => {
  const query = new Set<number>()

  test("keeps four fifths of its runs of five words, and every line of its code", () => {
    for (let seed = 1; seed < 30; seed += 1) {
      for (const { text } of agentLog(seed).messages) {
        const short = condense(text, query).text
        expect(readable(text, runs(short))).toBeGreaterThanOrEqual(0.8)
        for (const block of text.match(/```[\s\S]*?```/g) ?? []) expect(short).toContain(block)
      }
    }
  })

  test("points to what another message says, and does not say it again", () => {
    const line = "this very line stands in another message too, word for word"
    const text = `${prose("a", 50)}\n${line}\n${prose("b", 50)}`
    expect(condense(text, query, 0.18, new Set([line])).text).not.toContain(line)
    expect(condense(text, query, 0.01, new Set([line])).text).toContain(line)
  })

  test("is the text itself where nothing may be lost", () => {
    expect(condense("a  b\n\n\nc", query, 0)).toEqual({ text: "a  b\n\n\nc", lost: 0 })
  })
})

test("a hostile megabyte is condensed, cut and chosen from in time", () => {
  const MB = 1_000_000
  const HOSTILE = [
    "\n".repeat(MB),
    "a\n".repeat(MB / 2),
    "a. ".repeat(MB / 3),
    `${"a".repeat(50)} `.repeat(MB / 51),
    "a".repeat(MB),
    " ".repeat(MB),
    "… ".repeat(MB / 2),
    "the same line again, word for word and in full\n".repeat(MB / 47),
    '{"a":'.repeat(MB / 5),
    "漢".repeat(MB),
  ]
  for (const text of HOSTILE) {
    const began = performance.now()
    condense(text.slice(0, 200_000), new Set())
    cut(text, 200, new Set())
    choose([says("m1", text), says("m2", "short")], { objective: "x", max_tokens: 40, count })
    expect(performance.now() - began).toBeLessThan(3_000)
  }
})

test("a cut never breaks a pair of surrogates and is about as long as it may be", () => {
  const text = "🙂 漢字 word ".repeat(4_000)
  for (const tokens of [10, 50, 333]) {
    const short = cut(text, tokens, new Set())
    expect(short.isWellFormed()).toBe(true)
    expect(short.length).toBeLessThan(tokens * 3.5 + 40)
  }
})

test("words meet by their stems, and other scripts have words too", () => {
  expect(termOf("Parsing")).toBe(termOf("parsed"))
  expect(termOf("parses")).toBe(termOf("parse"))
  expect(scan("漢字").terms).toHaveLength(2)
  expect(scan("the of and").terms).toHaveLength(0)
})

describe("a log of another system", () => {
  test("has people only where a name or a role says so", () => {
    const kinds = toContext([
      { role: "user", text: "a" },
      { role: "user", agent: "human", text: "b" },
      { role: "user", agent: "Excel_Expert", text: "c" },
      { role: "tool", text: "d" },
    ])
    expect(kinds.map(({ role, agent_name }) => `${role} ${agent_name}`)).toEqual([
      "user undefined",
      "user human",
      "assistant Excel_Expert",
      "assistant tool",
    ])
  })

  test("that fits goes along whole, word for word", () => {
    const { text, items } = chooseLog({
      messages: [{ agent: "A", text: "one  two" }],
      objective: "x",
      max_tokens: 100,
      count,
    })
    expect(text).toBe("### A\none  two")
    expect(items).toMatchObject([{ ref: "1", taken: "whole", why: "everything fits" }])
  })

  test("keeps more of what agents did than the latest messages do, and than the shortest", () => {
    const score = { ours: 0, recent: 0, shortest: 0 }
    for (let seed = 1; seed <= 40; seed += 1) {
      const log = agentLog(seed)
      const texts = toContext(log.messages).map(({ parts, agent_name }) => `### ${agent_name}\n${parts[0]?.text}`)
      const max_tokens = Math.floor(count(texts.join("\n")) / 4)
      const fill = (order: number[]) => {
        let left = max_tokens
        return order.filter(
          (at) => (left -= count(texts[at] ?? "") + 1) >= 0 || ((left += count(texts[at] ?? "") + 1), false),
        )
      }
      const indices = texts.map((_, at) => at)
      const size = (at: number) => texts[at]?.length ?? 0
      const shown = {
        ours: runs(chooseLog({ ...log, max_tokens, count }).text),
        recent: runs(
          fill(indices.toReversed())
            .map((at) => texts[at])
            .join("\n"),
        ),
        shortest: runs(
          fill(indices.toSorted((a, b) => size(a) - size(b)))
            .map((at) => texts[at])
            .join("\n"),
        ),
      }
      for (const at of log.acts) {
        for (const name of ["ours", "recent", "shortest"] as const) {
          // Longer ones are likelier to be the one that matters, and so are early ones.
          const chance = size(at) ** 0.3 * Math.exp(-at / texts.length)
          if (readable(log.messages[at]?.text ?? "", shown[name]) >= 0.8) score[name] += chance
        }
      }
    }
    expect(score.ours).toBeGreaterThan(score.recent * 1.5)
    expect(score.ours).toBeGreaterThan(score.shortest * 1.1)
  })
})
