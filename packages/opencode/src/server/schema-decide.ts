import { z } from "zod"
import { Gate as DomainGate, GateStatus, GateVerdict } from "../pass-over/domain/gate"
import { Verdict } from "../pass-over/domain/change/review"
import { PassID } from "../pass-over/domain/id"
import { Folder, Limit, list, named, page, Word } from "./schema"

export const Gate = named("Gate", DomainGate)
export const GateItem = named(
  "GateItem",
  z.strictObject({ gate: Gate, told: z.string().describe("How it was answered.") }),
)
export const GateListQuery = z.strictObject({
  directory: Folder.optional(),
  session_id: Word.optional(),
  pass_over_id: PassID.optional(),
  status: list(GateStatus),
  cursor: Word.optional(),
  limit: Limit,
})
export const GatePage = page("GatePage", GateItem)
export const GateParam = z.strictObject({ id: z.string().regex(/^gat_[0-9a-f]{32}$/) })
export const GateAnswer = z.strictObject({
  verdict: GateVerdict,
  note: z.string().trim().max(20_000).optional().describe("Reaches whoever asked, word for word."),
})

// ---------------------------------------------------------------- changes

const ChangeID = z.string().regex(/^chg_[0-9a-f]{32}$/)

const Application = named(
  "Application",
  z.strictObject({
    apply_id: z.string(),
    kind: z.enum(["apply", "undo"]),
    status: z.enum(["pending", "done", "undone", "not_applied"]),
    actor: z.string(),
    time_done: z.number().nullable(),
    verification: z
      .strictObject({
        command: z.string(),
        exit_code: z.number().nullable(),
        output: z.string(),
        duration_ms: z.number(),
      })
      .nullable(),
  }),
)

export const Change = named(
  "Change",
  z.strictObject({
    change_id: z.string(),
    origin: z.enum(["proposed", "isolated", "direct", "merged"]),
    from_change_id: z.string().nullable().describe("The change that this one was made from, and stands in place of."),
    notes: z.array(z.string()),
    files: z.array(
      z.strictObject({
        path: z.string(),
        line: z.string(),
        hunks: z.int(),
        taken: z.union([z.enum(["all", "none"]), z.array(z.int())]),
        declined: z.array(z.strictObject({ hunk: z.int().nullable(), reason: z.string().nullable() })),
        refused: z.string().nullable(),
        reason: z.string(),
        patch: z.string().nullable().describe("A unified diff; null where there is nothing to read as text."),
      }),
    ),
    applications: z.array(Application),
    approval: z.string().nullable().describe("Names exactly what would be written now: send it to apply just that."),
    problem: z.string().nullable().describe("Why nothing could be applied as it stands."),
  }),
)
export type Change = z.infer<typeof Change>

export const Changes = z.strictObject({ items: z.array(Change) })
export const Review = z.strictObject({ change_id: ChangeID.optional(), verdicts: z.array(Verdict).min(1).max(5_000) })
export const Apply = z.strictObject({
  change_id: ChangeID.optional(),
  approval: z.string().min(1).max(200).describe("As it was shown; anything else in its place is not applied."),
})
export const SendBack = z.strictObject({ change_id: ChangeID.optional() })
export const Undo = z.strictObject({})
export const Written = named("Written", z.strictObject({ application: Application }))
