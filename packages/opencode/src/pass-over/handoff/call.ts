import type { FlowFault } from "./check"
import { isFlow, type FlowDefinition } from "./definition"
import { meant } from "./nearest"
import { required } from "./plan"

type Called = { flow: FlowDefinition; called: FlowDefinition; given: readonly string[]; index: number }

function inputs({ called, given, index }: Called): FlowFault[] {
  const known = Object.keys(called.inputs ?? {})
  const missing = required(called).filter((name) => !given.includes(name))
  return [
    ...given
      .filter((name) => !known.includes(name))
      .map((name) => ({
        path: ["steps", index, "with", name],
        key: true,
        message: `the flow "${called.name}" has no input "${name}".${meant(name, known)}`,
      })),
    ...(missing.length === 0
      ? []
      : [
          {
            path: ["steps", index, "flow"],
            message: `the flow "${called.name}" also needs: ${missing.join(", ")}; give it in \`with\``,
          },
        ]),
  ]
}

// Passes of one run are made in one agent's name.
function originator({ flow, called, index }: Called): FlowFault[] {
  if (called.originator === undefined || called.originator === flow.originator) return []
  return [
    {
      path: ["steps", index, "flow"],
      message: `the flow "${called.name}" passes in the name of ${called.originator}, and all steps of a run pass in one name; give this flow \`originator: ${called.originator}\``,
    },
  ]
}

/** What is wrong with how a flow calls others; those that are not in order are named in `broken`. */
export const callFaults = (
  flow: FlowDefinition,
  flows: ReadonlyMap<string, FlowDefinition>,
  broken: ReadonlySet<string>,
): FlowFault[] =>
  flow.steps.flatMap((step, index): FlowFault[] => {
    if (!isFlow(step)) return []
    const path = ["steps", index, "flow"]
    if (broken.has(step.flow)) return [{ path, message: `the flow "${step.flow}" is not in order itself` }]
    const called = flows.get(step.flow)
    if (!called) return [{ path, message: `there is no flow "${step.flow}".${meant(step.flow, flows.keys())}` }]
    const call = { flow, called, given: Object.keys(step.with ?? {}), index }
    return [...inputs(call), ...originator(call)]
  })
