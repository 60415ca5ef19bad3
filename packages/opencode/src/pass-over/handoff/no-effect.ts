import type { FlowFault, Path } from "./check"
import type { Branch, Detour, ParallelStep, PassStep } from "./definition"

/** Fields that would do nothing where they stand: whoever wrote them meant something by them. */

const fault = (path: Path, message: string): FlowFault => ({ path, message, key: true })

export function idleInPass(step: PassStep | Branch | Detour, path: Path): FlowFault[] {
  const phase = "phase" in step ? step.phase : undefined
  const found: FlowFault[] = []
  if ("rounds" in step && step.rounds !== undefined && step.critic !== undefined)
    found.push(
      fault([...path, "rounds"], "a step with a critic makes as many rounds as its critic has; write it there"),
    )
  if (phase !== undefined) return found
  if ("spec_path" in step && step.spec_path !== undefined)
    found.push(
      fault([...path, "spec_path"], "only a phase is told of a spec; give the step a `phase`, or name it in `files`"),
    )
  if ("budget" in step && step.budget?.output_tokens !== undefined)
    found.push(
      fault([...path, "budget", "output_tokens"], "only a phase has findings to be measured; give the step a `phase`"),
    )
  return found
}

export function idleInParallel({ rule, parallel }: ParallelStep, path: Path): FlowFault[] {
  if (typeof rule !== "string" && "weighted" in rule) return []
  return parallel.flatMap(({ weight }, index) =>
    weight === undefined
      ? []
      : [fault([...path, "parallel", index, "weight"], "a weight counts only where the rule is `{ weighted: n }`")],
  )
}

/** Of two detours of one name only the first would ever be made. */
export const twice = (ids: readonly (string | undefined)[]): FlowFault[] =>
  ids.flatMap((id, index) =>
    id === undefined || ids.indexOf(id) === index
      ? []
      : [{ path: ["detours", index, "id"], message: `the id "${id}" is there twice` }],
  )
