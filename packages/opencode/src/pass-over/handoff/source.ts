import { isMap, isPair, isScalar, LineCounter, parseDocument, type Document, type Node } from "yaml"
import { checkFlow, type FlowFault, type Path } from "./check"
import type { FlowDefinition } from "./definition"

export type SourceFault = { line: number; column: number; message: string }
export type FlowSource = { ok: true; flow: FlowDefinition } | { ok: false; faults: SourceFault[] }

const LARGEST = 1_000_000

const START = { line: 1, column: 1 }

/** The node that a path leads to; where it ends early, the nearest one around it. */
function nodeAt(document: Document, { path, key }: Pick<FlowFault, "path" | "key">): Node | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const at: Path = path.slice(0, length)
    const name = at.at(-1)
    if (key && length === path.length) {
      const around = document.getIn(at.slice(0, -1), true)
      const pair = isMap(around)
        ? around.items.find((each) => isPair(each) && isScalar(each.key) && each.key.value === name)
        : undefined
      if (pair && isScalar(pair.key)) return pair.key
    }
    const node = length === 0 ? document.contents : document.getIn(at, true)
    if (node && typeof node === "object" && "range" in node) return node as Node
  }
  return undefined
}

// A plain scalar begins where its text does, so a place inside it can be told; a quoted or a folded one may differ.
export function placeOf(document: Document, lines: LineCounter, fault: FlowFault) {
  const node = nodeAt(document, fault)
  const start = node?.range?.[0]
  if (node === undefined || start === undefined) return START
  const plain = isScalar(node) && node.type === "PLAIN"
  const quoted = isScalar(node) && (node.type === "QUOTE_DOUBLE" || node.type === "QUOTE_SINGLE")
  const inside = fault.offset === undefined ? 0 : plain ? fault.offset : quoted ? fault.offset + 1 : 0
  const { line, col } = lines.linePos(start + inside)
  return { line: Math.max(1, line), column: Math.max(1, col) }
}

const told = ({ path, message }: FlowFault) => (path.length === 0 ? message : `${path.join(".")}: ${message}`)

const toSource = (document: Document, lines: LineCounter, faults: readonly FlowFault[]): SourceFault[] =>
  faults
    .map((fault) => ({ ...placeOf(document, lines, fault), message: told(fault) }))
    .toSorted((a, b) => a.line - b.line || a.column - b.column)

/** Faults that were found in a flow that can be read, with their places in its text. */
export function placed(text: string, faults: readonly FlowFault[]): SourceFault[] {
  const lineCounter = new LineCounter()
  return toSource(parseDocument(text, { lineCounter, prettyErrors: false }), lineCounter, faults)
}

/** A flow as text, YAML or JSON: read, or all its faults with their places. It never throws. */
export function parseFlow(text: string): FlowSource {
  if (text.length > LARGEST)
    return { ok: false, faults: [{ ...START, message: "a flow of more than 1 MB is not read" }] }
  const lines = new LineCounter()
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, strict: true })
    if (document.errors.length > 0) {
      const faults = document.errors.map((error) => {
        const { line, col } = lines.linePos(error.pos[0])
        return { line: Math.max(1, line), column: Math.max(1, col), message: error.message }
      })
      return { ok: false, faults }
    }
    // Aliases that hold aliases grow without end; a flow has no need of more than a few.
    const checked = checkFlow(document.toJS({ maxAliasCount: 50 }))
    if (checked.ok) return checked
    return { ok: false, faults: toSource(document, lines, checked.faults) }
  } catch (error) {
    return {
      ok: false,
      faults: [{ ...START, message: `it cannot be read: ${error instanceof Error ? error.message : String(error)}` }],
    }
  }
}

/** "flows/feature.yaml:12:5 steps.1.agent: …", one line a fault. */
export const faultLines = (path: string, faults: readonly SourceFault[]) =>
  faults.map(({ line, column, message }) => `${path}:${line}:${column} ${message}`)
