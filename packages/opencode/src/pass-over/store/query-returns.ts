import { and, asc, desc, eq, inArray, lt, ne, isNotNull } from "drizzle-orm"
import type { WorkArtifact } from "../domain/artifact"
import type { PassID } from "../domain/id"
import type { ReturnToContext } from "../domain/return-context"
import type { ReturnQuery } from "../service/port-query"
import { GateTable } from "./gate.sql"
import { LiveTable } from "./live.sql"
import { AttemptTable, DeliveryTable, PassOverRequestTable, ReturnContextTable, WorkOutputTable } from "./pass-over.sql"
import { toOutcome, toPass } from "./row"
import type { Base } from "./statement"

const found = ({ db }: Base, query: ReturnQuery) =>
  db
    .select()
    .from(ReturnContextTable)
    .innerJoin(PassOverRequestTable, eq(PassOverRequestTable.id, ReturnContextTable.pass_over_id))
    .leftJoin(WorkOutputTable, eq(WorkOutputTable.work_id, ReturnContextTable.pass_over_id))
    .leftJoin(
      DeliveryTable,
      and(eq(DeliveryTable.pass_over_id, ReturnContextTable.pass_over_id), ne(DeliveryTable.status, "delivered")),
    )
    .leftJoin(LiveTable, eq(LiveTable.pass_over_id, ReturnContextTable.pass_over_id))
    .leftJoin(
      GateTable,
      and(
        eq(GateTable.pass_over_id, ReturnContextTable.pass_over_id),
        eq(GateTable.kind, "delivery"),
        eq(GateTable.status, "pending"),
      ),
    )
    .where(
      and(
        query.session_id === undefined ? undefined : eq(ReturnContextTable.session_id, query.session_id),
        query.status === undefined || query.status.length === 0
          ? undefined
          : inArray(ReturnContextTable.status, [...query.status]),
        query.after === undefined ? undefined : lt(ReturnContextTable.pass_over_id, query.after as PassID),
      ),
    )
    .orderBy(desc(ReturnContextTable.pass_over_id))
    .limit(query.limit)
    .all()

type Found = ReturnType<typeof found>[number]

/** What went wrong on the way, an attempt at a time, and what its outcome names besides. */
const errorsOf = ({ db }: Base, id: PassID, output: Found["work_outputs"]) => [
  ...db
    .select({ code: AttemptTable.error_code, message: AttemptTable.error_message })
    .from(AttemptTable)
    .where(and(eq(AttemptTable.pass_over_id, id), isNotNull(AttemptTable.error_code)))
    .orderBy(asc(AttemptTable.attempt))
    .all()
    .map(({ code, message }) => [code, message].filter(Boolean).join(" ")),
  ...(output?.summary.errors ?? []).map(({ code, message }) => `${code} ${message}`),
]

/** Until when it has to be back; once it is back and held, until when a person may let it go. */
function deadline({ return_contexts: { status }, pass_over_live: live, pass_over_gates: gate }: Found) {
  if (gate) return gate.time_expires
  return status === "waiting_for_return" ? (live?.deadline_at ?? null) : null
}

/** The result while it is on its way, as it will arrive, whatever the pass ended with. What is kept back never does. */
function pending({ run, contents }: Base, row: Found) {
  const { work_outputs: output, return_contexts: context, pass_over_requests: request } = row
  const { pass_over_deliveries: delivery } = row
  if (output === null || delivery === null || delivery.mode === "none") return
  const artifacts = run.select.artifacts.all({ id: request.id }).map(({ body }) => contents.whole<WorkArtifact>(body))
  return toOutcome(toPass(request, context), output, artifacts, delivery).output
}

/** §4.1: the return contexts as they stand. What other rows know already is not written down twice for it. */
export function returns(base: Base, query: ReturnQuery): ReturnToContext[] {
  return found(base, query).map((row) => {
    const { staged: _staged, returned_at, ...context } = row.return_contexts
    const { originating_agent_id, subagent_id } = row.pass_over_requests
    const return_deadline = deadline(row)
    const pending_work_output = pending(base, row)
    const processing_errors = errorsOf(base, context.pass_over_id, row.work_outputs)
    return {
      ...context,
      originating_agent_id,
      subagent_id,
      ...(return_deadline === null ? {} : { return_deadline }),
      ...(returned_at === null ? {} : { returned_at }),
      ...(pending_work_output ? { pending_work_output } : {}),
      ...(processing_errors.length > 0 ? { processing_errors } : {}),
    }
  })
}
