import { describe, expect, test } from "bun:test"
import { AGENTS, ORIGINATORS } from "../../src/agent/agent"
import { unenforceable } from "../../src/pass-over/domain/constraint"
import { Report } from "../../src/pass-over/domain/report"
import { PassOverArgs } from "../../src/tool/pass-over"

const promptOf = (name: string) => AGENTS.find((agent) => agent.name === name)?.host.prompt ?? ""
const headings = (name: string) => [...promptOf(name).matchAll(/^# (.+)$/gm)].map(([, heading]) => heading)

const section = (name: string, heading: string) => {
  const [, after = ""] = promptOf(name).split(`# ${heading}\n`)
  return after.split("\n#")[0] ?? ""
}

/** "- objective: …. reason: …": the names that a section explains, in a line or at its beginning. */
const explained = (name: string, heading: string) =>
  [...section(name, heading).matchAll(/(?:^- |\. )([a-z_]+):/gm)].map(([, word = ""]) => word)

/** What a section has to speak of, in every originator's prompt. */
const GUIDE: Record<string, RegExp[]> = {
  "When to pass work over": [/audit/],
  "How to call pass_over": [/objective:/, /reason:/],
  "How to handle what comes back": [/data/, /VERIFIED/, /failed/, /E…/],
  "What to avoid": [/pass(ing)? /i],
}

// Guide 9.1: when to pass over, how, how to handle what comes back, what to avoid.
describe("the prompts", () => {
  test("tell an originator when and how to pass work over, and what to do with what comes back", () => {
    expect(ORIGINATORS).toEqual(["alice", "scout"])
    for (const name of ORIGINATORS) {
      for (const [heading, words] of Object.entries(GUIDE)) {
        expect(headings(name)).toContain(heading)
        for (const word of words) expect(`${name}: ${section(name, heading)}`).toMatch(word)
      }
    }
  })

  test.each(["audit", "scout", "inspector"])("tell %s how to return, and what to avoid", (name) => {
    expect(headings(name)).toContain("How you return")
    expect(headings(name)).toContain("What to avoid")
    expect(promptOf(name)).toContain("pass_over_return exactly once")
  })

  test("name only what there is", () => {
    for (const name of ORIGINATORS) {
      const args = explained(name, "How to call pass_over")
      expect(args).toContain("objective")
      expect(args.filter((arg) => !(arg in PassOverArgs.shape))).toEqual([])
    }
    for (const name of ["audit", "scout", "inspector"]) {
      const fields = explained(name, "How you return")
      expect(fields).toContain("evidence")
      expect(fields.filter((field) => !(field in Report.shape))).toEqual([])
    }
    const [, constraints = ""] = /limits that are enforced: (.+?)\. What/.exec(promptOf("alice")) ?? []
    const named = [...constraints.matchAll(/"([^"]+)"|([a-z_]+)/g)].map(([, quoted, word]) => quoted ?? word ?? "")
    expect(named.length).toBeGreaterThan(3)
    expect(unenforceable(named)).toBeUndefined()
  })
})
