import type { Draft } from "./draft"
import type { Envelope, EnvelopeMeta, Routing } from "./envelope"
import type { GateNode, ParallelNode } from "./plan"
import type { LeftBy, StepResult, Verdict } from "./state"

/** The envelopes of steps that no agent does: every step leaves one. */

// Where it is written its names are made such that they may be part of a file's.
const metaOf = ({ plan, at }: Draft, { node, agent }: LeftBy): EnvelopeMeta => ({
  step_id: node,
  flow_key: plan.name,
  agent_key: agent,
  timestamp: new Date(at).toISOString(),
})

type Counted = { node: ParallelNode; result: StepResult; routing: Routing }

/** What branches came to together. Their concerns stand in their own. */
export function counted(draft: Draft, by: LeftBy, { node, result, routing }: Counted): Envelope {
  const votes = node.branches.length
  return {
    meta: metaOf(draft, by),
    status: result.status,
    summary: {
      what_i_did: `Put together what ${votes} ${votes === 1 ? "branch" : "branches"} left`,
      what_i_found: result.summary,
      key_decisions: (result.context.decisions ?? []).map(({ decision }) => decision),
      evidence: { artifacts_produced: result.files, commands_run: [], measurements: { branches: votes } },
    },
    concerns: [],
    assumptions: [],
    routing,
  }
}

type Decided = { node: GateNode; title: string; given: Verdict; routing: Routing }

/** What a person decided at a gate. */
export function decided(draft: Draft, by: LeftBy, { node, title, given, routing }: Decided): Envelope {
  const approved = given.verdict === "approve"
  const who = given.by ?? "a person"
  const line = `${title}: ${approved ? "approved" : "rejected"} by ${who}`
  const items = node.step.items.length
  return {
    meta: metaOf(draft, by),
    status: approved ? "VERIFIED" : "UNVERIFIED",
    summary: {
      what_i_did: `${who} decided at the gate "${title}" (${items} ${items === 1 ? "item" : "items"})`,
      what_i_found: given.note?.trim() || line,
      key_decisions: [line],
      evidence: { artifacts_produced: [], commands_run: [], measurements: { items } },
    },
    concerns: [],
    assumptions: [],
    routing,
  }
}
