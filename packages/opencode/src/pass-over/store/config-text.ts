import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from "jsonc-parser"
import { uniqueBy } from "remeda"
import { describeProblem, parse, type Problem } from "../domain/config-check"
import { PassOverErrorCode } from "../domain/errors"
import type { PassOverPreferences } from "../domain/preference"

export type Place = { line: number; column: number }

/** A fault of a preferences file as an editor would show it: where, which words, what is wrong, what to do. */
export type Fault = Place & Pick<Problem, "code" | "message" | "suggestion"> & { text: string }

export type ConfigFile = { ok: true; preferences: PassOverPreferences } | { ok: false; faults: Fault[] }

// Some editors begin a file with it, and none of them counts it as a column.
const BOM = /^\uFEFF/

export const withoutBom = (text: string) => text.replace(BOM, "")

/** A preferences file is a page; what is longer is something else, and parsing it would hold up opencode. */
const MAX_CHARACTERS = 1_000_000
const MAX_DEPTH = 100
const SHOWN = 80
const EMPTY = "the file is empty; an empty object is written {}"

export function place(text: string, offset: number): Place {
  const before = text.slice(0, offset).split("\n")
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

// A problem points at what it is about; where that does not exist, at the nearest thing around it.
function nodeAt(tree: Node, path: Problem["path"]): Node {
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(tree, path.slice(0, length))
    if (node) return length === path.length && node.parent?.type === "property" ? node.parent : node
  }
  return tree
}

const WORDS: Record<string, string> = {
  InvalidSymbol: "this word is not known here; text stands in double quotes",
  InvalidNumberFormat: "this is not a number",
  PropertyNameExpected: "a setting in double quotes is expected here",
  ValueExpected: "a value is expected here",
  ColonExpected: "a colon is missing here",
  CommaExpected: "a comma is missing here",
  CloseBraceExpected: "a closing brace } is missing here",
  CloseBracketExpected: "a closing bracket ] is missing here",
  EndOfFileExpected: "something stands after the end of the object",
  UnexpectedEndOfComment: "a comment is not closed",
  UnexpectedEndOfString: "a closing quote is missing here",
  UnexpectedEndOfNumber: "a number ends too early",
  InvalidUnicode: "this is not a valid \\u escape",
  InvalidEscapeCharacter: "this is not a valid escape; a backslash is written \\\\",
  InvalidCharacter: "a control character stands in the text",
}

const cut = (text: string, from: number, length: number) => {
  const [line = ""] = text.slice(from, from + length).split("\n", 1)
  return line.length > SHOWN ? `${line.slice(0, SHOWN - 1)}…` : line.trimEnd()
}

const broken = (text: string, offset: number, length: number, message: string): Fault => ({
  ...place(text, offset),
  code: PassOverErrorCode.CONFIG_INVALID,
  text: cut(text, offset, length),
  message,
})

// The parser calls itself for each level, so a file of nothing but brackets would end it.
function deeperThan(text: string, depth: number): number | undefined {
  const scanner = createScanner(text, true)
  let level = 0
  while (scanner.getPosition() < text.length) {
    scanner.scan()
    const token = text[scanner.getTokenOffset()]
    if (token === "{" || token === "[") level += 1
    if (token === "}" || token === "]") level -= 1
    if (level > depth) return scanner.getTokenOffset()
  }
  return undefined
}

/** Of a setting that is written twice only the last would hold, which nobody can have meant. */
function twice(text: string, node: Node, path: string[] = []): Fault[] {
  if (node.type !== "object") return (node.children ?? []).flatMap((child) => twice(text, child, path))
  const seen = new Map<string, number>()
  return (node.children ?? []).flatMap((property) => {
    const [name, value] = property.children ?? []
    const key = String(name?.value)
    const here = [...path, key]
    const before = seen.get(key)
    seen.set(key, property.offset)
    const inside = value ? twice(text, value, here) : []
    // Assigning to it would set the prototype and not a key, so that the schema never saw it.
    if (key === "__proto__") {
      return [broken(text, property.offset, property.length, `${here.join(".")}: unknown setting "${key}"`)]
    }
    if (before === undefined) return inside
    const { line } = place(text, before)
    const message = `${here.join(".")}: written twice, the first time on line ${line}; keep one of them`
    return [broken(text, property.offset, property.length, message), ...inside]
  })
}

const none = (message: string): ConfigFile => ({ ok: false, faults: [broken("", 0, 0, message)] })

/** A preferences file as text: JSON, comments and trailing commas allowed, and nothing that we do not know. */
export function parseConfig(written: string): ConfigFile {
  const text = withoutBom(written)
  if (text.length > MAX_CHARACTERS) return none("the file is larger than 1 MB; this is no preferences file")
  const deep = deeperThan(text, MAX_DEPTH)
  if (deep !== undefined) return { ok: false, faults: [broken(text, deep, 1, "this is nested too deep")] }
  if (text.trim() === "") return none(EMPTY)
  const errors: ParseError[] = []
  const tree = parseTree(text, errors, { allowTrailingComma: true })
  if (errors.length > 0 || !tree) {
    const faults = errors.map(({ offset, length, error }) =>
      broken(
        text,
        offset,
        length,
        `not valid JSON: ${WORDS[printParseErrorCode(error)] ?? printParseErrorCode(error)}`,
      ),
    )
    return faults.length > 0 ? { ok: false, faults } : none(EMPTY)
  }
  const doubled = twice(text, tree)
  const parsed = parse(getNodeValue(tree))
  if (parsed.ok && doubled.length === 0) return parsed
  const faults = (parsed.ok ? [] : parsed.problems).map((problem): Fault => {
    const node = nodeAt(tree, problem.path)
    return {
      ...place(text, node.offset),
      code: problem.code,
      text: cut(text, node.offset, node.length),
      message: describeProblem(problem),
      ...(problem.suggestion ? { suggestion: problem.suggestion } : {}),
    }
  })
  const all = uniqueBy([...doubled, ...faults], ({ line, column, message }) => `${line}:${column} ${message}`)
  return { ok: false, faults: all.toSorted((a, b) => a.line - b.line || a.column - b.column) }
}

/** Where a value stands in its file: "12:5". Nothing where it is not in there. */
export function placeOf(written: string, path: readonly (string | number)[]): Place | undefined {
  const text = withoutBom(written)
  const tree = parseTree(text, [], { allowTrailingComma: true })
  const node = tree && findNodeAtLocation(tree, [...path])
  return node && place(text, node.parent?.type === "property" ? node.parent.offset : node.offset)
}
