import { existsSync, readFileSync } from "node:fs"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parse, parseTree, printParseErrorCode, type ParseError } from "jsonc-parser"
import { name as PACKAGE } from "../../package.json"
import { PassOverErrorCode, refuse, type Refusal } from "../pass-over/domain/errors"
import { place } from "../pass-over/store/config-text"

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

/** The list of plugins in a configuration file of opencode, and our entry in it. */
export function listed(file: string, text: string): Listed {
  const errors: ParseError[] = []
  const tree = parseTree(text.trim() === "" ? "{}" : text, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first || tree?.type !== "object") {
    const at = place(text, first?.offset ?? 0)
    const what = first ? printParseErrorCode(first.error) : "an object is expected"
    return {
      ok: false,
      refusal: refuse(
        PassOverErrorCode.CONFIG_INVALID,
        `${file}:${at.line}:${at.column} is not valid JSON (${what}); opencode cannot read it either.`,
        { suggestion: "Correct that line, then try again." },
      ),
    }
  }
  const { plugin } = parse(text.trim() === "" ? "{}" : text, [], { allowTrailingComma: true }) as { plugin?: unknown }
  const list = Array.isArray(plugin) ? (plugin as unknown[]) : undefined
  const ours = list?.find((entry) => isOurs(entry, file))
  return { ok: true, list, ours: specOf(ours) }
}

/** Where our plugin is named among these files. */
export function namedIn(files: readonly string[]): { file: string; spec: string }[] {
  return files.flatMap((file) => {
    const found = listed(file, readFileSync(file, "utf8"))
    return found.ok && found.ours !== undefined ? [{ file, spec: found.ours }] : []
  })
}
