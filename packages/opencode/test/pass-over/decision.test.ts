import { describe, expect, test } from "bun:test"
import { decisions } from "../../src/pass-over/domain/decision"
import { part } from "./sample"

const found = (text: string) => decisions(part({ type: "reasoning", text }))
const short = (text: string) => found(text).map(({ question, answer }) => `${question} ${answer}`)

describe("a decision is found", () => {
  test("in the convention's own form, with its question and its answer", () => {
    expect(found("DECISION: Split the file? yes")).toEqual([
      {
        type: "decision",
        id: "prt_1",
        question: "Split the file?",
        answer: "yes",
        reasoning: "DECISION: Split the file? yes",
      },
    ])
  })

  const DRESSED = [
    "Decision: Split the file? yes",
    "**DECISION:** Split the file? yes",
    "**DECISION**: Split the file? **yes**",
    "__Decision:__ Split the file? _yes_",
    "## Decision: Split the file? Yes.",
    "- DECISION: Split the file? `yes`",
    "> DECISION: Split the file? yes",
    "> - **Decision** : Split the file? Yes, because it is long",
    "1. DECISION: Split the file? yes",
    "DECISION - Split the file? yes",
    "DECISION – Split the file? yes",
    "DECISION — Split the file? yes",
    "DECISION (final): Split the file? yes",
    "**DECISION (round 2):** Split the file? yes",
    "I have weighed it. DECISION: Split the file? yes",
    "\t  DECISION:   Split the file?   yes  ",
    "DECISION: Split the file? yes\r",
    "DECISION: Split the file?\nANSWER: yes",
    "DECISION: one file too many\r\nQUESTION: Split the file?\r\nANSWER: yes\r\n",
    "DECISION: x\n- **Question:** Split the file?\n- **Answer:** **Yes**",
  ]
  for (const text of DRESSED) {
    test(`in ${JSON.stringify(text)}`, () => {
      expect(short(text)).toEqual(["Split the file? yes"])
    })
  }

  test("in text as in reasoning, and in no other part", () => {
    const text = "DECISION: Split the file? yes"
    expect(decisions(part({ type: "text", text }))).toHaveLength(1)
    expect(decisions(part({ type: "tool", text }))).toEqual([])
    expect(decisions(part({ type: "file", text }))).toEqual([])
  })
})

describe("a decision is not found", () => {
  const PROSE = [
    "",
    "The decision is hard.",
    "Decision-making: a primer",
    "decisions: none",
    "A decision was made: go on",
    "DECISION",
    "DECISION\n: yes",
  ]
  for (const text of PROSE) {
    test(`in ${JSON.stringify(text)}`, () => {
      expect(found(text)).toEqual([])
    })
  }

  test("in what we wrote ourselves", () => {
    expect(decisions(part({ text: "DECISION: Split? yes", synthetic: true }))).toEqual([])
  })
})

describe("the answer is", () => {
  const ANSWERS = {
    yes: ["yes", "Yes.", "Y", "YES, with care", "approve", "approved", "accepted", "true", "go", "proceed", "**yes**"],
    no: ["no", "No, not yet", "N", "reject", "rejected", "deny", "denied", "false", "stop", "do not", "don't", "_no_"],
    unknown: ["", "perhaps", "not sure", "nothing yet", "n/a", "yesterday", "gone", "nobody knows", "unknown", "?"],
  }
  for (const [answer, words] of Object.entries(ANSWERS)) {
    test(`${answer} where the agent says ${words.map((word) => JSON.stringify(word)).join(", ")}`, () => {
      expect(words.filter((word) => found(`DECISION: x\nANSWER: ${word}`)[0]?.answer !== answer)).toEqual([])
    })
  }

  test("read from the decision itself where there is no question in it", () => {
    expect(short("DECISION: approve")).toEqual(["approve yes"])
    expect(short("DECISION: rejected, it breaks the build")).toEqual(["rejected, it breaks the build no"])
    expect(short("DECISION: use a queue  ")).toEqual(["use a queue unknown"])
  })
})

describe("the fields that follow a decision", () => {
  const whole = [
    "DECISION: the file is too long",
    "QUESTION: Split the file?",
    "ANSWER: yes",
    "REASONING: it has two jobs",
    "ALTERNATIVES CONSIDERED: leave it; Move one half, Rewrite it | nothing",
  ].join("\n")

  test("are its question, answer, reasoning and alternatives", () => {
    expect(found(whole)).toEqual([
      {
        type: "decision",
        id: "prt_1",
        question: "Split the file?",
        answer: "yes",
        reasoning: "it has two jobs",
        alternatives_considered: ["leave it", "Move one half", "Rewrite it", "nothing"],
      },
    ])
  })

  test("may be called because, reason or rationale", () => {
    for (const name of ["BECAUSE", "Reason", "rationale"]) {
      expect(found(`DECISION: go\n${name}: it is tested`)[0]?.reasoning).toBe("it is tested")
    }
  })

  test("end at an empty line", () => {
    const [one] = found("DECISION: go\n\nANSWER: no\nBECAUSE: of something else")
    expect(one).toMatchObject({ answer: "yes", reasoning: "DECISION: go" })
    expect(found("DECISION: go\n \t\nANSWER: no")).toMatchObject([{ answer: "yes" }])
  })

  test("belong each to the decision above them", () => {
    const all = found("DECISION: A?\nANSWER: yes\nDECISION: B?\nANSWER: no\n\nprose\n\nDECISION: C? maybe")
    expect(all.map(({ id, question, answer }) => [id, question, answer])).toEqual([
      ["prt_1", "A?", "yes"],
      ["prt_1:2", "B?", "no"],
      ["prt_1:3", "C?", "unknown"],
    ])
  })

  test("keep a comma that separates nothing", () => {
    const [one] = found("DECISION: go\nALTERNATIVES: wait, then go, Do it by hand")
    expect(one?.alternatives_considered).toEqual(["wait, then go", "Do it by hand"])
    expect(found("DECISION: go\nALTERNATIVES: wait")[0]?.alternatives_considered).toEqual(["wait"])
    expect(found("DECISION: go\nALTERNATIVES: ;")[0]?.alternatives_considered).toBeUndefined()
  })
})

// The best of three, so that a busy machine does not fail it; what is not linear takes minutes each time.
function best(run: () => unknown): number {
  const times = [1, 2, 3].map(() => {
    const began = performance.now()
    run()
    return performance.now() - began
  })
  return Math.min(...times)
}

describe("a hostile megabyte is read in time", () => {
  const MB = 1_000_000
  const HOSTILE: Record<string, string> = {
    "stars after the word": `DECISION${"*".repeat(MB)}`,
    "blanks after the word": `DECISION${" ".repeat(MB)}x`,
    "stars around a bracket": `DECISION${"*".repeat(MB / 2)}(x)${"*".repeat(MB / 2)}`,
    "stars before a line separator": `DECISION:${"*".repeat(MB)}\u2028x`,
    "brackets that never close": `DECISION ${"(x".repeat(MB / 2)}`,
    "dashes and nothing": `${"-".repeat(MB)}DECISIO`,
    "heads without end": "DECISION".repeat(MB / 8),
    "heads in one line": "DECISION:".repeat(MB / 9),
    "heads in many lines": "DECISION: x?\n".repeat(MB / 13),
    "questions without end": `DECISION: ${"?a".repeat(MB / 2)}\u2028`,
    "blanks inside alternatives": `DECISION: x\nALTERNATIVES: a${" ".repeat(MB)}b`,
    "commas inside alternatives": `DECISION: x\nALTERNATIVES: a${" ,".repeat(MB / 2)}b`,
    "stars around an answer": `DECISION: x\nANSWER: y${"*".repeat(MB)}n`,
    "fields without end": `DECISION: x\n${"ANSWER: yes\n".repeat(MB / 12)}`,
    "stars before a field": `DECISION: x\n${"*".repeat(MB)}\nANSWER${"*".repeat(MB)}`,
  }
  for (const [name, text] of Object.entries(HOSTILE)) {
    test(`with ${name}`, () => {
      expect(best(() => found(text))).toBeLessThan(200)
    })
  }
})
