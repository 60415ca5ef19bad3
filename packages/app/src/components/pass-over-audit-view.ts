import type { AuditLine } from "../../../opencode/src/pass-over/domain/audit-log"
import { WORDS } from "../lib/words"

export type Filters = { text: string; from: string; to: string; action: string; outcome: string; since: string }

export const NO_FILTERS: Filters = { text: "", from: "", to: "", action: "", outcome: "", since: "all" }

const HOUR = 60 * 60 * 1000
const SINCE: Record<string, number> = { hour: HOUR, day: 24 * HOUR, week: 7 * 24 * HOUR, month: 30 * 24 * HOUR }

/** The filters that an address holds; what it does not know stays open. */
export function readFilters(query: Record<string, string>): Filters {
  return {
    text: query.text ?? "",
    from: query.from ?? "",
    to: query.to ?? "",
    action: query.action ?? "",
    outcome: query.outcome ?? "",
    since: query.since !== undefined && query.since in SINCE ? query.since : "all",
  }
}

/** Filters as an address holds them: only those that narrow anything. */
export const writeFilters = (filters: Filters): Record<string, string> =>
  Object.fromEntries(
    Object.entries(filters).filter(([name, value]) => value !== "" && !(name === "since" && value === "all")),
  )

/** Filters as the server understands them. Times are rounded, so that the same question is the same question. */
export function toQuery({ text, from, to, action, outcome, since }: Filters, now: number): Record<string, string> {
  const span = SINCE[since]
  const minute = 60_000
  return {
    ...(text.trim() ? { text: text.trim() } : {}),
    ...(from ? { originating_agent: from } : {}),
    ...(to ? { subagent: to } : {}),
    ...(action ? { action } : {}),
    ...(outcome ? { status: outcome } : {}),
    ...(span === undefined ? {} : { start_time: String(Math.floor((now - span) / minute) * minute) }),
  }
}

export const narrowed = (filters: Filters) => Object.keys(writeFilters(filters)).length > 0

/** What an entry says in one line. Without words of its own it says what happened. */
export const lineText = (line: Pick<AuditLine, "summary" | "action">) =>
  line.summary
    .replaceAll(/\s+/g, " ")
    .replace(/\bneeds_modification\b/, WORDS.decision.needs_modification)
    .trim() ||
  (WORDS.action[line.action] ?? "")

/** The code of what went wrong, where its words do not begin with it. */
export const lineCode = ({ error_code, summary }: Pick<AuditLine, "error_code" | "summary">) =>
  error_code !== null && !summary.trimStart().startsWith(error_code) ? error_code : undefined

export const lineKey = (line: Pick<AuditLine, "session_id" | "seq">) => `${line.session_id} ${line.seq}`

/** Only the end of the list asks for more, and not while it is being asked already. */
export const wantsMore = (at: { last: number; loaded: number; more: boolean; loading: boolean }) =>
  at.more && !at.loading && at.last >= at.loaded - 40

/**
 * Entries never change, so nobody has to be told when one does. An object of a class is left alone by a store, where a
 * plain one is walked through to its last leaf at every step of a query: with a hundred thousand of them scrolling halts.
 */
export class EntryPage {
  constructor(
    readonly items: readonly AuditLine[],
    readonly next: string | null,
  ) {}
}
