import type { Database } from "bun:sqlite"

const ENDS = ["returned", "timed_out", "cancelled"]

/** Everything that a database holds about one pass that has ended, as it lies there. */
type Evidence = {
  request: { originating_agent_id: string; owner_id: string }
  context: { status: string; revision: number }
  outputs: { status: string; error_code: string | null; summary: string; completion_reason: string | null }[]
  artifacts: number
  audit: { action: string; originating_agent: string; seq: number; prev: string; hash: string }[]
  events: string[]
  deliveries: { mode: string; status: string }[]
  slots: string[]
}

function evidence(client: Database, id: string): Evidence {
  const all = <T>(sql: string) => client.query<T, [string]>(sql).all(id)
  const [request] = all<Evidence["request"]>(
    "select originating_agent_id, owner_id from pass_over_requests where id = ?",
  )
  const [context] = all<Evidence["context"]>("select status, revision from return_contexts where pass_over_id = ?")
  if (!request || !context) throw new Error(`no pass ${id}`)
  const artifacts = all<{ n: number }>("select count(*) n from work_artifacts where pass_over_id = ?")[0]?.n ?? 0
  return {
    request,
    context,
    artifacts,
    outputs: all("select status, error_code, summary, completion_reason from work_outputs where work_id = ?"),
    audit: all(
      "select action, originating_agent, seq, prev, hash from pass_over_audit where pass_over_id = ? order by seq",
    ),
    events: all<{ type: string }>("select type from pass_over_events where pass_over_id = ? order by seq").map(
      ({ type }) => type,
    ),
    deliveries: all("select mode, status from pass_over_deliveries where pass_over_id = ?"),
    slots: all<{ state: string }>("select state from pass_over_slots where pass_over_id = ?").map(({ state }) => state),
  }
}

const many = (list: readonly string[], wanted: readonly string[]) => list.filter((each) => wanted.includes(each)).length

// What counts as a move of the return context, with the line and the event that it leaves behind.
const MOVES = ["dispatched", ...ENDS, "processed"]

function told({ context, audit, events }: Evidence): string[] {
  const actions = audit.map(({ action }) => action)
  const moves = many(actions, MOVES)
  const end = actions.find((action) => ENDS.includes(action))
  const kinds = events.map((type) => type.replace("pass.", ""))
  return [
    ...(many(actions, ENDS) === 1 ? [] : [`${many(actions, ENDS)} audit lines tell its end: ${actions.join(", ")}`]),
    ...(many(kinds, ENDS) === 1 ? [] : [`${many(kinds, ENDS)} events tell its end: ${kinds.join(", ")}`]),
    ...(many(actions, ["processed"]) <= 1 ? [] : ["it was dealt with more than once"]),
    ...(many(kinds, MOVES) === moves ? [] : ["a change has no event, or an event has no change"]),
    ...(context.revision === moves ? [] : [`revision ${context.revision} after ${moves} moves`]),
    ...([end, "processed"].includes(context.status) ? [] : [`it ended ${end} and stands at ${context.status}`]),
    ...(many(actions, ["requested"]) === 1 ? [] : ["it was not requested exactly once"]),
  ]
}

function outcome({ outputs, artifacts, deliveries, slots }: Evidence): string[] {
  const [output] = outputs
  if (!output || outputs.length !== 1) return [`${outputs.length} outcomes`]
  const summary: Record<string, unknown> = JSON.parse(output.summary)
  const says = artifacts > 0 || ["decision", "decision_reason", "recommendations"].some((key) => key in summary)
  return [
    ...(output.status !== "completed" || says ? [] : ["a success with nothing in it"]),
    ...(output.status !== "completed" || output.error_code === null ? [] : [`a success with ${output.error_code}`]),
    ...(output.status === "completed" || output.error_code === null || output.completion_reason
      ? []
      : ["a failure that does not say what is missing"]),
    ...(deliveries.length === 1 ? [] : [`${deliveries.length} deliveries`]),
    ...(slots.every((state) => state === "ended") ? [] : ["its place was not given back"]),
  ]
}

function origin({ request, audit }: Evidence, from: string): string[] {
  const agents = new Set([request.originating_agent_id, ...audit.map((line) => line.originating_agent)])
  return agents.size === 1 && agents.has(from) ? [] : [`its originator changed: ${[...agents].join(", ")}`]
}

/** The laws of a pass that has ended, as far as its database can tell. Comes back with those that were broken. */
export function broken(client: Database, id: string, from = "alice"): string[] {
  const known = evidence(client, id)
  return [...origin(known, from), ...told(known), ...outcome(known)]
}

/** How a pass stands that has not ended. */
export const unended = (client: Database): string[] =>
  client
    .query<{ id: string; status: string }, []>(
      "select pass_over_id id, status from return_contexts where status in ('initial', 'waiting_for_return')",
    )
    .all()
    .map(({ id, status }) => `${id} ${status}`)
