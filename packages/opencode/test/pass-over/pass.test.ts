import { describe, expect, test } from "bun:test"
import { ERRORS } from "../../src/pass-over/domain/errors"
import { AuditAction, PassOverAuditEntry } from "../../src/pass-over/domain/audit-log"
import { event, note, Pass, PassEvent, type Noted } from "../../src/pass-over/domain/pass"
import { finding, metadata, NOW, output, PASS, summary } from "./sample"

const noted: Noted = {
  id: PASS,
  session_id: "ses_1",
  directory: "/project",
  user_id: "ada",
  originating_agent_id: "alice",
  subagent_id: "audit",
  reason: "review_changes",
  expected_output_type: "mixed",
  context_bytes: 1_024,
  policy: "alice->audit",
  overrides: { timeout_ms: 90_000 },
  time_started: NOW + 1_000,
}

const done = output({
  status: "partial",
  completion_reason: "E010: its time was up",
  artifacts: [finding(), finding()],
  summary: summary({ decision: "blocked", files_modified: 3, issues_found: 2 }),
})

describe("the audit entry of a pass", () => {
  test("is null wherever a refused pass never came", () => {
    const refused = note(
      { ...noted, time_started: null },
      { action: "refused", actor: "alice", at: NOW, error_code: "E003" },
    )
    expect(refused).toEqual({
      pass_over_id: PASS,
      session_id: "ses_1",
      timestamp: NOW,
      originating_agent: "alice",
      subagent: "audit",
      user_id: "ada",
      reason: "review_changes",
      work_context_size_bytes: 1_024,
      expected_output_type: "mixed",
      started_at: null,
      completed_at: null,
      duration_ms: null,
      status: null,
      artifacts_count: 0,
      files_modified_count: 0,
      issues_found_count: 0,
      returned: false,
      returned_at: null,
      applied: false,
      applied_by: null,
      policy_applied: "alice->audit",
      policy_overrides: { timeout_ms: 90_000 },
      summary: "",
      action: "refused",
      actor: "alice",
      error_code: "E003",
      decision: null,
      detail: {
        error: {
          code: "E003",
          name: "CYCLE_DETECTED",
          message: "",
          recoverable: false,
          suggested_action: ERRORS.E003.action,
          context: { session_id: "ses_1", from_agent: "alice", to_agent: "audit", chain_depth: null },
        },
      },
    })
  })

  test("tells of a pass that returned what came back and when", () => {
    expect(note(noted, { action: "returned", actor: "audit", at: NOW + 42_000, output: done })).toMatchObject({
      started_at: NOW + 1_000,
      completed_at: NOW + 41_000,
      duration_ms: 41_000,
      status: "partial",
      artifacts_count: 2,
      files_modified_count: 3,
      issues_found_count: 2,
      returned: true,
      returned_at: NOW + 41_000,
      error_code: null,
    })
  })

  test("says that it reached its originator when it did, and not before", () => {
    const { returned_at: _none, ...rest } = metadata()
    const undelivered = output({ metadata: rest })
    const at = (action: AuditAction, of = undelivered) => {
      const { returned, returned_at } = note(noted, { action, actor: "x", at: NOW, output: of })
      return [returned, returned_at] as const
    }
    for (const action of AuditAction.options) {
      expect(at(action)).toEqual(action === "processed" ? [true, NOW] : [false, null])
      // However late the line: it is one time.
      expect(at(action, done)).toEqual([true, NOW + 41_000])
    }
  })

  test("says who applied what came back", () => {
    const applied = output({ metadata: metadata({ applied: true, applied_by: "ada" }) })
    expect(note(noted, { action: "processed", actor: "alice", at: NOW, output: applied })).toMatchObject({
      applied: true,
      applied_by: "ada",
    })
  })

  test("sums up in the caller's words, else the reason, else the decision", () => {
    const summed = (made: typeof done, words?: string) =>
      note(noted, { action: "returned", actor: "x", at: NOW, output: made, ...(words ? { summary: words } : {}) })
        .summary
    expect(summed(done, "in short")).toBe("in short")
    expect(summed(done)).toBe("E010: its time was up")
    expect(summed(output({ summary: summary({ decision: "approved" }) }))).toBe("approved")
    expect(summed(output())).toBe("")
  })

  test("is a valid entry at every step", () => {
    for (const action of AuditAction.options) {
      for (const made of [done, undefined]) {
        const {
          action: _action,
          actor: _actor,
          error_code: _code,
          decision: _decision,
          detail: _detail,
          ...entry
        } = note(noted, {
          action,
          actor: "x",
          at: NOW,
          output: made,
        })
        expect(PassOverAuditEntry.safeParse(entry).success).toBe(true)
      }
    }
  })
})

test("an event names its pass, its session and its moment", () => {
  expect(event(noted, "pass.staged", NOW)).toEqual({
    type: "pass.staged",
    pass_over_id: PASS,
    session_id: "ses_1",
    directory: "/project",
    at: NOW,
    data: {},
  })
  const told = event(noted, "pass.returned", NOW, { status: "completed" })
  expect(PassEvent.parse(told)).toEqual(told)
  expect(PassEvent.safeParse({ ...told, type: "pass.lost" }).success).toBe(false)
})

test("a pass as it is stored takes no field that nobody knows, and no depth or fence below one", () => {
  const pass = {
    ...noted,
    root_session_id: "ses_1",
    message_id: null,
    call_id: null,
    objective: "Review",
    objective_hash: "0",
    background: null,
    priority: "medium",
    constraints: [],
    return_required: true,
    wait: true,
    auto_apply_on_success: false,
    model: null,
    timeout_ms: 1,
    parent_pass_id: null,
    continues_pass_id: null,
    trace_id: PASS,
    chain_depth: 1,
    max_chain_depth: 3,
    ancestors: ["alice"],
    preference: {},
    status: "initial",
    revision: 0,
    owner_id: `own_${"0".repeat(32)}`,
    fence: 1,
    child_session_id: null,
    time_created: NOW,
    time_ended: null,
  }
  expect(Pass.parse(pass)).toEqual(pass as unknown as Pass)
  for (const wrong of [{ note: "x" }, { chain_depth: 0 }, { fence: 0 }, { revision: -1 }, { status: "running" }]) {
    expect(Pass.safeParse({ ...pass, ...wrong }).success).toBe(false)
  }
})
