import type { Run, RunSummary } from "../../../opencode/src/server/schema-flow"
import { money, tokens } from "../lib/format"
import { WORDS } from "../lib/words"
import type { Badge } from "./badge-view"
import type { Limit } from "./pass-over-status-view"

type Node = Run["nodes"][number]
export type Box = Omit<Node, "branches">

const STATUS = {
  running: { sign: "▸", tone: "going" },
  waiting: { sign: "!", tone: "you" },
  paused: { sign: "Ⅱ", tone: "warn" },
  completed: { sign: "✓", tone: "good" },
  stopped: { sign: "✕", tone: "bad" },
  cancelled: { sign: "■", tone: "quiet" },
} as const

const MARK = {
  done: { sign: "✓", tone: "good" },
  failed: { sign: "✕", tone: "bad" },
  skipped: { sign: "–", tone: "quiet" },
  active: { sign: "▸", tone: "going" },
  waiting: { sign: "?", tone: "you" },
  pending: { sign: "·", tone: "quiet" },
} as const

/** A run that nobody has taken up waits for an opencode, and not for a person. */
export function runBadge({ status, carried }: Pick<RunSummary, "status" | "carried">): Badge {
  if (!carried && status === "running") return { sign: "…", word: WORDS.flows.not_carried, tone: "quiet" }
  return { ...STATUS[status], word: WORDS.flows.status[status] }
}

/** What a run is about, in one line: what it was given. */
export const aboutRun = ({ inputs }: Pick<RunSummary, "inputs">): string =>
  Object.values(inputs)
    .map((value) => value.slice(0, 200).replaceAll(/\s+/g, " ").trim())
    .filter((value) => value !== "")
    .join(" · ")

export const boxBadge = ({ mark }: Pick<Box, "mark">): Badge => ({ ...MARK[mark], word: WORDS.flows.mark[mark] })

const ENDED: readonly RunSummary["status"][] = ["completed", "stopped", "cancelled"]

/** What may be asked of a run just now. */
export function orders({ status }: Pick<RunSummary, "status">): ("pause" | "resume" | "cancel")[] {
  if (ENDED.includes(status)) return []
  return status === "paused" ? ["resume", "cancel"] : ["pause", "cancel"]
}

/** What may be asked of one of its steps: done again what has begun, left out what is not over. */
export function stepOrders({ status }: Pick<RunSummary, "status">, { mark, kind }: Pick<Box, "mark" | "kind">) {
  const begun = mark !== "pending"
  const over = mark === "done" || mark === "failed" || mark === "skipped"
  return [
    ...(begun && kind !== "branch" ? (["retry"] as const) : []),
    ...(!over && !ENDED.includes(status) ? (["skip"] as const) : []),
  ]
}

/** What is going on in a step, or what came of it, in one line each. */
export function boxLines({ working, waiting, result, critic }: Box): string[] {
  return [
    ...working.map(({ agent, role, round }) => WORDS.flows.working(agent, role, round)),
    ...waiting.map(({ why, reason }) => WORDS.flows.waiting(why, reason)),
    ...(critic && !result ? [WORDS.flows.critic(critic.agent, critic.rounds)] : []),
    ...(result ? resultLines(result) : []),
  ]
}

function resultLines(result: NonNullable<Box["result"]>): string[] {
  const numbers = [
    result.rounds > 1 ? WORDS.flows.rounds(result.rounds) : "",
    result.tokens > 0 ? `${tokens(result.tokens)} tokens` : "",
    result.cost > 0 ? money(result.cost) : "",
    result.cached ? WORDS.flows.cached : "",
  ].filter(Boolean)
  return [result.reason ?? result.summary, numbers.join(" · ")].filter((line) => line.trim() !== "")
}

/** What a run proposes that nobody has applied. While its steps still work there is more to come. */
export const waitingFiles = ({ status, proposed }: Pick<Run, "status" | "proposed">) =>
  status === "running" ? [] : proposed.filter(({ applied }) => !applied)

/** What a run has used of what its flow allows. */
export function spending({ usage, budget }: Pick<Run, "usage" | "budget">): Limit {
  const shares = [
    budget.tokens === undefined ? undefined : usage.tokens / budget.tokens,
    budget.cost === undefined ? undefined : usage.cost / budget.cost,
    budget.passes === undefined ? undefined : usage.passes / budget.passes,
  ].filter((share) => share !== undefined)
  const of = (used: string, most: string | undefined) => (most === undefined ? used : `${used} / ${most}`)
  const used = shares.length > 0 ? Math.min(1, Math.max(...shares)) : undefined
  const passes = of(String(usage.passes), budget.passes === undefined ? undefined : String(budget.passes))
  const text = [
    WORDS.flows.passes(passes),
    `${of(tokens(usage.tokens), budget.tokens === undefined ? undefined : tokens(budget.tokens))} tokens`,
    of(money(usage.cost), budget.cost === undefined ? undefined : money(budget.cost)),
  ]
  return { text: text.join(" · "), used, short: used !== undefined && used > 0.85 }
}

/** What is still missing before a flow can start. */
export const missing = (
  inputs: readonly { name: string; required: boolean }[],
  given: Readonly<Record<string, string>>,
): string[] => inputs.filter(({ name, required }) => required && !given[name]?.trim()).map(({ name }) => name)

/** Only what somebody has filled in goes along; the rest is the flow's own. */
export const filled = (given: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value.trim() !== ""))
