import { z } from "zod"
import { AuditAction, AuditLine } from "../pass-over/domain/audit-log"
import { WorkContext } from "../pass-over/domain/context"
import { PassID } from "../pass-over/domain/id"
import { TreeBudget } from "../pass-over/domain/limit"
import { Manifest } from "../pass-over/domain/manifest"
import { VerdictStatus } from "../pass-over/domain/evidence-schema"
import { OutputStatus, ReviewDecision, WorkOutput } from "../pass-over/domain/output"
import { Pass, PassEvent } from "../pass-over/domain/pass"
import { Priority } from "../pass-over/domain/request"
import { ReturnStatus, ReturnToContext } from "../pass-over/domain/return-context"
import { QueryTime } from "../pass-over/domain/time"
import { spelled } from "./folder"

export const named = <T extends z.ZodType>(ref: string, schema: T) => schema.meta({ ref })

const Nullable = { text: z.string().nullable(), number: z.number().nullable() }

export const Failure = named(
  "Failure",
  z.strictObject({
    error: z.strictObject({
      code: z.string().describe("E001 to E042 as in docs/failure.md, or what is wrong with the request itself."),
      message: z.string(),
      suggestion: z.string().optional(),
      detail: z.record(z.string(), z.unknown()).optional(),
    }),
  }),
)

// A list in a query comes as `status=returned,processed` or as the same name several times.
export const list = <T extends z.ZodType<string, string> & { options: readonly string[] }>(item: T) =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((given) => [given].flat().flatMap((text) => text.split(",").filter(Boolean)))
    .pipe(z.array(item).max(20))
    .optional()
    .describe(`Of ${item.options.join(", ")}; several with commas between them.`)

export const Word = z.string().trim().min(1).max(500)
/** A project to look for. */
export const Folder = Word.transform(spelled)

export const Limit = z.coerce.number().int().min(1).max(1_000).default(100)

export const Period = { start_time: QueryTime.optional(), end_time: QueryTime.optional() }

export const PassParam = z.strictObject({ id: PassID })

export const PassListQuery = z.strictObject({
  session_id: Word.optional(),
  directory: Folder.optional(),
  agent: Word.optional().describe("On either side of the pass."),
  originating_agent: Word.optional(),
  subagent: Word.optional(),
  trace_id: Word.optional(),
  status: list(ReturnStatus),
  outcome: list(OutputStatus),
  decision: list(ReviewDecision),
  verdict: list(VerdictStatus),
  ...Period,
  text: Word.optional().describe("Every word has to occur in what was asked for or in what came back."),
  cursor: PassID.optional().describe("`next` of the page before."),
  limit: Limit,
})

export const ReturnListQuery = z.strictObject({
  session_id: Word.optional(),
  status: list(ReturnStatus),
  cursor: PassID.optional(),
  limit: Limit,
})

export const AuditListQuery = z.strictObject({
  session_id: Word.optional(),
  directory: Folder.optional(),
  pass_over_id: Word.optional(),
  originating_agent: Word.optional(),
  subagent: Word.optional(),
  action: list(AuditAction),
  status: list(OutputStatus),
  decision: list(ReviewDecision),
  error_code: z
    .string()
    .regex(/^E\d{3}$/)
    .optional(),
  ...Period,
  text: Word.optional().describe("Words that all have to occur; `leak*` is every word that begins like it."),
  cursor: z
    .string()
    .regex(/^\d{1,15}-\d{1,15}$/)
    .optional(),
  limit: Limit,
})

export const AuditExportQuery = AuditListQuery.omit({ cursor: true, limit: true }).extend({
  format: z.enum(["json", "jsonl", "csv"]).default("jsonl"),
})

export const StatisticsQuery = z.strictObject({ directory: Folder.optional(), ...Period })

export const EventQuery = z.strictObject({
  after: z.coerce.number().int().nonnegative().optional().describe("As `Last-Event-ID`, for those who cannot send it."),
  pass_over_id: Word.optional(),
  session_id: Word.optional(),
  directory: Folder.optional(),
})

export const PassResult = named(
  "PassResult",
  z.strictObject({
    status: OutputStatus,
    decision: ReviewDecision.nullable(),
    verdict: VerdictStatus.nullable().describe("Computed from the evidence."),
    decision_reason: Nullable.text,
    completion_reason: Nullable.text,
    issues_found: z.int(),
    files_modified: z.int(),
    tokens: z.number(),
    cost: z.number(),
    error_code: Nullable.text,
  }),
)

export const Live = named(
  "Live",
  z.strictObject({
    pass_over_id: PassID,
    phase: z.enum(["starting", "working", "staged", "asking", "backing_off", "stopping", "ended"]),
    step: z.int(),
    attempt: z.int(),
    tokens: z.number(),
    cost: z.number(),
    waits: z.int().describe("How many people are being waited for."),
    deadline_at: Nullable.number,
    idle_at: Nullable.number,
    time_updated: z.number(),
  }),
)

export const PassSummary = named(
  "PassSummary",
  z.strictObject({
    ...Pass.pick({
      id: true,
      session_id: true,
      root_session_id: true,
      directory: true,
      originating_agent_id: true,
      subagent_id: true,
      reason: true,
      parent_pass_id: true,
      trace_id: true,
      chain_depth: true,
      max_chain_depth: true,
      ancestors: true,
      policy: true,
      status: true,
      child_session_id: true,
      timeout_ms: true,
      wait: true,
      time_created: true,
      time_started: true,
      time_ended: true,
    }).shape,
    priority: Priority,
    objective: z.string().describe("Its beginning; the whole stands in the pass itself."),
    max_tokens: z.number().describe("0 where the pass has no limit of its own."),
    max_cost: z.number().describe("0 where the pass has no limit of its own."),
    result: PassResult.nullable(),
    live: Live.nullable(),
    queue: z
      .strictObject({
        place: z.int(),
        what: z.enum(["running", "subagent", "model", "provider", "line"]).describe("What is taken up."),
        limit: z.int().describe("So many may run at once of it."),
      })
      .nullable()
      .describe("Where it stands in line; null where it stands in none."),
    tree: z
      .strictObject({ passes: z.int(), tokens: z.number(), cost: z.number(), limits: TreeBudget })
      .nullable()
      .describe("What all passes of its trace together have used or were promised; null once it has ended."),
  }),
)
export type PassSummary = z.infer<typeof PassSummary>

export const page = <T extends z.ZodType>(ref: string, item: T, cursor: z.ZodType<string> = z.string()) =>
  named(
    ref,
    z.strictObject({
      items: z.array(item),
      next: cursor.nullable().describe("Send it as `cursor` for the next page; null on the last."),
    }),
  )

export const PassPage = page("PassPage", PassSummary)
export const ReturnPage = page("ReturnPage", ReturnToContext)

export const AuditPage = page("AuditPage", named("AuditLine", AuditLine))

export const Verified = named(
  "Verified",
  z.strictObject({
    ok: z.boolean(),
    sessions: z.int(),
    lines: z.int(),
    files: z.int(),
    pending: z.int().describe("Lines that have not been written to a file yet."),
    faults: z.array(
      z.strictObject({
        kind: z.enum(["edited", "removed", "added", "reordered", "unreadable"]),
        place: z.string(),
        path: z.string().optional(),
        line: z.int().optional(),
        session_id: Nullable.text,
        seq: z.int().optional(),
        message: z.string(),
      }),
    ),
  }),
)

export const StoredEvent = named("Event", PassEvent.extend({ seq: z.int().positive() }))

export const Usage = named(
  "Usage",
  z.strictObject({
    input: z.number(),
    output: z.number(),
    reasoning: z.number(),
    cache_read: z.number(),
    cache_write: z.number(),
    cost: z.number(),
  }),
)

export const Attempt = named(
  "Attempt",
  z.strictObject({
    pass_over_id: PassID,
    attempt: z.int(),
    kind: z.string(),
    child_session_id: Nullable.text,
    error_code: Nullable.text,
    error_message: Nullable.text,
    usage: Usage.nullable(),
    time_started: z.number(),
    time_ended: Nullable.number,
  }),
)

export const PassDetail = named(
  "PassDetail",
  z.strictObject({
    pass: named("Pass", Pass),
    live: Live.nullable(),
    manifest: named("Manifest", Manifest).nullable(),
    output: named("WorkOutput", WorkOutput).nullable(),
    usage: Usage.nullable(),
    error_code: Nullable.text,
    attempts: z.array(Attempt),
    events: z.array(StoredEvent),
    events_left: z.int().describe("How many are left out of a long pass: its uses of tools, which its transcript has."),
    audit: z.array(named("AuditLine", AuditLine)),
    chain: z.array(PassSummary).describe("All passes of the same trace, the oldest first."),
  }),
)

export const PassContext = named("PassContext", z.strictObject({ work_context: WorkContext }))

export const Statistics = named(
  "Statistics",
  z.strictObject({
    passes: z.int(),
    running: z.int(),
    refused: z.int(),
    tokens: z.number(),
    cost: z.number(),
    by_status: z.record(z.string(), z.int()),
    by_decision: z.record(z.string(), z.int()),
    by_verdict: z.record(z.string(), z.int()),
    pairs: z.array(
      z.strictObject({
        from: z.string(),
        to: z.string(),
        passes: z.int(),
        completed: z.int(),
        cost: z.number(),
        duration_ms: Nullable.number,
      }),
    ),
  }),
)

export const Project = named("Project", z.strictObject({ directory: z.string(), passes: z.int(), latest: z.number() }))
export const Projects = z.strictObject({ items: z.array(Project) })

export const Health = named(
  "Health",
  z.strictObject({
    ok: z.literal(true),
    version: z.string(),
    pid: z.int(),
    readers: z.int().describe("Open event streams."),
    newest_event: z.int(),
    running: z.int(),
    database: z.string(),
  }),
)

export const Cancel = z.strictObject({ reason: z.string().trim().max(2_000).default("") })
export const Say = z.strictObject({ text: z.string().trim().min(1).max(20_000) })
export const Ordered = named("Ordered", z.strictObject({ state: z.enum(["done", "handed_over"]), text: z.string() }))

export const Hello = z.strictObject({ nonce: z.string().min(16).max(200) })
export const Proof = named("Proof", z.strictObject({ proof: z.string(), version: z.string() }))
export const Ticket = named("Ticket", z.strictObject({ ticket: z.string(), expires_at: z.number() }))
export const SignIn = z.strictObject({ ticket: z.string().min(1).max(200) })
export const PanelKey = named("PanelKey", z.strictObject({ key: z.string(), expires_at: z.number() }))
