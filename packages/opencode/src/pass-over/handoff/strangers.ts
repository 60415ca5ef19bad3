import { LineCounter, parseDocument } from "yaml"
import type { Path } from "./check"
import { isParallel, isPass, type FlowDefinition, type PassStep } from "./definition"
import { meant } from "./nearest"
import { faultLines, placeOf } from "./source"

type Named = { name: string; path: Path }

const inPass = ({ agent, critic }: Pick<PassStep, "agent" | "critic">, path: Path): Named[] => [
  { name: agent, path: [...path, "agent"] },
  ...(critic ? [{ name: critic.agent, path: [...path, "critic", "agent"] }] : []),
]

function named({ originator, steps, detours = [] }: FlowDefinition): Named[] {
  const inSteps = steps.flatMap((step, index): Named[] => {
    const path: Path = ["steps", index]
    if (isPass(step)) return inPass(step, path)
    if (!isParallel(step)) return []
    return step.parallel.map(({ agent }, branch) => ({ name: agent, path: [...path, "parallel", branch, "agent"] }))
  })
  const inDetours = detours.flatMap((step, index) => inPass(step, ["detours", index]))
  return [...(originator === undefined ? [] : [{ name: originator, path: ["originator"] }]), ...inSteps, ...inDetours]
}

/** The agents that a flow names and nobody knows, with their places in its text. */
export function strangers(
  of: { path: string; text: string; flow: FlowDefinition },
  known: readonly string[],
): readonly string[] {
  const found = named(of.flow).filter(({ name }) => !known.includes(name))
  if (found.length === 0) return []
  const lines = new LineCounter()
  const document = parseDocument(of.text, { lineCounter: lines, prettyErrors: false })
  const faults = found.map(({ name, path }) => {
    const message = `${path.join(".")}: there is no agent "${name}" here.${meant(name, known)}`
    return { ...placeOf(document, lines, { path, message }), message }
  })
  return faultLines(of.path, faults)
}
