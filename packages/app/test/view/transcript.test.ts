import { describe, expect, test } from "bun:test"
import type { WorkArtifact } from "../../../opencode/src/pass-over/domain/artifact"
import type { TranscriptItem } from "../../../opencode/src/pass-over/domain/transcript"
import {
  createSteps,
  firstLine,
  latest,
  LINES,
  useLine,
  type Step,
} from "../../src/components/pass-over-transcript-view"

type Words = Extract<TranscriptItem, { text: string }>
type Tool = Extract<TranscriptItem, { kind: "tool" }>

let seq = 0

const words = (kind: Words["kind"], text: string, at: number, more: Partial<Words> = {}): Words => ({
  seq: ++seq,
  part: `prt_${String(seq).padStart(4, "0")}`,
  agent: kind === "told" ? null : "audit",
  more: 0,
  kind,
  text,
  at,
  ...more,
})

const call = (tool: string, at: number, more: Partial<Tool> = {}): Tool => ({
  seq: ++seq,
  part: `prt_${String(seq).padStart(4, "0")}`,
  kind: "tool",
  call_id: `call_${tool}`,
  tool,
  failed: false,
  input: '{"filePath":"a.ts"}',
  input_more: 0,
  output: "the beginning",
  output_more: 40,
  at,
  ...more,
})

const result = (tool_name: string, call_id = `call_${tool_name}`): WorkArtifact => ({
  type: "tool_result",
  tool_name,
  call_id,
  input: { filePath: "a.ts" },
  output: "all of it",
  status: "error",
})

const told = (step: Step) => (step.type === "tool" ? step.use.tool : `${step.type}: ${step.text}`)
const steps = (items: TranscriptItem[], artifacts: WorkArtifact[] = []) => createSteps()(items, artifacts, "audit")

describe("a transcript", () => {
  test("stands in the order in which its lines began, however late they were written down, each once", () => {
    const text = words("said", "I look at it.", 20)
    // The tool was done before the words had ended that announced it, and the words came twice.
    const lines = [
      call("read", 30),
      text,
      words("told", "Review it", 10),
      { ...text, seq: 99 },
      words("said", "Done", 40),
    ]
    expect(steps(lines).map(told)).toEqual(["told: Review it", "said: I look at it.", "read", "said: Done"])
    // Within the same millisecond the host's own order holds.
    const [first, second] = [words("said", "one", 50), call("grep", 50)]
    expect(steps([second, first]).map(told)).toEqual(["said: one", "grep"])
  })

  test("shows what was seen of a tool while it works, and the whole of it once there is an outcome", () => {
    const read = call("read", 10)
    const arrange = createSteps()
    expect(arrange([read], [], "audit")).toMatchObject([
      { use: { input: '{\n  "filePath": "a.ts"\n}', output: "the beginning", output_more: 40, failed: false, at: 10 } },
    ])
    expect(arrange([read], [result("read")], "audit")).toMatchObject([
      { use: { output: "all of it", output_more: 0, failed: true, at: 10 } },
    ])
    // A provider that numbers its calls anew in every answer: what stands there is what was seen.
    const twice = [read, call("read", 20)]
    expect(
      steps(twice, [result("read"), result("read")]).map((step) => step.type === "tool" && step.use.output),
    ).toEqual(["the beginning", "the beginning"])
    expect(steps([call("grep", 10, { input: "cut {", call_id: null })])).toMatchObject([{ use: { input: "cut {" } }])
  })

  test("a line stays the same step while more comes, so that what is open stays open", () => {
    const arrange = createSteps()
    const [first, second] = [words("said", "one", 1), call("read", 2)]
    const before = arrange([first, second], [], "audit")
    const after = arrange([first, second, words("said", "two", 3)], [], "audit")
    expect(after[0]).toBe(before[0])
    expect(after[1]).toBe(before[1])
    expect(after).toHaveLength(3)
  })

  test("loses nothing that was kept and not seen, and tells what it noted, its last words but once", () => {
    const message = (content: string, role: "assistant" | "internal") =>
      ({ type: "message", role, content, visibility: "user_visible" }) as const
    const lines = steps(
      [call("read", 10), words("said", "The sign is wrong.", 20)],
      [message("The sign is wrong.", "assistant"), message("for alice", "internal"), result("read"), result("bash")],
    )
    expect(lines.map(told)).toEqual(["read", "said: The sign is wrong.", "bash", "noted: for alice"])
    expect(lines.at(-1)).toMatchObject({ internal: true })
  })

  test("of many lines shows the last and the first, and says how many are in between", () => {
    const many = steps(Array.from({ length: 1_203 }, (_, index) => words("said", `line ${index}`, index)))
    const some = latest(many, LINES)
    expect([some.first && told(some.first), some.left, some.last.length]).toEqual(["said: line 0", 499, 703])
    expect(some.last.map(told).at(-1)).toBe("said: line 1202")
    const all = latest(many, LINES * 3)
    expect([all.first, all.left, all.last.length]).toEqual([undefined, 0, 1_203])
    expect(latest(many.slice(0, LINES * 2 - 1), LINES).left).toBe(0)
    // As more comes the beginning of what is shown stays where it is.
    expect(latest(many.slice(0, 1_400), LINES).last[0]).toBe(latest(many, LINES).last[0])
  })

  test("says who spoke where it was not the child", () => {
    const [own, other] = steps([words("said", "a", 1), words("said", "b", 2, { agent: "compaction" })])
    expect(own).toMatchObject({ by: undefined })
    expect(other).toMatchObject({ by: "compaction" })
  })
})

test("a call is known by what it was called with that says most, a text by its beginning", () => {
  expect(useLine({ input: '{"n":1,"command":"a\\nb"}' })).toBe("a b")
  expect(useLine({ input: "not\njson" })).toBe("not json")
  expect(useLine({ input: "[1]" })).toBe("")
  expect(firstLine(`  # A\n\n${"b".repeat(500)}`)).toBe(`# A ${"b".repeat(116)}`)
})
