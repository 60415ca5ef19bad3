import { callFaults } from "./call"
import type { FlowDefinition } from "./definition"
import { planFlow } from "./plan"
import { faultLines, parseFlow, placed } from "./source"

/** Flows by name, and the files that are not in order with what is wrong in them. */
export type FlowCatalog = {
  flows: ReadonlyMap<string, { flow: FlowDefinition; path: string }>
  /** With the names of the flows that a file stands for: none of them runs as long as it is not in order. */
  faults: readonly { path: string; names: readonly string[]; lines: readonly string[] }[]
}

export const fileName = (path: string) => path.replace(/^.*[\\/]/, "").replace(/\.(?:ya?ml|json)$/, "")

export type FlowText = { path: string; text: string }

type Reading = Map<string, { flow: FlowDefinition } & FlowText>

/**
 * Reads flows; a later one takes the place of an earlier one of its name. Each has to be named as its file is. Also a
 * file that is not in order takes the place: what somebody wrote is never quietly done in the words of another.
 */
function readAll(texts: readonly FlowText[]) {
  const read: Reading = new Map()
  const faults: FlowCatalog["faults"][number][] = []
  const refuse = (path: string, names: string[], lines: readonly string[]) => {
    for (const name of names) read.delete(name)
    faults.push({ path, names, lines })
  }
  for (const { path, text } of texts) {
    const parsed = parseFlow(text)
    const called = fileName(path)
    if (!parsed.ok) {
      refuse(path, [called], faultLines(path, parsed.faults))
      continue
    }
    const { name } = parsed.flow
    if (name !== called) {
      refuse(path, [called, name], [`${path}:1:1 name: it is "${name}", and its file is "${called}"`])
      continue
    }
    read.set(name, { flow: parsed.flow, path, text })
  }
  return { read, faults }
}

/** What is wrong with flows that are in order each for itself: how they call one another. */
function together(read: Reading, broken: ReadonlySet<string>): FlowCatalog["faults"][number][] {
  const known = new Map([...read].map(([name, { flow }]) => [name, flow]))
  return [...read].flatMap(([name, { flow, path, text }]) => {
    const calls = callFaults(flow, known, broken)
    if (calls.length > 0) return [{ path, names: [name], lines: faultLines(path, placed(text, calls)) }]
    const planned = planFlow(flow, known, broken)
    if (planned.ok) return []
    const top = planned.step?.split(".")[0]
    const index = flow.steps.findIndex(({ id }) => id === top)
    const at = { path: index < 0 ? ["steps"] : ["steps", index], message: planned.message }
    return [{ path, names: [name], lines: faultLines(path, placed(text, [at])) }]
  })
}

export function readCatalog(texts: readonly FlowText[]): FlowCatalog {
  const { read, faults } = readAll(texts)
  const broken = new Set(faults.flatMap(({ names }) => names))
  const flows = new Map([...read].map(([name, { flow, path }]) => [name, { flow, path }]))
  return { flows, faults: [...faults, ...together(read, broken)] }
}

/** The names of the flows that are not in order. */
export const brokenIn = ({ faults }: FlowCatalog): ReadonlySet<string> => new Set(faults.flatMap(({ names }) => names))
