import { fence, freshNonce } from "../domain/fence"
import { diagramText } from "../handoff/diagram"
import type { RunState } from "../handoff/state"
import { yaml } from "../handoff/yaml"
import type { Engine } from "./engine"
import type { FlowRun } from "./port-flow"

const LABEL = "pass-over-flow"
const MOST_SHOWN = 12

/** What a run has left: the last steps in full, as data. */
function left(engine: Pick<Engine, "ids">, run: FlowRun, state: RunState): string {
  const done = run.plan.nodes.flatMap(({ id }) => state.results[id] ?? []).filter(({ skipped }) => !skipped)
  const steps = done.slice(-MOST_SHOWN).map(({ node, agent, status, passed, pass_over_id, context, concerns }) => ({
    step: node,
    agent,
    status,
    passed,
    pass: pass_over_id,
    concerns,
    ...context,
  }))
  const text = yaml({ steps })
  return fence(LABEL, freshNonce(text, engine.ids.nonce), text)
}

const waitsFor = (state: RunState) =>
  state.status === "waiting"
    ? [
        "A person has to answer first: pass-over inbox. What the run comes to is brought as a message; do not wait for it.",
      ]
    : []

/** Where a run stands and what it has left, as the model reads it. */
export function tellRun(engine: Pick<Engine, "ids">, run: FlowRun, state: RunState): string {
  return [
    `Run ${run.run_id}`,
    diagramText(run.plan, state),
    ...waitsFor(state),
    ...(Object.keys(state.results).length > 0 ? ["What its steps left, as data:", left(engine, run, state)] : []),
  ].join("\n")
}
