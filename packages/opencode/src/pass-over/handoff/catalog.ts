import { callFaults } from "./call"
import type { FlowFault } from "./check"
import type { FlowDefinition } from "./definition"
import { planFlow } from "./plan"
import { faultLines, parseFlow, placed } from "./source"

/** Flows by name, and the files that are not in order with what is wrong in them. */
export type FlowCatalog = {
  flows: ReadonlyMap<string, { flow: FlowDefinition; path: string }>
  /** With the names of the flows that a file stands for: none of them runs as long as it is not in order. */
  faults: readonly { path: string; names: readonly string[]; lines: readonly string[] }[]
}

const lastName = (path: string) => path.replace(/^.*[\\/]/, "")

export const fileName = (path: string) => lastName(path).replace(/\.(?:ya?ml|json)$/, "")

export type FlowText = { path: string; text: string }

type Fault = FlowCatalog["faults"][number]

/** What tells files that stand for the same flow: of two in one folder nobody can say which of them is meant. */
const twinKey = (path: string) => path.slice(0, path.length - lastName(path).length) + fileName(path)

type Reading = Map<string, { flow: FlowDefinition } & FlowText>

/**
 * Reads flows; a later one takes the place of an earlier one of its name. Each has to be named as its file is. Also a
 * file that is not in order takes the place: what somebody wrote is never quietly done in the words of another.
 */
function readAll(texts: readonly FlowText[]) {
  const read: Reading = new Map()
  const faults: Fault[] = []
  const refuse = (path: string, names: string[], lines: readonly string[]) => {
    for (const name of names) read.delete(name)
    faults.push({ path, names, lines })
  }
  const twins = Map.groupBy(texts, ({ path }) => twinKey(path))
  for (const { path, text } of texts) {
    const called = fileName(path)
    const others = (twins.get(twinKey(path)) ?? []).filter((other) => other.path !== path)
    if (others.length > 0) {
      const named = others.map((other) => lastName(other.path)).join(" and ")
      refuse(path, [called], [`${path}:1:1 ${named} stands for the flow "${called}" as well; keep one of them`])
      continue
    }
    const parsed = parseFlow(text)
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

type Known = ReadonlyMap<string, FlowDefinition>
type Broken = ReadonlySet<string>

/** Why a flow cannot be put together with those that it calls. */
function apart(flow: FlowDefinition, known: Known, broken: Broken): FlowFault[] {
  const planned = planFlow(flow, known, broken)
  if (planned.ok) return []
  const top = planned.step?.split(".")[0]
  const index = flow.steps.findIndex(({ id }) => id === top)
  return [{ path: index < 0 ? ["steps"] : ["steps", index], message: planned.message }]
}

/**
 * What is wrong with flows that are in order each for itself: how they call one another. Who calls one that is not in
 * order is not in order either, however far below that is.
 */
function together(read: Reading, broken: Broken): Fault[] {
  const known = new Map([...read].map(([name, { flow }]) => [name, flow]))
  const faults: Fault[] = []
  const open = new Map(read)
  const all = new Set(broken)
  const look = (why: typeof callFaults) => {
    const found = [...open].flatMap(([name, { flow, path, text }]) => {
      const wrong = why(flow, known, all)
      return wrong.length === 0 ? [] : [{ path, names: [name], lines: faultLines(path, placed(text, wrong)) }]
    })
    for (const name of found.flatMap(({ names }) => names)) {
      all.add(name)
      open.delete(name)
    }
    faults.push(...found)
    return found.length > 0
  }
  // Each is told of its own calls first: what is wrong further below is told where it is.
  while (look(callFaults) || look(apart));
  return faults
}

export function readCatalog(texts: readonly FlowText[]): FlowCatalog {
  const { read, faults } = readAll(texts)
  const broken = new Set(faults.flatMap(({ names }) => names))
  const flows = new Map([...read].map(([name, { flow, path }]) => [name, { flow, path }]))
  return { flows, faults: [...faults, ...together(read, broken)] }
}

/** The names of the flows that are not in order. */
export const brokenIn = ({ faults }: FlowCatalog): ReadonlySet<string> => new Set(faults.flatMap(({ names }) => names))
