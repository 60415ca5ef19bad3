import { z } from "zod"
import { StepID } from "../pass-over/handoff/definition"
import { SketchNode } from "../pass-over/handoff/sketch"
import { Folder, Limit, list, named, page, Word } from "./schema"

const RunID = z.string().regex(/^run_[0-9a-f]{32}$/)
const RunStatus = z.enum(["running", "waiting", "paused", "completed", "stopped", "cancelled"])

export const FlowListQuery = z.strictObject({ directory: z.string().min(1).max(4_096).describe("The project.") })

export const Flow = named(
  "Flow",
  z.strictObject({
    name: z.string(),
    description: z.string().nullable(),
    path: z.string(),
    inputs: z.array(
      z.strictObject({
        name: z.string(),
        description: z.string().nullable(),
        default: z.string().nullable(),
        required: z.boolean(),
      }),
    ),
    nodes: z.array(named("FlowNode", SketchNode)),
  }),
)
export type Flow = z.infer<typeof Flow>

export const Flows = named(
  "Flows",
  z.strictObject({
    items: z.array(Flow),
    faults: z
      .array(z.strictObject({ path: z.string(), lines: z.array(z.string()) }))
      .describe("Files that are not in order."),
  }),
)

export const StartFlow = z.strictObject({
  directory: z.string().min(1).max(4_096).describe("The project: an absolute path."),
  name: z.string().min(1).max(200),
  inputs: z.record(z.string().max(200), z.string().max(20_000)).default({}),
})

export const RunSummary = named(
  "RunSummary",
  z.strictObject({
    run_id: z.string(),
    flow: z.string(),
    directory: z.string(),
    session_id: z.string().describe("Empty until an opencode has taken it up."),
    originator: z.string(),
    started_by: z.enum(["person", "model"]),
    status: RunStatus,
    reason: z.string().nullable(),
    inputs: z.record(z.string(), z.string()),
    time_created: z.number(),
    time_ended: z.number().nullable(),
    carried: z.boolean().describe("Whether an opencode has taken it up; it waits for one otherwise."),
  }),
)
export type RunSummary = z.infer<typeof RunSummary>

export const RunListQuery = z.strictObject({
  directory: Folder.optional(),
  session_id: Word.optional(),
  status: list(RunStatus),
  cursor: RunID.optional(),
  limit: Limit,
})
export const RunPage = page("RunPage", RunSummary)
export const FlowParam = z.strictObject({ name: StepID })
export const RunParam = z.strictObject({ id: RunID })

export const Run = named(
  "Run",
  RunSummary.extend({
    step: z.int(),
    steps: z.int(),
    usage: z.strictObject({ passes: z.int(), tokens: z.number(), cost: z.number() }),
    budget: z
      .strictObject({ tokens: z.int(), cost: z.number(), passes: z.int() })
      .partial()
      .describe("What the flow may use, where it says."),
    nodes: z.array(SketchNode),
    proposed: z
      .array(
        z.strictObject({
          pass_over_id: z.string(),
          agent: z.string(),
          files: z.array(z.string()),
          applied: z.boolean(),
        }),
      )
      .describe("Files that the run proposes, with the passes that hold them. As a rule one holds all."),
  }),
)
export type Run = z.infer<typeof Run>

const Reason = z.string().trim().max(2_000)
export const Nothing = z.strictObject({})
export const CancelRun = z.strictObject({ reason: Reason.default("") })
export const RetryRun = z.strictObject({ step: z.string().min(1).max(400) })
export const SkipRun = RetryRun.extend({ reason: Reason.min(1).describe("The next steps are told.") })
