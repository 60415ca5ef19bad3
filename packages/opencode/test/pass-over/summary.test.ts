import { describe, expect, test } from "bun:test"
import type { WorkArtifact } from "../../src/pass-over/domain/artifact"
import { byteLength } from "../../src/pass-over/domain/bytes"
import type { SummaryRequest } from "../../src/pass-over/domain/output"
import { summarise } from "../../src/pass-over/domain/summary"
import { generateSummary, type SummaryDeps } from "../../src/pass-over/service/summary"
import { finding } from "./sample"

const ARTIFACTS: WorkArtifact[] = [
  finding({ severity: "info", message: "a remark" }),
  finding({ severity: "error", message: "it subtracts", location: { path: "src/total.ts", line: 3 } }),
  {
    type: "decision",
    id: "1",
    question: "Split?",
    answer: "no",
    reasoning: "small",
    alternatives_considered: ["wait"],
  },
  { type: "file_modification", path: "a.ts", old_content: "1", new_content: "2", reason: "typo", confidence: "high" },
  { type: "message", role: "assistant", content: "mind the tests", visibility: "user_visible" },
  { type: "tool_result", tool_name: "bash", call_id: "c", input: {}, output: "exit 1", status: "error" },
]

const told = (more: Partial<SummaryRequest> = {}) =>
  summarise({ artifacts: ARTIFACTS, style: "bullet_points", max_length: 5_000, ...more }, byteLength)

describe("a summary by rules", () => {
  test("in points tells everything, the worst first", () => {
    expect(told()).toBe(
      [
        "- decided: Split? no",
        "- error at src/total.ts:3: it subtracts",
        "- info: a remark",
        "- changes a.ts: typo",
        "- said: mind the tests",
        "- bash failed: exit 1",
      ].join("\n"),
    )
  })

  test("that is about what is critical leaves out the rest", () => {
    expect(told({ focus: "critical" })).toBe(
      [
        "- decided: Split? no",
        "- error at src/total.ts:3: it subtracts",
        "- 1 info is not told",
        "- bash failed: exit 1",
      ].join("\n"),
    )
  })

  test("that is about what is critical says how much it leaves out, and never that there was nothing", () => {
    const warnings = ["one", "two", "three"].map((message) => finding({ severity: "warning", message }))
    const critical = (style: SummaryRequest["style"], ...more: WorkArtifact[]) =>
      told({ style, focus: "critical", artifacts: [...warnings, ...more] })
    expect(critical("bullet_points")).toBe("- no errors; 3 warnings are not told")
    expect(critical("narrative")).toBe("The work brought no errors; 3 warnings are not told.")
    expect(critical("decision_tree")).toBe("Are there problems? no errors; 3 warnings are not told")
    const error = finding({ severity: "error", message: "it subtracts" })
    const info = finding({ severity: "info", message: "a remark" })
    expect(critical("narrative", error, info)).toBe(
      [
        "The work brought 1 finding (1 error); 3 warnings and 1 info are not told.",
        "The most serious is error: it subtracts.",
      ].join("\n"),
    )
    expect(critical("decision_tree", error, info)).toBe(
      [
        "Are there problems? yes, 1 finding (1 error); 3 warnings and 1 info are not told",
        "├─ error: it subtracts",
      ].join("\n"),
    )
    expect(told({ style: "narrative", focus: "critical", artifacts: ARTIFACTS.slice(3) })).toStartWith(
      "The work brought no findings.",
    )
  })

  test("for somebody in a hurry counts, and names the worst", () => {
    expect(told({ focus: "high_level" })).toBe(
      [
        "- decided: Split? no",
        "- 2 findings (1 error, 1 info)",
        "- worst: error at src/total.ts:3: it subtracts",
        "- changes 1 file",
      ].join("\n"),
    )
  })

  test("does not end twice what somebody has ended already", () => {
    const artifacts = [finding({ severity: "error", message: "It subtracts.", suggested_fix: "Add. " })]
    const text = summarise({ artifacts, style: "narrative", max_length: 5_000 }, byteLength)
    expect(text).toContain("It subtracts. Fix: Add.")
    expect(text).not.toContain("..")
  })

  test("as an account is made of sentences", () => {
    expect(told({ style: "narrative" })).toBe(
      [
        "The work brought 2 findings (1 error, 1 info).",
        "The most serious is error at src/total.ts:3: it subtracts.",
        "There is also info: a remark.",
        'Asked "Split?" the answer was no, because small.',
        "It changes 1 file: a.ts.",
        "mind the tests",
        "1 tool call of 1 failed.",
      ].join("\n"),
    )
  })

  test("as a tree hangs what follows below each question", () => {
    expect(told({ style: "decision_tree" })).toBe(
      [
        "Split?",
        "├─ no: small",
        "├─ not taken: wait",
        "Are there problems? yes, 2 findings (1 error, 1 info)",
        "├─ error at src/total.ts:3: it subtracts",
        "├─ info: a remark",
        "Does it change files? yes, 1",
        "├─ a.ts",
        "Did anything fail? yes, 1 tool call",
      ].join("\n"),
    )
  })

  test("is never longer than it may be, and empty where there is nothing", () => {
    for (const style of ["bullet_points", "narrative", "decision_tree"] as const) {
      for (let max_length = 1; max_length < 300; max_length += 1) {
        expect(byteLength(told({ style, max_length }))).toBeLessThanOrEqual(max_length)
      }
      expect(told({ style, artifacts: [] })).toBe("")
    }
  })

  test("has of the first line that does not fit as much as does, by whole words", () => {
    const short = (max_length: number) => told({ style: "narrative", max_length })
    expect(short(5)).toBe("Th…")
    expect(short(20)).toBe("The work brought…")
    expect(short(46)).toBe("The work brought 2 findings (1 error, 1 info).")
    expect(short(60)).toBe("The work brought 2 findings (1 error, 1 info).\nThe most…")
    // Of a further line less than a word is nothing.
    expect(short(50)).toBe("The work brought 2 findings (1 error, 1 info).")
    const pair = finding({ severity: "error", message: "👩‍🚀".repeat(30) })
    for (let max_length = 40; max_length < 90; max_length += 1) {
      expect(told({ artifacts: [pair], max_length }).isWellFormed()).toBe(true)
    }
  })
})

describe("generateSummary", () => {
  const deps = (generate?: SummaryDeps["host"]["generate"]): SummaryDeps => ({
    host: generate ? { generate } : {},
    tokens: async () => byteLength,
    nonce: () => "0".repeat(32),
  })
  const request: SummaryRequest = { artifacts: ARTIFACTS, style: "narrative", focus: "critical", max_length: 200 }

  test("asks the model for the style, the focus and the length, with the artifacts as data", async () => {
    const asked: string[] = []
    const text = await generateSummary(
      deps(async ({ prompt, max_tokens }) => {
        asked.push(prompt)
        expect(max_tokens).toBe(200)
        return " It subtracts. "
      }),
      request,
    )
    expect(text).toBe("It subtracts.")
    expect(asked[0]).toContain("connected account")
    expect(asked[0]).toContain("Only what is wrong")
    expect(asked[0]).toContain("At most 200 tokens")
    expect(asked[0]).toContain('"message":"it subtracts"')
  })

  test("has 500 tokens where nobody says how long it may be, as in the architecture, §8.1", async () => {
    const artifacts = Array.from({ length: 40 }, (_, at) =>
      finding({ severity: "error", message: `it subtracts, ${at}` }),
    )
    const open: SummaryRequest = { artifacts, style: "bullet_points" }
    const byRules = await generateSummary(deps(), open)
    expect(byteLength(byRules)).toBeWithin(480, 501)
    const asked: number[] = []
    const said = deps(async ({ prompt, max_tokens }) => {
      asked.push(max_tokens)
      expect(prompt).toContain("At most 500 tokens")
      return "x ".repeat(400)
    })
    expect(byteLength(await generateSummary(said, open))).toBeWithin(480, 501)
    expect(asked).toEqual([500])
  })

  test("is told by rules without a model, with one that fails, and with one that says nothing", async () => {
    const byRules = summarise(request, byteLength)
    expect(byRules).not.toBe("")
    expect(await generateSummary(deps(), request)).toBe(byRules)
    expect(
      await generateSummary(
        deps(() => Promise.reject(new Error("no model"))),
        request,
      ),
    ).toBe(byRules)
    expect(
      await generateSummary(
        deps(async () => "  \n"),
        request,
      ),
    ).toBe(byRules)
  })

  test("can be had by scripts, with a model of their own and without", async () => {
    const { generateSummary: exported } = await import("opencode-pass-over")
    expect(await exported({ ...request, max_length: 500 })).toContain("it subtracts")
    expect(await exported(request, { generate: async ({ max_tokens }) => `${max_tokens} tokens` })).toBe("200 tokens")
    await expect(exported({ ...request, style: "song" } as never)).rejects.toThrow()
  })

  test("keeps a model to its length", async () => {
    const long = Array.from({ length: 50 }, (_, index) => `line ${index}`).join("\n")
    const text = await generateSummary(
      deps(async () => long),
      { ...request, max_length: 40 },
    )
    expect(text).toBe("line 0\nline 1\nline 2\nline 3\nline 4")
  })
})
