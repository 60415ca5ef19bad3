import { clean, oneLine } from "../../opencode/src/cli/clean"
import type { Gate, GateVerdict } from "../../opencode/src/pass-over/domain/gate"
import { gateFacts, meaningOf } from "../../opencode/src/pass-over/handoff/gate-fact"
import type { Pass } from "../../opencode/src/pass-over/domain/pass"
import type { LivePass } from "../../opencode/src/pass-over/service/port-live"
import { besides, short, type Section } from "./lines"

export type Seen = { pass: Pass; live: LivePass | undefined }

/** One line about a pass that runs: where it stands in the chain, what it does, how long it may take. */
export type Row = {
  id: string
  child: string | null
  depth: number
  label: string
  state: string
  /** Whether somebody is waited for; it is said in words too. */
  waits: boolean
}

const two = (value: number) => String(value).padStart(2, "0")

export function clock(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}

const money = (cost: number) => (cost > 0 ? ` $${cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}` : "")

const DOING: Record<string, string> = {
  starting: "starting",
  working: "working",
  staged: "returning",
  asking: "asked to return",
  backing_off: "trying again soon",
  stopping: "stopping",
}

function state({ pass, live }: Seen, now: number): { state: string; waits: boolean } {
  if (!live)
    return { state: pass.status === "initial" ? "waits to start" : "running", waits: pass.status === "initial" }
  if (live.waits > 0) return { state: "waits for you", waits: true }
  // Its time does not run yet: others are before it, or its copy of the project is being made.
  if (live.phase === "starting" && live.deadline_at === null) return { state: "waits for its turn", waits: false }
  const left = live.deadline_at === null ? "" : ` ${clock(live.deadline_at - now)} left`
  return { state: `${DOING[live.phase] ?? live.phase} ·${left}${money(live.cost)}`, waits: false }
}

/** The running passes of a session as a tree, each below the one that made it. */
export function rows(seen: readonly Seen[], now: number): Row[] {
  const ids = new Set<string>(seen.map(({ pass }) => pass.id))
  const below = (parent: string | null): Seen[] =>
    seen.filter(
      ({ pass }) =>
        (pass.parent_pass_id !== null && ids.has(pass.parent_pass_id) ? pass.parent_pass_id : null) === parent,
    )
  const walk = (parent: string | null, depth: number): Row[] =>
    below(parent).flatMap((one) => [
      {
        id: one.pass.id,
        child: one.pass.child_session_id,
        depth,
        label: `${one.pass.originating_agent_id} → ${one.pass.subagent_id}`,
        ...state(one, now),
      },
      ...walk(one.pass.id, depth + 1),
    ])
  return walk(null, 0)
}

const KIND = {
  confirmation: "may it start?",
  delivery: "may its result go on?",
  approval: "may it be applied?",
  question: "a question",
  escalation: "agents could not settle it",
} as const satisfies Record<Gate["kind"], string>

const line = (text: string, most: number) => {
  const flat = oneLine(text)
  return flat.length > most ? `${flat.slice(0, most - 1)}…` : flat
}

/** A gate as one choice of a list. */
export const gateOption = (gate: Gate, now: number) => ({
  title: line(gate.question, 70),
  value: gate.gate_id,
  description: `${KIND[gate.kind]} · ${gate.default_action === "approve" ? "yes" : "no"} by itself in ${clock(gate.time_expires - now)}`,
})

export type Choice = { title: string; value: GateVerdict; note: boolean; description: string }

/** The answers to a question, each with what it does. */
export function choicesOf(gate: Pick<Gate, "detail">): Choice[] {
  const does = (verdict: GateVerdict, otherwise: string) => line(meaningOf(gate, verdict) ?? otherwise, 160)
  const no = meaningOf(gate, "reject")
  return [
    { title: "Yes", value: "approve", note: false, description: does("approve", "let it go on") },
    // With a word an answer may do more than without one.
    ...(meaningOf(gate, "approve")
      ? [{ title: "Yes, and …", value: "approve" as const, note: true, description: "the same, with what you write" }]
      : []),
    { title: "No", value: "reject", note: false, description: does("reject", "stop it here") },
    {
      title: "No, because …",
      value: "reject",
      note: true,
      description: no ? "the same, with what you write" : "with a word to the agent",
    },
    {
      title: "Ask back …",
      value: "question",
      note: true,
      description: does("question", "send it back with a question of yours"),
    },
  ]
}

/** The question as the title of its dialog, which has two lines for it. */
export const titleOf = (gate: Pick<Gate, "question">) => line(gate.question, 110)

/** The answers by their number, and behind them the reading of everything that the question is about. */
export function optionsOf(gate: Pick<Gate, "question" | "detail">) {
  const choices = choicesOf(gate).map(({ title, description }, value) => ({ title, value, description }))
  if (gateFacts(gate).length === 0 && titleOf(gate) === oneLine(gate.question)) return choices
  return [...choices, { title: "Read on …", value: choices.length, description: "what was left, and what to look at" }]
}

const section = (name: string, value: string): Section => ({
  title: oneLine(name),
  lines: [{ text: clean(value), tone: "text", indent: 0 }],
})

/** Everything that stands behind a question, the whole of it first. */
export const sectionsOf = (gate: Pick<Gate, "question" | "detail">): Section[] => [
  section("", gate.question),
  ...gateFacts(gate).map(({ name, value }) => section(name, value)),
]

/** A running pass as one choice of a list. */
export function passOption(seen: Seen, now: number, columns: number) {
  const title = line(`${seen.pass.originating_agent_id} → ${seen.pass.subagent_id}`, 60)
  const footer = state(seen, now).state
  return {
    title,
    value: seen.pass.id as string,
    description: short(oneLine(seen.pass.objective), besides(columns, title, footer)),
    footer,
    category: "Running",
  }
}

/** Whether a list of what runs would look the same: nobody came or went, and nobody began to wait. */
export const sameRunning = (a: readonly Seen[], b: readonly Seen[]) => alike(a) === alike(b)

const alike = (seen: readonly Seen[]) =>
  seen.map(({ pass, live }) => [pass.id, pass.status, pass.child_session_id, (live?.waits ?? 0) > 0].join()).join("\n")

export const badge = (waiting: number) =>
  waiting === 0 ? "" : `◆ ${waiting} ${waiting === 1 ? "waits" : "wait"} for you · /inbox`
