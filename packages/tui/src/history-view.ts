import { duration, exactly, moment, money, tokens } from "../../app/src/lib/format"
import { WORDS } from "../../app/src/lib/words"
import { messageOf, placeOf, sorted, whyChanged } from "../../app/src/components/pass-over-pass-view"
import { clean, oneLine } from "../../opencode/src/cli/clean"
import type { AuditLine } from "../../opencode/src/pass-over/domain/audit-log"
import { meaning } from "../../opencode/src/pass-over/domain/errors"
import type { WorkOutput } from "../../opencode/src/pass-over/domain/output"
import type { Pass } from "../../opencode/src/pass-over/domain/pass"
import type { PassResult } from "../../opencode/src/pass-over/service/port-query"
import { besides, short, type Line, type Section, type Tone } from "./lines"

/** What stands in the list of what has ended: a pass, or one that was refused before it existed. */
export type Ended =
  | { kind: "pass"; id: string; at: number; pass: Pass; result: PassResult | null }
  | { kind: "refusal"; id: string; at: number; line: AuditLine }

/** The same with all that it can be found by, put together once. */
export type Entry = Ended & { words: string }

/** Everything that is told of one pass. */
export type Told = {
  pass: Pass
  /** The line that its originator read first. */
  head: string | undefined
  output: WorkOutput | undefined
  error_code: string | null
  tokens: number
  cost: number
  went_along: string | undefined
  attempts: number
  /** Whether it wants files changed, or has changed some. */
  changed: boolean
  lines: readonly AuditLine[]
}

export type Detail = {
  title: string
  head: string
  sections: Section[]
  from: string
  to: string
  changed: boolean
  /** The sessions that one can go to: where the work was done, and where it was asked for. */
  child: string | null
  origin: string
}

const agents = (entry: Ended) =>
  entry.kind === "pass"
    ? { from: entry.pass.originating_agent_id, to: entry.pass.subagent_id }
    : { from: entry.line.originating_agent, to: entry.line.subagent }

export const pairName = (from: string, to: string) => `${oneLine(from)} → ${oneLine(to)}`

/** How it ended, in a word or two. */
export function ending(entry: Ended): string {
  if (entry.kind === "refusal") return `refused ${entry.line.error_code ?? ""}`.trim()
  const { pass, result } = entry
  // What stopped it says more than what could be kept of its work.
  if (!result || pass.status === "timed_out" || pass.status === "cancelled") return WORDS.status[pass.status]
  if (result.status === "completed" && result.decision) return WORDS.decision[result.decision]
  const word = WORDS.outcome[result.status]
  return result.error_code ? `${word} ${result.error_code}` : word
}

/** The day of an entry, as a heading. */
export function day(at: number, now: number): string {
  const of = (time: number) => new Date(time).toDateString()
  if (of(at) === of(now)) return "Today"
  if (of(at) === of(now - 24 * 60 * 60 * 1_000)) return "Yesterday"
  return exactly(at).split(",")[0] ?? ""
}

const hour = (at: number) => moment(at, at).slice(0, 5)

/** A refusal in its two parts: "E004 DISABLED_PAIR: why → what to do" is the sentence that the agent was told. */
function refused({ summary }: AuditLine) {
  const [why = "", ...advice] = summary.split(" → ")
  return { why, because: oneLine(why.replace(/^E\d{3} [A-Z_]+: /, "")), advice: advice.join(" → ") }
}

const subject = (entry: Ended) => (entry.kind === "pass" ? oneLine(entry.pass.objective) : refused(entry.line).because)

// Below this many columns the time of day would leave no room for what it was about.
const NARROW = 80

/** An entry as one row of a list. */
export function entryOption(entry: Ended, now: number, columns: number) {
  const { from, to } = agents(entry)
  const title = pairName(from, to)
  const footer = `${ending(entry)}${columns < NARROW ? "" : ` · ${hour(entry.at)}`}`
  return {
    title,
    value: entry.id,
    description: short(subject(entry), besides(columns, title, footer)),
    footer,
    category: day(entry.at, now),
  }
}

/** Puts together what an entry can be found by: who, what, how it ended, why, and when. */
export function searchable(entry: Ended, now: number): Entry {
  const { from, to } = agents(entry)
  const told =
    entry.kind === "refusal"
      ? [entry.line.summary, entry.line.reason]
      : [
          entry.pass.objective,
          entry.pass.reason,
          entry.pass.policy,
          WORDS.status[entry.pass.status],
          entry.result?.decision,
          entry.result?.decision_reason,
          entry.result?.completion_reason,
        ]
  const when = [day(entry.at, now), exactly(entry.at), hour(entry.at)]
  const words = [from, to, `${from}->${to}`, ending(entry), ...when, entry.id, ...told].join("\n").toLowerCase()
  return { ...entry, words }
}

/** Whether every word that was typed occurs somewhere in a text of small letters. */
export const holds = (text: string, query: string): boolean =>
  query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))

const line = (text: string, tone: Tone = "text", indent = 0): Line => ({ text: clean(text), tone, indent })
const named = (name: string, text: string | null | undefined): Line[] =>
  text?.trim() ? [line(`${name}: ${text}`, "muted")] : []
const section = (title: string, lines: Line[]): Section[] => (lines.length > 0 ? [{ title, lines }] : [])

/** What a code means, and what helps. */
function wrong(error_code: string | null): Line[] {
  const found = meaning(error_code)
  return found ? [line(found.user), line(`→ ${found.action}`, "muted")] : []
}

const asked = ({ pass, went_along }: Told): Line[] => [
  line(pass.objective),
  ...named(WORDS.pass.reason, pass.reason),
  ...named(WORDS.pass.background, pass.background),
  ...named(WORDS.pass.constraints, pass.constraints.join("; ")),
  ...named(WORDS.pass.manifest, went_along),
  ...named(WORDS.pass.policy, pass.policy),
]

const SEVERITY = { error: "error", warning: "warning", info: "muted" } as const satisfies Record<string, Tone>

function outcome(output: WorkOutput): Section[] {
  const { findings, changes, decisions, messages } = sorted(output.artifacts)
  const { summary } = output
  const doubts = (summary.verdict?.unresolved ?? []).map(({ claim, why }) =>
    line(`unverified: ${claim} (${why})`, "warning"),
  )
  return [
    ...section("Outcome", [
      ...(output.completion_reason ? [line(output.completion_reason, "warning")] : []),
      ...(summary.decision_reason ? [line(summary.decision_reason)] : []),
      ...doubts,
    ]),
    ...section(
      WORDS.pass.findings(findings.length),
      findings.flatMap((found) => [
        line(`${WORDS.severity[found.severity]} ${placeOf(found.location)}`.trim(), SEVERITY[found.severity]),
        line(found.message, "text", 1),
        ...(found.suggested_fix ? [line(`${WORDS.pass.fix}: ${found.suggested_fix}`, "muted", 1)] : []),
      ]),
    ),
    ...section(
      WORDS.pass.recommendations,
      (summary.recommendations ?? []).map((text) => line(`• ${text}`)),
    ),
    ...section(
      WORDS.pass.errors,
      (summary.errors ?? []).map(({ code, message }) => line(`${code} ${message}`, "warning")),
    ),
    ...section(
      WORDS.pass.decisions,
      decisions.map(({ question, answer }) => line(`${question} ${answer}`)),
    ),
    ...section(
      "Files",
      changes.map((change) => {
        const why = whyChanged(change)
        return line(why ? `${change.path}: ${why}` : change.path)
      }),
    ),
    ...section(
      WORDS.pass.messages,
      messages
        .map(messageOf)
        .flatMap(({ text, left, to }) => [
          line(text),
          ...(left > 0 ? [line(WORDS.pass.more(String(left)), "muted", 1)] : []),
          ...(to ? [line(to, "muted", 1)] : []),
        ]),
    ),
  ]
}

const used = ({ output, tokens: count, cost, attempts, pass }: Told): Line[] =>
  output
    ? [
        line(
          [
            duration(output.metadata.wall_time_ms),
            `${tokens(count)} tokens`,
            money(cost),
            ...(attempts > 1 ? [`${attempts} attempts`] : []),
            ...(pass.model ? [pass.model] : []),
          ].join(" · "),
        ),
      ]
    : []

// An owner is a process of opencode, and nobody's name.
const who = ({ actor }: AuditLine) => (actor.startsWith("own_") ? "" : ` ${WORDS.pass.by(actor)}`)

// What of it stands nowhere above.
const ANSWERS = new Set<string>(["answered", "reviewed", "recorded"])

const happened = (lines: readonly AuditLine[], now: number): Line[] =>
  lines.map((one) => {
    const what = WORDS.action[one.action] ?? one.action
    const detail = ANSWERS.has(one.action) && one.summary ? `: ${oneLine(one.summary)}` : ""
    return line(`${moment(one.timestamp, now)}  ${what}${who(one)}${detail}`, "muted")
  })

/** A pass that has ended, as a reader goes through it: asked, came back, found, cost, happened. */
export function passDetail(told: Told, now: number): Detail {
  const { pass, output, error_code } = told
  return {
    title: pairName(pass.originating_agent_id, pass.subagent_id),
    head: oneLine(told.head ?? WORDS.status[pass.status]) + (error_code ? ` · ${error_code}` : ""),
    sections: [
      ...section(WORDS.pass.wrong, wrong(error_code)),
      ...section("Asked for", asked(told)),
      ...(output ? outcome(output) : []),
      ...section("Cost", used(told)),
      ...section(WORDS.pass.happened, happened(told.lines, now)),
    ],
    from: pass.originating_agent_id,
    to: pass.subagent_id,
    changed: told.changed,
    child: pass.child_session_id,
    origin: pass.session_id,
  }
}

/** What was refused, and what can be done about it. */
export function refusalDetail(refusal: AuditLine): Detail {
  const { why, advice } = refused(refusal)
  return {
    title: pairName(refusal.originating_agent, refusal.subagent),
    head: `refused ${refusal.error_code ?? ""} · ${exactly(refusal.timestamp)}`,
    sections: [
      ...section("Why", [line(why, "warning")]),
      ...section("What the agent was told to do", advice ? [line(advice)] : []),
      ...section("Asked for", named(WORDS.pass.reason, refusal.reason)),
      ...section("", [line(WORDS.audit.refused, "muted")]),
    ],
    from: refusal.originating_agent,
    to: refusal.subagent,
    changed: false,
    child: null,
    origin: refusal.session_id,
  }
}
