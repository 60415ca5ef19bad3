import type { FlowDefinition } from "./definition"
import { planFlow } from "./plan"
import { faultLines, parseFlow } from "./source"

/** Flows by name, and the files that are not in order with what is wrong in them. */
export type FlowCatalog = {
  flows: ReadonlyMap<string, { flow: FlowDefinition; path: string }>
  faults: readonly { path: string; lines: readonly string[] }[]
}

export const fileName = (path: string) => path.replace(/^.*[\\/]/, "").replace(/\.(?:ya?ml|json)$/, "")

/** Reads flows; a later one takes the place of an earlier one of its name. Each has to be named as its file is. */
export function readCatalog(texts: readonly { path: string; text: string }[]): FlowCatalog {
  const flows = new Map<string, { flow: FlowDefinition; path: string }>()
  const faults: { path: string; lines: readonly string[] }[] = []
  for (const { path, text } of texts) {
    const parsed = parseFlow(text)
    if (!parsed.ok) {
      faults.push({ path, lines: faultLines(path, parsed.faults) })
      continue
    }
    if (parsed.flow.name !== fileName(path)) {
      faults.push({
        path,
        lines: [`${path}:1:1 name: it is "${parsed.flow.name}", and its file is "${fileName(path)}"`],
      })
      continue
    }
    flows.set(parsed.flow.name, { flow: parsed.flow, path })
  }
  const known = new Map([...flows].map(([name, { flow }]) => [name, flow]))
  for (const { flow, path } of flows.values()) {
    const planned = planFlow(flow, known)
    if (!planned.ok) faults.push({ path, lines: [`${path}:1:1 ${planned.step ?? ""}: ${planned.message}`] })
  }
  return { flows, faults }
}
