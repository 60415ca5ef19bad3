import { describe, expect, test } from "bun:test"
import type { z } from "zod"
import { bySeverity, FindingArtifact, place } from "../../src/pass-over/domain/artifact"
import { ContextError, ContextFile, ContextMessage, ContextToolResult } from "../../src/pass-over/domain/context"
import { OriginationLink, statistics, SummaryRequest, WorkSummary } from "../../src/pass-over/domain/output"
import { PassOverMarker, PassOverReturnMarker } from "../../src/pass-over/domain/request"
import { PassOver } from "../../src/pass-over/domain/types"
import { finding, PASS, summary } from "./sample"

// The architecture, §2, written out with every field that it has, in its own words where it gives any.
const TIME = 1_700_000_000
const MS = TIME * 1_000

const PART = {
  id: "prt_1",
  type: "tool",
  text: "text",
  synthetic: true,
  ignored: false,
  tool_name: "bash",
  call_id: "call_1",
  tool_status: "running",
  tool_input: { command: "grep" },
  tool_output: "out",
  tool_error: "error",
  file_url: "file:///a",
  file_path: "a",
  file_mime: "text/plain",
  timestamp: MS,
  metadata: { reason: "because" },
}

const FILE = { path: "src/a.ts", content: "1", metadata: { size_bytes: 1, last_modified: MS, is_binary: false } }
const MESSAGE = { id: "msg_1", role: "assistant", agent_name: "alice", parts: [PART], timestamp: MS }
const RESULT = {
  tool_name: "bash",
  call_id: "call_1",
  status: "in_progress",
  input: { command: "grep" },
  output: "out",
  error: "error",
  timestamp: MS,
}
const ERROR = { type: "TypeError", message: "x is undefined", context: "a.ts" }

const CONTEXT = {
  session_id: "ses_1",
  directory: "/project",
  files: [FILE],
  messages: [MESSAGE],
  tool_results: [RESULT],
  todos: [{ content: "fix", status: "pending", priority: "high", id: "1" }],
  errors: [ERROR],
  objective: "Review changes for correctness and style",
  background: "the build is red",
}

const REQUEST = {
  id: PASS,
  originating_agent_id: "alice",
  subagent_id: "audit",
  work_context: CONTEXT,
  reason: "review_changes",
  priority: "high",
  timeout_ms: 30_000,
  return_required: true,
  auto_apply_on_success: false,
  constraints: ["no_external_calls", "read_only"],
  expected_output_type: "mixed",
}

const ARTIFACTS = {
  file_modification: {
    type: "file_modification",
    path: "src/a.ts",
    old_content: "1",
    new_content: "2",
    reason: "why this change",
    confidence: "medium",
  },
  decision: {
    type: "decision",
    id: "dec_1",
    question: "what decision was made",
    answer: "unknown",
    reasoning: "so",
    alternatives_considered: ["another"],
  },
  message: { type: "message", role: "internal", content: "text", visibility: "originator_only" },
  finding: {
    type: "finding",
    severity: "error",
    category: "logic_error",
    message: "Missing null check",
    location: { path: "src/a.ts", line: 42, column: 7 },
    suggested_fix: "check it",
  },
  tool_result: {
    type: "tool_result",
    tool_name: "bash",
    call_id: "call_1",
    input: { command: "bun test" },
    output: "ok",
    status: "error",
  },
}

const LINK = { agent_id: "alice", timestamp: MS, action: "initiated" }

const METADATA = {
  created_at: MS,
  started_at: MS + 1,
  completed_at: MS + 2,
  returned_at: MS + 60_000,
  pass_over_id: PASS,
  trace_id: "trace",
  chain_depth: 1,
  origination_chain: [
    LINK,
    { agent_id: "scout", timestamp: MS, action: "delegated" },
    { agent_id: "audit", timestamp: MS, action: "returned" },
  ],
  policy_name: "alice->audit",
  policy_override: true,
  wall_time_ms: 60_000,
  subagent_compute_ms: 59_000,
  applied: true,
  applied_at: MS + 70_000,
  applied_by: "ada",
}

const OUTPUT = {
  work_id: PASS,
  subagent_id: "audit",
  originating_agent_id: "alice",
  status: "partial",
  completion_reason: "out of time",
  artifacts: Object.values(ARTIFACTS),
  summary: {
    generated_summary: "in short",
    decision: "needs_modification",
    decision_reason: "two of them",
    findings: ["Line 42 has logic error", "Missing null check"],
    recommendations: ["add a test"],
    files_modified: 1,
    files_reviewed: 2,
    issues_found: 2,
    time_elapsed_ms: 60_000,
  },
  return_to: "alice",
  auto_apply_allowed: false,
  metadata: METADATA,
}

const SUMMARY_REQUEST = {
  artifacts: Object.values(ARTIFACTS),
  style: "bullet_points",
  max_length: 500,
  focus: "critical",
}

const accepts = (schema: z.ZodType, value: unknown) => schema.safeParse(value).success
const without = (value: object, key: string) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
const dispensable = (schema: z.ZodType, value: object) =>
  Object.keys(value).filter((key) => accepts(schema, without(value, key)))

/** Each shape of §2 with what in it is optional, by hand. */
const SHAPES: [name: string, schema: z.ZodType, whole: object, optional: string[]][] = [
  [
    "PassOver.Request",
    PassOver.Request,
    REQUEST,
    ["priority", "timeout_ms", "auto_apply_on_success", "constraints", "expected_output_type"],
  ],
  ["PassOver.WorkContext", PassOver.WorkContext, CONTEXT, ["tool_results", "todos", "errors", "background"]],
  [
    "PassOver.MessagePart",
    PassOver.MessagePart,
    PART,
    Object.keys(PART).filter((key) => key !== "id" && key !== "type"),
  ],
  ["PassOver.WorkOutput", PassOver.WorkOutput, OUTPUT, ["completion_reason"]],
  [
    "PassOver.Metadata",
    PassOver.Metadata,
    METADATA,
    [
      "started_at",
      "completed_at",
      "returned_at",
      "trace_id",
      "policy_name",
      "policy_override",
      "applied_at",
      "applied_by",
    ],
  ],
  ["a file modification", PassOver.Artifact, ARTIFACTS.file_modification, []],
  ["a decision", PassOver.Artifact, ARTIFACTS.decision, ["alternatives_considered"]],
  ["a message", PassOver.Artifact, ARTIFACTS.message, []],
  ["a finding", PassOver.Artifact, ARTIFACTS.finding, ["location", "suggested_fix"]],
  ["a tool result", PassOver.Artifact, ARTIFACTS.tool_result, []],
  ["a place of a finding", FindingArtifact.shape.location, ARTIFACTS.finding.location, ["line", "column"]],
  ["a file of a context", ContextFile, FILE, ["content", "metadata"]],
  ["a file's metadata", ContextFile.shape.metadata, FILE.metadata, []],
  ["a message of a context", ContextMessage, MESSAGE, ["agent_name"]],
  ["a tool result of a context", ContextToolResult, RESULT, ["output", "error"]],
  ["an error of a context", ContextError, ERROR, ["context"]],
  ["a summary", WorkSummary, OUTPUT.summary, ["generated_summary", "decision", "decision_reason", "recommendations"]],
  ["a link of the origination chain", OriginationLink, LINK, []],
  ["a request for a summary, §8.1", SummaryRequest, SUMMARY_REQUEST, ["max_length", "focus"]],
]

for (const [name, schema, whole, optional] of SHAPES) {
  describe(name, () => {
    test("takes every field that the architecture gives it, and gives it back unchanged", () => {
      expect(schema.parse(whole)).toEqual(whole)
    })

    test("does without what is optional there, and without nothing else", () => {
      expect(dispensable(schema, whole).toSorted()).toEqual(optional.toSorted())
    })

    test("takes no field that nobody knows", () => {
      expect(accepts(schema, { ...whole, nonsense: 1 })).toBe(false)
    })

    test("takes no value of another kind in any field", () => {
      const lenient = Object.keys(whole).filter((key) => accepts(schema, { ...whole, [key]: Symbol("wrong") }))
      expect(lenient).toEqual([])
    })
  })
}

describe("inside a shape", () => {
  // Each of these differs from a good value in one place.
  type Bad = [what: string, schema: z.ZodType, value: unknown]
  const BAD: Bad[] = [
    ["a pass id that is no UUID", PassOver.Request, { ...REQUEST, id: "pass-xxx" }],
    ["a reason of blanks", PassOver.Request, { ...REQUEST, reason: "  " }],
    ["a priority that nobody knows", PassOver.Request, { ...REQUEST, priority: "urgent" }],
    ["no time at all", PassOver.Request, { ...REQUEST, timeout_ms: 0 }],
    ["more than a day", PassOver.Request, { ...REQUEST, timeout_ms: 86_400_001 }],
    ["an empty constraint", PassOver.Request, { ...REQUEST, constraints: [""] }],
    ["another kind of output", PassOver.Request, { ...REQUEST, expected_output_type: "poem" }],
    ["a blank objective", PassOver.WorkContext, { ...CONTEXT, objective: " " }],
    ["a file without a path", PassOver.WorkContext, { ...CONTEXT, files: [{ path: "" }] }],
    ["an unknown field of a file", PassOver.WorkContext, { ...CONTEXT, files: [{ path: "a", text: "x" }] }],
    ["a system message", PassOver.WorkContext, { ...CONTEXT, messages: [{ ...MESSAGE, role: "system" }] }],
    ["a tool that runs", PassOver.WorkContext, { ...CONTEXT, tool_results: [{ ...RESULT, status: "running" }] }],
    ["a part in progress", PassOver.MessagePart, { ...PART, tool_status: "in_progress" }],
    ["another kind of part", PassOver.MessagePart, { ...PART, type: "image" }],
    ["another status", PassOver.WorkOutput, { ...OUTPUT, status: "timed_out" }],
    ["another decision", PassOver.WorkOutput, { ...OUTPUT, summary: { ...OUTPUT.summary, decision: "maybe" } }],
    ["half a file", PassOver.WorkOutput, { ...OUTPUT, summary: { ...OUTPUT.summary, files_modified: 0.5 } }],
    [
      "statistics beside the flat numbers",
      PassOver.WorkOutput,
      { ...OUTPUT, summary: { ...OUTPUT.summary, statistics: {} } },
    ],
    ["a depth of zero", PassOver.Metadata, { ...METADATA, chain_depth: 0 }],
    [
      "another action in the chain",
      PassOver.Metadata,
      { ...METADATA, origination_chain: [{ ...LINK, action: "lost" }] },
    ],
    ["another confidence", PassOver.Artifact, { ...ARTIFACTS.file_modification, confidence: "total" }],
    ["another answer", PassOver.Artifact, { ...ARTIFACTS.decision, answer: "maybe" }],
    ["another severity", PassOver.Artifact, { ...ARTIFACTS.finding, severity: "critical" }],
    ["line zero", PassOver.Artifact, { ...ARTIFACTS.finding, location: { path: "a", line: 0 } }],
    ["an unknown field of a place", PassOver.Artifact, { ...ARTIFACTS.finding, location: { path: "a", row: 1 } }],
    ["another kind of artifact", PassOver.Artifact, { ...ARTIFACTS.message, type: "note" }],
    ["an artifact of no kind", PassOver.Artifact, without(ARTIFACTS.message, "type")],
    ["a change without a path", PassOver.Artifact, { ...ARTIFACTS.file_modification, path: "" }],
    ["a decision without an id", PassOver.Artifact, { ...ARTIFACTS.decision, id: "" }],
    ["a finding without a category", PassOver.Artifact, { ...ARTIFACTS.finding, category: "" }],
    ["a finding without words", PassOver.Artifact, { ...ARTIFACTS.finding, message: "" }],
    ["a finding in no file", PassOver.Artifact, { ...ARTIFACTS.finding, location: { path: "" } }],
    ["column zero", PassOver.Artifact, { ...ARTIFACTS.finding, location: { path: "a", line: 1, column: 0 } }],
    ["a tool without a name", PassOver.Artifact, { ...ARTIFACTS.tool_result, tool_name: "" }],
    [
      "a file of endless size",
      PassOver.Artifact,
      { ...ARTIFACTS.file_modification, new_content: "x".repeat(4_000_001) },
    ],
    ["a reason without end", PassOver.Request, { ...REQUEST, reason: "x".repeat(2_001) }],
    ["a constraint without end", PassOver.Request, { ...REQUEST, constraints: ["x".repeat(2_001)] }],
    ["constraints without end", PassOver.Request, { ...REQUEST, constraints: Array.from({ length: 101 }, () => "x") }],
    ["an objective without end", PassOver.WorkContext, { ...CONTEXT, objective: "x".repeat(100_001) }],
    ["a background without end", PassOver.WorkContext, { ...CONTEXT, background: "x".repeat(100_001) }],
    ["no directory", PassOver.WorkContext, { ...CONTEXT, directory: "" }],
    ["a tool result of no tool", ContextToolResult, { ...RESULT, tool_name: "" }],
    ["a file of negative size", ContextFile, { path: "a", metadata: { ...FILE.metadata, size_bytes: -1 } }],
    ["a summary of no length", SummaryRequest, { ...SUMMARY_REQUEST, max_length: 0 }],
    ["another style", SummaryRequest, { ...SUMMARY_REQUEST, style: "haiku" }],
    ...["files_modified", "files_reviewed", "issues_found", "time_elapsed_ms"].map((name): Bad => [
      `a negative ${name}`,
      WorkSummary,
      { ...OUTPUT.summary, [name]: -1 },
    ]),
    ...["wall_time_ms", "subagent_compute_ms", "created_at"].map((name): Bad => [
      `a negative ${name}`,
      PassOver.Metadata,
      { ...METADATA, [name]: -1 },
    ]),
  ]
  for (const [what, schema, value] of BAD) {
    test(`${what} is refused`, () => {
      expect(accepts(schema, value)).toBe(false)
    })
  }

  test("a finding may name a place without line and column", () => {
    expect(accepts(PassOver.Artifact, { ...ARTIFACTS.finding, location: { path: "a" } })).toBe(true)
  })

  test("a todo keeps what its host adds to it", () => {
    const todo = { content: "x", status: "done", color: "red" }
    expect(PassOver.WorkContext.parse({ ...CONTEXT, todos: [todo] }).todos).toEqual([todo])
  })

  test("every time in seconds becomes one in milliseconds (decision 5)", () => {
    const parsed = PassOver.WorkContext.parse({
      ...CONTEXT,
      files: [{ path: "a", metadata: { size_bytes: 1, last_modified: TIME, is_binary: false } }],
      messages: [{ ...MESSAGE, timestamp: TIME, parts: [{ ...PART, timestamp: TIME }] }],
      tool_results: [{ ...RESULT, timestamp: TIME }],
    })
    expect(parsed.files[0]?.metadata?.last_modified).toBe(MS)
    expect(parsed.messages[0]?.timestamp).toBe(MS)
    expect(parsed.messages[0]?.parts[0]?.timestamp).toBe(MS)
    expect(parsed.tool_results?.[0]?.timestamp).toBe(MS)
    // The architecture's Appendix A.
    expect(
      PassOver.Metadata.parse({ ...METADATA, created_at: 1_700_000_000, returned_at: 1_700_000_060 }),
    ).toMatchObject({
      created_at: 1_700_000_000_000,
      returned_at: 1_700_000_060_000,
    })
  })
})

test("the guide's names, 1.1, are there, and those of the other shapes beside them", () => {
  const names = ["Request", "WorkContext", "WorkOutput", "Artifact", "Metadata", "ReturnToContext", "AuditEntry"]
  const settings = ["Preferences", "AgentPairPreference", "SubagentPreference", "MessagePart"]
  const missing = [...names, ...settings].filter((name) => !(name in PassOver))
  expect(missing).toEqual([])
  const typed: PassOver.Artifact["type"] = "finding"
  expect(typed).toBe("finding")
})

describe("the markers on a session's parts, §3.2", () => {
  const begin = { pass_over_id: PASS, originating_agent: "alice", subagent: "audit", reason: "detailed_review" }
  const end = {
    work_output: { work_id: PASS, status: "completed", decision: "approved", artifacts_count: 3 },
    return_to: "alice",
  }

  test("name who passed to whom and why, and what came back to whom", () => {
    expect(PassOverMarker.parse(begin)).toEqual(begin as typeof begin & PassOverMarker)
    expect(PassOverReturnMarker.parse(end)).toEqual(end as typeof end & PassOverReturnMarker)
    expect(accepts(PassOverReturnMarker, { ...end, work_output: without(end.work_output, "decision") })).toBe(true)
  })

  test("take nothing else", () => {
    expect(accepts(PassOverMarker, { ...begin, note: "x" })).toBe(false)
    expect(accepts(PassOverReturnMarker, { ...end, note: "x" })).toBe(false)
    expect(accepts(PassOverReturnMarker, { ...end, work_output: { ...end.work_output, note: "x" } })).toBe(false)
    expect(accepts(PassOverReturnMarker, { ...end, work_output: { ...end.work_output, artifacts_count: -1 } })).toBe(
      false,
    )
    expect(dispensable(PassOverMarker, begin)).toEqual([])
    expect(dispensable(PassOverReturnMarker, end)).toEqual([])
  })
})

test("statistics, §8.2, are derived from the flat numbers", () => {
  expect(statistics(summary({ files_modified: 2, issues_found: 3, time_elapsed_ms: 41_000 }))).toEqual({
    files_modified: 2,
    issues_found: 3,
    time_elapsed_ms: 41_000,
  })
})

test("a place reads as editors and terminals understand it", () => {
  expect(place(undefined)).toBe("")
  expect(place({ path: "src/a.ts" })).toBe("src/a.ts")
  expect(place({ path: "src/a.ts", line: 12 })).toBe("src/a.ts:12")
  expect(place({ path: "src/a.ts", line: 12, column: 3 })).toBe("src/a.ts:12:3")
  expect(place({ path: "src/a.ts", column: 3 })).toBe("src/a.ts")
})

test("findings sort worst first and stay in order among equals", () => {
  const found = [
    finding({ severity: "info", message: "1" }),
    finding({ severity: "error", message: "2" }),
    finding({ severity: "warning", message: "3" }),
    finding({ severity: "error", message: "4" }),
  ]
  expect(found.toSorted(bySeverity).map(({ message }) => message)).toEqual(["2", "4", "3", "1"])
})
