import { existsSync, readFileSync } from "node:fs"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { findNodeAtLocation, parse, parseTree, printParseErrorCode, type ParseError } from "jsonc-parser"
import { name as PACKAGE } from "../../package.json"
import { PassOverErrorCode, refuse, type Refusal } from "../pass-over/domain/errors"
import { place, withoutBom } from "../pass-over/store/config-text"
import { readText } from "./read-text"

export type Half = "server" | "tui"

/** The folder of our package, from the sources as well as from the bundle. */
export const packageRoot = (from = dirname(fileURLToPath(import.meta.url))): string => {
  if (existsSync(join(from, "package.json"))) return from
  const above = dirname(from)
  return above === from ? from : packageRoot(above)
}

/** What stands in opencode's list: our name where npm installed us, else the folder that we run from. */
export const ownSpec = (root = packageRoot()) => (/[\\/]node_modules[\\/]/.test(root) ? PACKAGE : root)

/** Which halves this package brings. */
export function halves(root = packageRoot()): Half[] {
  const { exports = {} } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    exports?: Record<string, unknown>
  }
  return (["server", "tui"] as const).filter((half) => `./${half}` in exports)
}

const specOf = (entry: unknown): string | undefined => {
  const spec: unknown = Array.isArray(entry) ? entry[0] : entry
  return typeof spec === "string" ? spec : undefined
}

/** Whether a path leads to our package, or to a file in it, wherever that lies. */
function leadsHere(path: string): boolean {
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    try {
      const { name } = JSON.parse(readFileSync(join(at, "package.json"), "utf8")) as { name?: unknown }
      return name === PACKAGE
    } catch {
      continue
    }
  }
  return false
}

/** Whether an entry of a list of plugins is ours: by name, with a version or an alias, or by path. */
export function isOurs(entry: unknown, file: string): boolean {
  const spec = specOf(entry)
  if (spec === undefined) return false
  if (spec === PACKAGE || spec.startsWith(`${PACKAGE}@`)) return true
  const path = spec.startsWith("file://") ? fileURLToPath(spec) : spec
  if (isAbsolute(path)) return leadsHere(path)
  return spec.startsWith(".") && leadsHere(resolve(dirname(file), path))
}

export type Listed =
  | { ok: true; list: unknown[] | undefined; ours: string | undefined }
  | { ok: false; refusal: Refusal }

const no = (message: string, suggestion: string): Listed => ({
  ok: false,
  refusal: refuse(PassOverErrorCode.CONFIG_INVALID, message, { suggestion }),
})

/** The list of plugins in a configuration file of opencode, and our entry in it. */
export function listed(file: string, written: string): Listed {
  const errors: ParseError[] = []
  // opencode looks over the mark that some editors begin a file with.
  const text = withoutBom(written)
  const tree = parseTree(text.trim() === "" ? "{}" : text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first || tree?.type !== "object") {
    const at = place(text, first?.offset ?? 0)
    const what = first ? printParseErrorCode(first.error) : "an object is expected"
    return no(
      `${file}:${at.line}:${at.column} is not valid JSON (${what}); opencode cannot read it either.`,
      "Correct that line, then try again.",
    )
  }
  const { plugin } = parse(text.trim() === "" ? "{}" : text, [], { allowTrailingComma: true }) as { plugin?: unknown }
  if (plugin !== undefined && !Array.isArray(plugin)) {
    const node = findNodeAtLocation(tree, ["plugin"])
    const at = place(text, node?.offset ?? 0)
    return no(
      `${file}:${at.line}:${at.column} "plugin" is no list; opencode cannot read it either.`,
      'Write it as a list: "plugin": ["…"].',
    )
  }
  const list: unknown[] | undefined = plugin
  const ours = list?.find((entry) => isOurs(entry, file))
  return { ok: true, list, ours: specOf(ours) }
}

/** The same of the file itself, which may be something that cannot be read. */
export function listedIn(file: string): Listed {
  const found = readText(file)
  if (found.state === "unreadable")
    return no(`${file} cannot be read: ${found.problem}.`, "Put a file that can be read in its place.")
  return listed(file, found.state === "text" ? found.text : "")
}

/** Where our plugin is named among these files. */
export function namedIn(files: readonly string[]): { file: string; spec: string }[] {
  return files.flatMap((file) => {
    const found = listedIn(file)
    return found.ok && found.ours !== undefined ? [{ file, spec: found.ours }] : []
  })
}
