import type { PlanNode, FlowPlan } from "./plan"
import type { RunState, StepResult, Work } from "./state"

const MARK = { done: "✓", failed: "✗", skipped: "–", active: "▶", waiting: "?", pending: "·" } as const
export type Mark = keyof typeof MARK

export function markOf(state: RunState | undefined, id: string): Mark {
  if (!state) return "pending"
  const open = Object.values(state.open).filter((work) => work.node === id)
  if (open.some(({ type }) => type === "gate")) return "waiting"
  const result = state.results[id]
  if (result) return result.skipped ? "skipped" : result.passed ? "done" : "failed"
  return open.length > 0 || state.active[id] ? "active" : "pending"
}

// What stands in a flow's file or was said by an agent has no lines of its own in a drawing of ours.
const onLine = (text: string, most: number) => {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim()
  return line.length > most ? `${line.slice(0, most - 1).toWellFormed()}…` : line
}

const MOST_NAME = 80
const MOST_REASON = 200

const called = (text: string) => onLine(text, MOST_NAME)

export const what = (node: PlanNode) => {
  if (node.kind === "pass")
    return `${called(node.step.agent)}${node.step.critic ? ` ⇄ ${called(node.step.critic.agent)}` : ""}`
  if (node.kind === "gate") return `a person: ${called(node.step.gate)}`
  return `${node.branches.length} side by side`
}

/** For a person the reasons stand in a drawing too. A model gets them apart, because agents wrote them. */
export type For = "person" | "model"

const because = (reason: string | null, reader: For) =>
  reason === null || reader === "model" ? undefined : onLine(reason, MOST_REASON) || undefined

const tally = (result: StepResult | undefined, reader: For) => {
  if (!result) return ""
  if (result.skipped) return ` — ${because(result.reason, reader) ?? "left out"}`
  const parts = [
    result.status,
    result.rounds > 1 ? `${result.rounds} rounds` : "",
    result.tokens > 0 ? `${result.tokens} tokens` : "",
    result.cost > 0 ? `$${result.cost.toFixed(2)}` : "",
    result.cached ? "from the cache" : "",
  ]
  return ` — ${parts.filter(Boolean).join(", ")}`
}

function waitingFor(state: RunState | undefined, id: string, reader: For) {
  const line = (work: Work) => {
    if (work.type === "pass") return ` — ${called(work.agent)}, round ${work.round}`
    const reason = because(work.reason, reader)
    return ` — waits for a person (${work.why})${reason ? `: ${reason}` : ""}`
  }
  return Object.values(state?.open ?? {})
    .filter((work) => work.node === id)
    .map(line)
    .join("")
}

/** A flow or a run as lines of text. */
export function diagramText(plan: FlowPlan, state?: RunState, reader: For = "person"): string {
  const reason = because(state?.reason ?? null, reader)
  const line = (id: string, about: string, indent: string, when: boolean) =>
    `${indent}${MARK[markOf(state, id)]} ${id} (${about})${when ? " if its condition holds" : ""}${tally(state?.results[id], reader)}${waitingFor(state, id, reader)}`
  return [
    state ? `${plan.name}: ${state.status}${reason ? ` (${reason})` : ""}` : plan.name,
    ...plan.nodes.flatMap((node) => [
      line(node.id, what(node), "  ", node.guards.length > 0),
      ...(node.kind === "parallel"
        ? node.branches.map((branch) =>
            line(branch.id, called(branch.step.agent), "    ", branch.guards.length > node.guards.length),
          )
        : []),
    ]),
  ].join("\n")
}

// Mermaid ends a label at a quote and reads HTML in it; what stands in a flow's file is not ours.
const label = (text: string) =>
  text
    .replaceAll(/[\s]+/g, " ")
    .slice(0, 80)
    .replaceAll(/["<>&#;`[\](){}|\\]/g, (sign) => `#${sign.codePointAt(0) ?? 32};`)

const SHADE: Record<Mark, string> = {
  done: "fill:#dcfce7,stroke:#16a34a",
  failed: "fill:#fee2e2,stroke:#dc2626",
  skipped: "fill:#f4f4f5,stroke:#a1a1aa,stroke-dasharray:4",
  active: "fill:#dbeafe,stroke:#2563eb",
  waiting: "fill:#fef9c3,stroke:#ca8a04",
  pending: "fill:#ffffff,stroke:#a1a1aa",
}

/** A flow or a run as a Mermaid flowchart. */
export function diagramMermaid(plan: FlowPlan, state?: RunState): string {
  const names = new Map<string, string>()
  const name = (id: string) => names.get(id) ?? (names.set(id, `n${names.size}`), names.get(id) ?? "n")
  const box = (id: string, about: string, gate = false) =>
    `  ${name(id)}${gate ? `{{"${label(id)}<br/>${label(about)}"}}` : `["${label(id)}<br/>${label(about)}"]`}:::${markOf(state, id)}`
  const lines: string[] = []
  let before = ["begin"]
  const arrow = (to: string, conditional: boolean) =>
    before.map((from) => `  ${from} ${conditional ? "-.->" : "-->"} ${to}`)
  for (const node of plan.nodes) {
    if (node.kind !== "parallel") {
      lines.push(box(node.id, what(node), node.kind === "gate"), ...arrow(name(node.id), node.guards.length > 0))
      if (node.kind === "pass" && node.step.critic)
        lines.push(`  ${name(node.id)} -. "${node.step.critic.rounds} rounds" .-> ${name(node.id)}`)
      before = [name(node.id)]
      continue
    }
    for (const branch of node.branches)
      lines.push(box(branch.id, branch.step.agent), ...arrow(name(branch.id), branch.guards.length > 0))
    lines.push(box(node.id, what(node)), ...node.branches.map((branch) => `  ${name(branch.id)} --> ${name(node.id)}`))
    before = [name(node.id)]
  }
  const classes = (Object.keys(SHADE) as Mark[]).map((mark) => `  classDef ${mark} ${SHADE[mark]}`)
  return ["flowchart TD", "  begin((begin))", ...lines, ...arrow("finish((end))", false), ...classes, ""].join("\n")
}

export type FlowProgress = {
  status: RunState["status"]
  reason: string | null
  step: number
  steps: number
  working: { step: string; agent: string; role: string; round: number }[]
  waiting: { step: string; why: string; reason: string; key: string }[]
  usage: RunState["usage"]
}

/** Where a run stands: step, round, branch, who is worked with and who is waited for, tokens and cost. */
export function progressOf(plan: FlowPlan, state: RunState): FlowProgress {
  const open = Object.values(state.open)
  return {
    status: state.status,
    reason: state.reason,
    step: Math.min(state.cursor + 1, plan.nodes.length),
    steps: plan.nodes.length,
    working: open.flatMap((work) =>
      work.type === "pass" ? [{ step: work.node, agent: work.agent, role: work.role, round: work.round }] : [],
    ),
    waiting: open.flatMap((work) =>
      work.type === "gate" ? [{ step: work.node, why: work.why, reason: work.reason, key: work.key }] : [],
    ),
    usage: state.usage,
  }
}
