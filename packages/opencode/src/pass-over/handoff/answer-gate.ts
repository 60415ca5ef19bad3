import { redone } from "./chain"
import { activityOf, ask, askForBudget, end, keep, launch, resultOf, update, type Draft } from "./draft"
import type { Routing } from "./envelope"
import { forget, said, toBranches, told } from "./hear"
import { over } from "./limit"
import { answerer } from "./option"
import { decided } from "./own-envelope"
import { HUMAN } from "./package"
import type { GateNode } from "./plan"
import { newActivity, type Verdict } from "./state"
import { gateTitle } from "./values"
import { finish, restart, work } from "./walk"

/** A gate leaves an envelope like any other step. */
function judged(draft: Draft, node: GateNode, given: Verdict, routing: Routing) {
  const title = gateTitle(draft.plan, draft.state, node)
  const by = { node: node.id, agent: HUMAN }
  keep(draft, by, decided(draft, by, { node, title, given, routing }))
}

/** The step that a gate sends back is done again, and everything between it and the gate. */
function sentBack(draft: Draft, gate: GateNode, given: Verdict) {
  const { plan, state } = draft
  const title = gateTitle(plan, state, gate)
  const target = redone(plan, state, gate)
  const reason = said(given) ?? `rejected at ${title}`
  if (!target) {
    judged(draft, gate, given, { recommendation: "ESCALATE", reason })
    return end(draft, "stopped", reason)
  }
  judged(draft, gate, given, { recommendation: "LOOP", next_step_suggestion: target.id.slice(0, 200), reason })
  const from = plan.nodes.indexOf(target)
  const rounds = state.results[target.id]?.rounds ?? 0
  for (const node of plan.nodes.slice(from)) forget(draft, node)
  state.cursor = from
  const why = { ...given, note: said(given) ?? `Adjustments required at ${title}` }
  if (target.kind !== "pass") {
    restart(draft, target)
    return toBranches(draft, target, why)
  }
  update(draft, target.id, { ...newActivity(target.id), round: rounds + 1, base: rounds })
  told(draft, target.id, why)
  work(draft, target)
}

/** A person has answered at a gate. */
export function atGate(draft: Draft, node: GateNode, given: Verdict) {
  if (given.verdict === "approve") {
    judged(draft, node, given, { recommendation: "CONTINUE", reason: said(given) ?? "approved" })
    const summary = [`${gateTitle(draft.plan, draft.state, node)}: approved`, said(given)].filter(Boolean).join(": ")
    const result = resultOf(draft, activityOf(draft, node.id), {
      status: "VERIFIED",
      passed: true,
      summary,
      context: { summary },
      reason: said(given) ?? null,
    })
    return finish(draft, node, result)
  }
  if (given.verdict === "reject") return sentBack(draft, node, given)
  inquired(draft, node, given)
}

/** Puts what a person asks at a gate to the agent whose work is looked at. */
export function inquired(draft: Draft, node: GateNode, given: Verdict) {
  told(draft, node.id, given)
  const { plan, state } = draft
  const agent = answerer(plan, state, node)
  if (!agent) return ask(draft, node.id, "gate", gateTitle(plan, state, node))
  const used = over(plan, state, node.scope)
  if (used) return askForBudget(draft, node.id, used)
  const { words } = activityOf(draft, node.id)
  const open = words.slice(words.findLastIndex((each) => each.by === "agent") + 1).map(({ text }) => text)
  const questions = open.length > 0 ? open : ["A person wants to know more before they decide."]
  launch(draft, { node: node.id, role: "clarify", agent, from: given.by ?? "human", questions })
}
