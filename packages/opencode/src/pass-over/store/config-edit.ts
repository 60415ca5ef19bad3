import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { dirname, join, basename } from "node:path"
import { randomBytes } from "node:crypto"
import { applyEdits, createScanner, modify, parseTree, findNodeAtLocation, type JSONPath } from "jsonc-parser"
import { PassOverErrorCode, refuse, type Refusal } from "../domain/errors"
import { faulty } from "./config-file"
import { parseConfig, withoutBom } from "./config-text"

/** One value to write, or to take away where it is undefined. */
export type ValueEdit = { path: (string | number)[]; value: unknown; insert?: boolean }

export type FileEdited = { ok: true; text: string; changed: boolean } | { ok: false; refusal: Refusal }

/** The way a file is written, so that what we add looks like the rest of it. */
function formatting(text: string) {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  "
  const eol = text.includes("\r\n") ? "\r\n" : "\n"
  return { insertSpaces: !indent.startsWith("\t"), tabSize: indent.startsWith("\t") ? 1 : indent.length, eol }
}

/** Where the next comma is that only blanks and comments stand before. */
function commaAfter(text: string, from: number): number | undefined {
  const scanner = createScanner(text, true)
  scanner.setPosition(from)
  scanner.scan()
  const at = scanner.getTokenOffset()
  return text[at] === "," ? at : undefined
}

const blank = (text: string) => text.trim() === ""

/** Takes some characters away, and with them the line when nothing else is left on it. */
function cut(text: string, from: number, to: number): string {
  const begin = text.lastIndexOf("\n", from - 1) + 1
  const end = text.indexOf("\n", to)
  const after = end < 0 ? text.length : end
  const whole = begin > 0 && end >= 0 && blank(text.slice(begin, from)) && blank(text.slice(to, after))
  return whole ? text.slice(0, begin) + text.slice(after + 1) : text.slice(0, from) + text.slice(to)
}

/**
 * Takes a setting away with one comma beside it. The parser's own way takes the comments around it too, and leaves a
 * lone comma where the file has trailing ones.
 */
function without(text: string, path: JSONPath): string {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  const property = tree && findNodeAtLocation(tree, path)?.parent
  if (property?.type !== "property") return text
  const [from, to] = [property.offset, property.offset + property.length]
  const next = commaAfter(text, to)
  if (next !== undefined) return cut(text.slice(0, next) + text.slice(next + 1), from, to)
  const siblings = property.parent?.children ?? []
  const before = siblings[siblings.indexOf(property) - 1]
  const comma = before && commaAfter(text, before.offset + before.length)
  const rest = cut(text, from, to)
  return comma === undefined ? rest : rest.slice(0, comma) + rest.slice(comma + 1)
}

const emptyObject = (text: string, path: JSONPath) => {
  const tree = parseTree(text, [], { allowTrailingComma: true })
  const node = tree && findNodeAtLocation(tree, path)
  return node?.type === "object" && blank(text.slice(node.offset + 1, node.offset + node.length - 1))
}

function applied(text: string, { path, value, insert }: ValueEdit): string {
  if (value !== undefined) {
    const options = { formattingOptions: formatting(text), isArrayInsertion: insert === true }
    return applyEdits(text, modify(text, path, value, options))
  }
  const next = without(text, path)
  // A group without settings says nothing and only looks as if it did.
  const group = path.slice(0, -1)
  return group.length > 1 && emptyObject(next, group) ? without(next, group) : next
}

/** The text after some edits; comments, order and formatting of all the rest stay. */
export function editText(text: string, edits: readonly ValueEdit[]): string {
  const bom = text.startsWith("\uFEFF") ? "\uFEFF" : ""
  const body = withoutBom(text)
  const start = body.trim() === "" ? "{}\n" : body
  return bom + edits.reduce(applied, start)
}

const read = (path: string): string | undefined => {
  try {
    // A pipe or a device in its place would never end.
    if (!statSync(path).isFile()) throw new Error("it is not a file")
    return readFileSync(path, "utf8")
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined
    throw error
  }
}

/** The file that a link leads to: replacing the link itself would part it from where the user keeps it. */
const real = (path: string) => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

const stale = (path: string) =>
  refuse(PassOverErrorCode.STALE_REVISION, `${path} was changed by somebody else just now.`)

/**
 * Puts a whole file in the place of another, or writes none of it: readers see the old one or the new one. Where the
 * file is not what it was when the change was made, nothing is written.
 */
export function replaceFile(path: string, text: string, expected: string | undefined): Refusal | undefined {
  const target = real(path)
  const folder = dirname(target)
  mkdirSync(folder, { recursive: true })
  const temporary = join(folder, `.${basename(target)}.${randomBytes(6).toString("hex")}`)
  const mode = expected === undefined ? 0o644 : statSync(target, { throwIfNoEntry: false })?.mode
  const file = openSync(temporary, "wx", mode === undefined ? 0o644 : mode & 0o777)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
    closeSync(file)
    if (read(target) !== expected) {
      rmSync(temporary)
      return stale(path)
    }
    renameSync(temporary, target)
    return undefined
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

const unwritable = (path: string, error: unknown): FileEdited => ({
  ok: false,
  refusal: refuse(
    PassOverErrorCode.CONFIG_INVALID,
    `${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    { suggestion: "Make the file and its folder writable, or edit it by hand." },
  ),
})

/** Edits a JSONC file of any kind. `check` says what is wrong with the text before or after; then nothing is written. */
export function editFile(
  path: string,
  edits: readonly ValueEdit[],
  check: (text: string) => Refusal | undefined,
): FileEdited {
  try {
    const before = read(path)
    const wrong = before === undefined || before.trim() === "" ? undefined : check(before)
    if (wrong) return { ok: false, refusal: wrong }
    const text = editText(before ?? "", edits)
    if (text === before) return { ok: true, text, changed: false }
    const refusal = check(text) ?? replaceFile(path, text, before)
    return refusal ? { ok: false, refusal } : { ok: true, text, changed: true }
  } catch (error) {
    return unwritable(path, error)
  }
}

/** Sets or takes away settings of a preferences file. What would not be valid afterwards is not written. */
export const editConfig = (path: string, edits: readonly ValueEdit[]): FileEdited =>
  editFile(path, edits, (text) => {
    const file = parseConfig(text)
    if (file.ok) return undefined
    const { code, message } = faulty(path, file.faults)
    const suggestion = file.faults[0]?.suggestion
    return refuse(code, message, { ...(suggestion ? { suggestion } : {}), detail: { path, faults: file.faults } })
  })
