import * as fc from "fast-check"
import { PassID } from "../../../src/pass-over/domain/id"
import type { WorkOutput } from "../../../src/pass-over/domain/output"
import type { Envelope } from "../../../src/pass-over/handoff/envelope"
import type { Identity } from "../../../src/pass-over/handoff/note"
import type { HandoffPackage } from "../../../src/pass-over/handoff/package"
import type { Findings, PhaseResponse } from "../../../src/pass-over/handoff/phase"

/** Values of every form that the protocols know. The seed is the tests' own. */
export const SEED = { seed: 20_260_101, numRuns: 300 }

export const identity: Identity = {
  work_id: PassID.parse("01900000-0000-7000-8000-000000000001"),
  subagent_id: "audit",
  originating_agent_id: "alice",
  metadata: {
    created_at: 1,
    pass_over_id: PassID.parse("01900000-0000-7000-8000-000000000001"),
    chain_depth: 1,
    origination_chain: [],
    wall_time_ms: 5,
    subagent_compute_ms: 5,
    applied: false,
  },
}

const word = fc.string({
  minLength: 1,
  maxLength: 12,
  unit: fc.constantFrom(...Array.from("abcdefgxyzäß漢😀 -_.:/'\"{}\n")),
})
export const line = word.map((text) => `x${text.trim()}`)
const text = fc.oneof(fc.constant(""), line)
const path = fc.stringMatching(/^[a-z]{1,8}\/[a-z]{1,8}\.(ts|md|json)$/)
const list = <T>(of: fc.Arbitrary<T>) => fc.array(of, { maxLength: 3 })
const maybe = <T, K extends string>(key: K, of: fc.Arbitrary<T>) =>
  fc.oneof(
    fc.constant({}),
    of.map((value) => ({ [key]: value }) as Record<K, T>),
  )

const check = fc.record({ passed: fc.boolean(), errors: list(text), warnings: list(text) })

export const findings: { [P in keyof Findings]: fc.Arbitrary<Findings[P]> } = {
  research: fc.record({
    existing_implementations: list(
      fc.record({ file: path, description: text, relevance: fc.constantFrom("high" as const, "medium", "low") }),
    ),
    conflicts: list(
      fc.record({
        type: fc.constantFrom("naming" as const, "pattern", "dependency"),
        description: text,
        severity: fc.constantFrom("critical" as const, "warning", "info"),
      }),
    ),
    patterns_found: list(fc.record({ file: path, pattern: text, recommendation: text })),
    recommendations: list(text),
  }),
  write: fc.record({
    files_created: list(fc.record({ path, purpose: text })),
    files_modified: list(fc.record({ path, changes: text })),
    tests_written: list(fc.record({ path, test_count: fc.nat(), coverage_areas: list(text) })),
    implementation_notes: list(text),
  }),
  validate: fc.record({
    checks: fc
      .tuple(
        maybe("types", check),
        maybe("lint", check),
        maybe(
          "tests",
          fc.record({
            passed: fc.boolean(),
            total: fc.nat(),
            passed_count: fc.nat(),
            failed_count: fc.nat(),
            coverage: fc.integer({ min: 0, max: 100 }),
            failures: list(text),
          }),
        ),
        maybe("security", fc.record({ passed: fc.boolean(), issues: list(text) })),
      )
      .map((parts) => Object.assign({}, ...parts) as Findings["validate"]["checks"]),
    overall_passed: fc.boolean(),
    blocking_issues: list(text),
    warnings: list(text),
  }),
  parallel: fc.record({
    results: list(
      fc.record({
        task_id: line,
        type: line,
        passed: fc.boolean(),
        summary: text,
        details: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.oneof(fc.nat(), line)),
      }),
    ),
    aggregation: fc.record({
      total: fc.nat(),
      passed: fc.nat(),
      failed: fc.nat(),
      rule: fc.constantFrom("all", "any", "quorum 2"),
      overall_passed: fc.boolean(),
    }),
  }),
}

export const response: fc.Arbitrary<PhaseResponse> = fc
  .constantFrom("research" as const, "write" as const, "validate" as const, "parallel" as const)
  .chain((phase) =>
    fc
      .tuple(
        fc.record({
          task_id: fc.stringMatching(/^[a-z]+-\d{1,3}$/),
          status: fc.constantFrom("complete" as const, "partial", "blocked"),
          decision: fc.constantFrom("PROCEED" as const, "STOP", "CLARIFY"),
          context_summary: line,
          issues: list(text),
        }),
        maybe("tokens_used", fc.nat()),
        findings[phase] as fc.Arbitrary<unknown>,
      )
      .map(([head, used, found]) => ({ ...head, ...used, phase, findings: found }) as PhaseResponse),
  )

export const envelope: fc.Arbitrary<Envelope> = fc.record({
  meta: fc.constant({
    step_id: "build",
    flow_key: "feature",
    agent_key: "audit",
    timestamp: "2026-01-01T00:00:00.000Z",
  }),
  status: fc.constantFrom("VERIFIED" as const, "UNVERIFIED", "BLOCKED"),
  summary: fc.record({
    what_i_did: text,
    what_i_found: text,
    key_decisions: list(text),
    evidence: fc.record({
      artifacts_produced: fc.uniqueArray(path, { maxLength: 3 }),
      commands_run: fc.uniqueArray(line, { maxLength: 3 }),
      measurements: fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), fc.oneof(fc.nat(), line, fc.boolean())),
    }),
  }),
  concerns: list(
    fc
      .tuple(
        fc.record({
          severity: fc.constantFrom("HIGH" as const, "MEDIUM", "LOW"),
          description: line,
          recommendation: text,
        }),
        maybe(
          "location",
          fc.oneof(
            path,
            fc.tuple(path, fc.integer({ min: 1, max: 9_999 })).map(([at, row]) => `${at}:${row}`),
          ),
        ),
      )
      .map(([head, location]) => ({ ...head, ...location })),
  ),
  assumptions: list(fc.record({ assumption: line, why: text, impact_if_wrong: text })),
  routing: fc
    .tuple(
      fc.record({ recommendation: fc.constantFrom("CONTINUE" as const, "LOOP", "DETOUR", "ESCALATE"), reason: text }),
      maybe("next_step_suggestion", line),
      maybe("can_further_iteration_help", fc.boolean()),
    )
    .map((parts) => Object.assign({}, ...parts) as Envelope["routing"]),
})

export const handoffPackage: fc.Arbitrary<HandoffPackage> = fc
  .record({
    summary: line,
    decisions: fc.uniqueArray(fc.record({ id: fc.stringMatching(/^D-\d{3}$/), decision: line, rationale: text }), {
      maxLength: 3,
      selector: ({ id }) => id,
    }),
    artifacts: fc.uniqueArray(
      fc
        .tuple(
          path,
          maybe("type", fc.constantFrom("spec" as const, "code", "doc", "config")),
          maybe("description", line),
        )
        .map(([at, type, description]) => ({ path: at, ...type, ...description })),
      { maxLength: 3, selector: (each) => each.path },
    ),
    open_questions: list(
      fc
        .tuple(
          fc.record({ question: line, priority: fc.constantFrom("high" as const, "medium", "low") }),
          maybe("context", line),
        )
        .map(([head, context]) => ({ ...head, ...context })),
    ),
  })
  .map((context) => ({
    handoff: {
      id: "HO-001",
      timestamp: "2026-01-01T00:00:00.000Z",
      from: { agent: "scout", step: 1 },
      to: { agent: "build", reason: "research is complete" },
      context,
    },
  }))

const artifact = fc.oneof(
  fc.record({
    type: fc.constant("file_modification" as const),
    path,
    old_content: text,
    new_content: text,
    reason: text,
    confidence: fc.constantFrom("high" as const, "low"),
  }),
  fc.record({
    type: fc.constant("decision" as const),
    id: line,
    question: text,
    answer: fc.constantFrom("yes" as const, "no", "unknown"),
    reasoning: text,
  }),
  fc.record({
    type: fc.constant("message" as const),
    role: fc.constant("assistant" as const),
    content: text,
    visibility: fc.constant("user_visible" as const),
  }),
  fc
    .tuple(
      fc.record({
        type: fc.constant("finding" as const),
        severity: fc.constantFrom("error" as const, "warning", "info"),
        category: fc.constantFrom("concern", "security"),
        message: line,
      }),
      maybe(
        "location",
        fc.tuple(fc.record({ path }), maybe("line", fc.integer({ min: 1, max: 99 }))).chain(([head, row]) =>
          ("line" in row ? maybe("column", fc.integer({ min: 1, max: 99 })) : fc.constant({})).map((column) => ({
            ...head,
            ...row,
            ...column,
          })),
        ),
      ),
      maybe("suggested_fix", line),
    )
    .map((parts) => Object.assign({}, ...parts) as WorkOutput["artifacts"][number]),
  fc.record({
    type: fc.constant("tool_result" as const),
    tool_name: fc.constantFrom("bash", "read"),
    call_id: line,
    input: fc.record({ command: line }),
    output: text,
    status: fc.constant("success" as const),
  }),
)

export const output: fc.Arbitrary<WorkOutput> = fc
  .tuple(
    fc.constantFrom("completed" as const, "failed", "aborted", "partial"),
    list(artifact as fc.Arbitrary<WorkOutput["artifacts"][number]>),
    maybe("completion_reason", line),
    fc.boolean(),
    maybe("decision", fc.constantFrom("approved" as const, "rejected", "needs_modification", "blocked")),
    maybe("decision_reason", line),
    maybe("generated_summary", line),
    maybe("recommendations", fc.array(line, { minLength: 1, maxLength: 3 })),
    fc.nat({ max: 3 }),
  )
  .map(([status, artifacts, reason, auto, decision, why, generated, recommendations, files_reviewed]) => ({
    work_id: identity.work_id,
    subagent_id: identity.subagent_id,
    originating_agent_id: identity.originating_agent_id,
    status,
    ...reason,
    artifacts,
    summary: {
      findings: [],
      files_modified: 0,
      files_reviewed,
      issues_found: 0,
      time_elapsed_ms: 5,
      ...decision,
      ...why,
      ...generated,
      ...recommendations,
    },
    return_to: identity.originating_agent_id,
    auto_apply_allowed: auto,
    metadata: identity.metadata,
  }))

const pick = (value: WorkOutput, type: string) => JSON.stringify(value.artifacts.filter((each) => each.type === type))

const bare = (value: WorkOutput, leave: "category" | "column" | undefined) =>
  JSON.stringify(
    value.artifacts.flatMap((each) => {
      if (each.type !== "finding") return []
      const { category, location, ...rest } = each
      const { column, ...at } = location ?? {}
      return [{ ...rest, ...(leave === "column" ? {} : { at }), ...(leave === "category" ? { category } : { column }) }]
    }),
  )

const COMPARED: Record<string, (value: WorkOutput) => unknown> = {
  completion_reason: (value) => value.completion_reason,
  auto_apply_allowed: (value) => value.auto_apply_allowed,
  "summary.decision": ({ summary }) => summary.decision,
  "summary.decision_reason": ({ summary }) => summary.decision_reason,
  "summary.generated_summary": ({ summary }) => summary.generated_summary,
  "summary.recommendations": ({ summary }) => summary.recommendations,
  "summary.files_reviewed": ({ summary }) => summary.files_reviewed,
  "artifacts.file_modification": (value) => pick(value, "file_modification"),
  "artifacts.tool_result": (value) => pick(value, "tool_result"),
  "artifacts.decision": (value) => pick(value, "decision"),
  "artifacts.message": (value) =>
    pick(
      { ...value, artifacts: value.artifacts.filter((each) => each.type === "message" && each.role !== "internal") },
      "message",
    ),
}

/** Everything that an output had and what came back of it has not. */
export function gone(before: WorkOutput, after: WorkOutput): string[] {
  const there = (value: unknown) => value !== undefined && value !== false && value !== 0 && value !== "[]"
  const names = Object.entries(COMPARED).flatMap(([name, take]) =>
    there(take(before)) && JSON.stringify(take(before)) !== JSON.stringify(take(after)) ? [name] : [],
  )
  const findingsOf = (value: WorkOutput) => value.artifacts.filter((each) => each.type === "finding")
  if (findingsOf(after).length !== findingsOf(before).length) return [...names, "artifacts.finding"]
  return [
    ...names,
    ...(bare(before, "category") === bare(after, "category")
      ? []
      : ["artifacts.finding.category|artifacts.finding.column"]),
    ...(bare(before, "column") === bare(after, "column") ? [] : ["artifacts.finding.column"]),
  ]
}
