import { createHash } from "node:crypto"
import type { AuditAction } from "../../../src/pass-over/domain/audit-log"
import { PassID } from "../../../src/pass-over/domain/id"
import { LIMITS } from "../../../src/pass-over/domain/limit"
import type { WorkOutput } from "../../../src/pass-over/domain/output"
import { event, note, type Pass, type PassEvent } from "../../../src/pass-over/domain/pass"
import type { Report } from "../../../src/pass-over/domain/report"
import { move, type ReturnStatus } from "../../../src/pass-over/domain/return-context"
import { NO_USAGE } from "../../../src/pass-over/domain/run"
import type { Attempt, Commit, Ids, Opened, OpenPass, Settled } from "../../../src/pass-over/service/port"
import { createClock, type TestClock } from "./clock"

/** What moving to a status is called in the audit and in the events. Nothing moves to `initial`. */
const NAMES = {
  waiting_for_return: ["dispatched", "pass.dispatched"],
  returned: ["returned", "pass.returned"],
  timed_out: ["timed_out", "pass.timed_out"],
  cancelled: ["cancelled", "pass.cancelled"],
  processed: ["processed", "pass.processed"],
} as const satisfies Record<Exclude<ReturnStatus, "initial">, [AuditAction, PassEvent["type"]]>

export type Target = keyof typeof NAMES

export type WorldOptions = {
  /** Worlds in different lanes never make the same id: one lane for each process that shares a database. 0 to 4095. */
  lane?: number
  clock?: TestClock
}

/**
 * Ids that count up, a clock that is moved by hand, and whole things to pass to the core: alice hands something to
 * audit, in `/project`. What a test is about it says itself, as overrides; the rest is filled in and valid.
 */
export type World = {
  clock: TestClock
  ids: Ids
  hash: (text: string) => string

  pass(overrides?: Partial<Pass>): Pass
  /** What `open` takes, for the pass given or for a new one. */
  opening(pass?: Pass, overrides?: Partial<OpenPass>): OpenPass
  /** A move of a pass that its lifecycle allows; another one throws. */
  commit(pass: Pass, to: Target, overrides?: Partial<Commit>): Commit
  /** The end of a pass with its outcome. The artifacts are those of the output. */
  settled(pass: Pass, overrides?: Partial<Settled> & { to?: Target }): Settled
  output(pass: Pass, overrides?: Partial<WorkOutput>): WorkOutput
  report(overrides?: Partial<Report>): Report
  /** The first attempt of a pass, just begun in a child session of its own. */
  attempt(pass: Pass, overrides?: Partial<Attempt>): Attempt
}

/** A pass that was let in. */
export function accepted(opened: Opened): Extract<Opened, { pass: Pass }> {
  if (!("pass" in opened)) throw new Error(`not let in: ${JSON.stringify(opened)}`)
  return opened
}

export const hash = (text: string) => createHash("sha256").update(text).digest("hex")

function createIds(lane: number): Ids {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0")
  let serial = 0
  const next = () => (serial += 1)
  return {
    // A UUID of version 7 at time zero: valid, sorted by lane and then in the order of making.
    pass: () => PassID.parse(`00000000-0000-7${hex(lane, 3)}-8000-${hex(next(), 12)}`),
    make: (prefix) => `${prefix}_${hex(lane, 4)}${hex(next(), 28)}`,
    nonce: () => `${hex(lane, 4)}${hex(next(), 28)}`,
  }
}

export function createWorld({ lane = 0, clock = createClock() }: WorldOptions = {}): World {
  const ids = createIds(lane)
  const owner_id = ids.make("own")

  const pass: World["pass"] = (overrides = {}) => {
    const id = overrides.id ?? ids.pass()
    const objective = overrides.objective ?? "Find what is wrong with the totals"
    const session_id = overrides.session_id ?? "ses_alice"
    return {
      id,
      session_id,
      root_session_id: session_id,
      message_id: "msg_1",
      call_id: `call_${id}`,
      directory: "/project",
      user_id: "ada",
      originating_agent_id: "alice",
      subagent_id: "audit",
      reason: "The totals look wrong",
      objective,
      objective_hash: hash(objective),
      background: null,
      priority: "medium",
      expected_output_type: "mixed",
      constraints: ["Do not touch the tests"],
      return_required: true,
      wait: true,
      auto_apply_on_success: false,
      model: null,
      timeout_ms: 600_000,
      context_bytes: 42,
      parent_pass_id: null,
      continues_pass_id: null,
      trace_id: id,
      chain_depth: 1,
      max_chain_depth: 3,
      ancestors: ["alice"],
      policy: "shipped",
      overrides: {},
      preference: { timeout_ms: 600_000 },
      status: "initial",
      revision: 0,
      owner_id,
      fence: 1,
      child_session_id: null,
      time_created: clock.now(),
      time_started: null,
      time_ended: null,
      ...overrides,
    }
  }

  const opening: World["opening"] = (given = pass(), overrides = {}) => {
    const content = "export const total = 1 + 1"
    return {
      pass: given,
      request: {
        id: given.id,
        originating_agent_id: given.originating_agent_id,
        subagent_id: given.subagent_id,
        work_context: {
          session_id: given.session_id,
          directory: given.directory,
          files: [{ path: "src/total.ts", content }],
          messages: [],
          todos: [{ content: "Fix the totals", status: "pending", id: "todo_1" }],
          objective: given.objective,
        },
        reason: given.reason,
        priority: given.priority,
        timeout_ms: given.timeout_ms,
        return_required: given.return_required,
        auto_apply_on_success: given.auto_apply_on_success,
        constraints: given.constraints,
        expected_output_type: given.expected_output_type,
      },
      slot: { limits: LIMITS, reserve: { tokens: 0, cost: 0 }, waiting: false },
      repetitions: Number.MAX_SAFE_INTEGER,
      manifest: {
        items: [
          { kind: "file", ref: "src/total.ts", taken: "whole", why: "it was named", bytes: content.length, tokens: 9 },
        ],
        bytes: content.length,
        tokens: 9,
        max_bytes: 1_000,
        max_tokens: 250,
        exact: true,
      },
      return_id: ids.make("ret"),
      auto_return_enabled: true,
      auto_apply_enabled: false,
      note: note(given, { action: "requested", actor: given.originating_agent_id, at: clock.now() }),
      event: event(given, "pass.requested", clock.now(), { reason: given.reason }),
      ...overrides,
    }
  }

  const commit: World["commit"] = (given, to, overrides = {}) => {
    const decided = move(given, to)
    if (!decided.ok) throw new Error(decided.refusal.message)
    const [action, type] = NAMES[to]
    const at = overrides.at ?? clock.now()
    return {
      pass: given,
      move: decided.move,
      note: note(given, { action, actor: given.owner_id, at }),
      event: event(given, type, at),
      at,
      ...overrides,
    }
  }

  const output: World["output"] = (given, overrides = {}) => ({
    work_id: given.id,
    subagent_id: given.subagent_id,
    originating_agent_id: given.originating_agent_id,
    status: "completed",
    artifacts: [
      {
        type: "finding",
        severity: "error",
        category: "logic",
        message: "sums the wrong column",
        location: { path: "src/total.ts", line: 1 },
      },
      {
        type: "file_modification",
        path: "src/total.ts",
        old_content: "export const total = 1 + 1",
        new_content: "export const total = 1 + 2",
        reason: "the second column counts",
        confidence: "high",
      },
    ],
    summary: {
      decision: "needs_modification",
      decision_reason: "the totals are wrong",
      findings: ["src/total.ts:1 sums the wrong column"],
      files_modified: 1,
      files_reviewed: 1,
      issues_found: 1,
      time_elapsed_ms: 1_500,
    },
    return_to: given.originating_agent_id,
    auto_apply_allowed: false,
    metadata: {
      created_at: given.time_created,
      started_at: given.time_started ?? given.time_created,
      completed_at: clock.now(),
      pass_over_id: given.id,
      trace_id: given.trace_id,
      chain_depth: given.chain_depth,
      origination_chain: [
        { agent_id: given.originating_agent_id, timestamp: given.time_created, action: "initiated" },
        { agent_id: given.subagent_id, timestamp: clock.now(), action: "returned" },
      ],
      policy_name: given.policy,
      policy_override: false,
      wall_time_ms: 1_500,
      subagent_compute_ms: 1_500,
      applied: false,
    },
    ...overrides,
  })

  const settled: World["settled"] = (given, { to = "returned", ...overrides } = {}) => {
    const result = overrides.output ?? output(given)
    const at = overrides.at ?? clock.now()
    const [action] = NAMES[to]
    return {
      ...commit(given, to, { at }),
      note: note(given, { action, actor: given.subagent_id, at, output: result }),
      output: result,
      artifacts: result.artifacts.map((artifact) => ({ artifact_id: ids.make("art"), artifact })),
      usage: { ...NO_USAGE, input: 1_000, output: 200, cost: 0.02 },
      error_code: null,
      delivery: { mode: "tool", status: "pending" },
      transcript: "read",
      attempt: undefined,
      ...overrides,
    }
  }

  return {
    clock,
    ids,
    hash,
    pass,
    opening,
    commit,
    settled,
    output,
    report: (overrides = {}) => ({
      status: "completed",
      decision: "needs_modification",
      decision_reason: "the totals are wrong",
      findings: [{ severity: "error", category: "logic", message: "sums the wrong column", path: "src/total.ts" }],
      artifacts: [],
      auto_apply_allowed: false,
      ...overrides,
    }),
    attempt: (given, overrides = {}) => ({
      pass_over_id: given.id,
      attempt: 1,
      kind: "first",
      child_session_id: `ses_child_${given.id}`,
      error_code: null,
      error_message: null,
      usage: null,
      time_started: clock.now(),
      time_ended: null,
      ...overrides,
    }),
  }
}
