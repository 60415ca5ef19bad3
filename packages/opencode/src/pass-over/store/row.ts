import type { InferSelectModel } from "drizzle-orm"
import type { AuditLine } from "../domain/audit-log"
import { keptAs } from "../domain/delivery"
import type { Pass } from "../domain/pass"
import type { WorkArtifact } from "../domain/artifact"
import type { PassOverErrorCode } from "../domain/errors"
import type { Outcome } from "../service/port"
import type {
  AuditTable,
  DeliveryTable,
  PassOverRequestTable,
  ReturnContextTable,
  WorkOutputTable,
} from "./pass-over.sql"

type RequestRow = InferSelectModel<typeof PassOverRequestTable>
type ReturnRow = InferSelectModel<typeof ReturnContextTable>

/** A request and the return context that belongs to it, as the one thing that the core calls a pass. */
export function toPass(request: RequestRow, context: ReturnRow): Pass {
  return {
    ...request,
    chain_depth: context.chain_depth,
    max_chain_depth: context.max_chain_depth,
    ancestors: context.ancestors,
    status: context.status,
    revision: context.revision,
  }
}

/**
 * Text as the database gives it back: Bun's SQLite reads half of a surrogate pair as other letters and drops a byte
 * order mark at the beginning. What is hashed, and what a caller is told, has to be what is read later.
 */
export function storable<T extends Record<string, unknown>>(row: T): T {
  let changed: Record<string, unknown> | undefined
  for (const [key, value] of Object.entries(row)) {
    if (typeof value !== "string") continue
    const kept = storableText(value)
    if (kept !== value) (changed ??= { ...row })[key] = kept
  }
  return (changed ?? row) as T
}

const storableText = (text: string) => text.toWellFormed().replace(/^\uFEFF+/, "")

export function toLine(row: InferSelectModel<typeof AuditTable>): AuditLine {
  const { id: _id, directory: _directory, ...line } = row
  return line
}

type OutputRow = InferSelectModel<typeof WorkOutputTable>
type DeliveryRow = InferSelectModel<typeof DeliveryTable>

function kept(delivery: DeliveryRow | undefined): Pick<Outcome, "held" | "dropped"> {
  const as = delivery && keptAs(delivery)
  return as ? { [as]: true } : {}
}

/** When it reached its originator is known by its delivery alone. */
function metadataOf({ metadata: { returned_at: _was, ...metadata } }: OutputRow, delivery: DeliveryRow | undefined) {
  const returned_at = delivery?.time_delivered ?? undefined
  return returned_at === undefined ? metadata : { ...metadata, returned_at }
}

/** An outcome put together from its row, its pass, its artifacts and how far it has got on its way back. */
export const toOutcome = (
  pass: Pass,
  row: OutputRow,
  artifacts: WorkArtifact[],
  delivery: DeliveryRow | undefined,
): Outcome => ({
  output: {
    work_id: pass.id,
    subagent_id: pass.subagent_id,
    originating_agent_id: pass.originating_agent_id,
    status: row.status,
    ...(row.completion_reason === null ? {} : { completion_reason: row.completion_reason }),
    artifacts,
    summary: row.summary,
    return_to: pass.originating_agent_id,
    auto_apply_allowed: row.auto_apply_allowed,
    metadata: metadataOf(row, delivery),
  },
  usage: row.usage,
  error_code: row.error_code as PassOverErrorCode | null,
  transcript: row.transcript,
  ...kept(delivery),
})
