/** Why a path is not written to; nothing where it may be. */
export type NoPath = string | undefined

// Letters that are not seen, or that turn the reading direction round: what is shown would not be what is written.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff0-\ufffd]/u

const LONGEST_NAME = 255
const LONGEST_PATH = 4_000
const DEEPEST = 100

// Whoever writes these decides what git, opencode or we do next.
const GUARDED_FOLDERS = [".git", ".opencode"]
const GUARDED_FILES = [
  "opencode.json",
  "opencode.jsonc",
  "tui.json",
  "tui.jsonc",
  "pass-over.json",
  "pass-over.jsonc",
  ".gitmodules",
]

/** A name as the most careless file system compares it: without case, composition, and blanks or dots at its end. */
export const folded = (name: string) =>
  // Of plain letters there is nothing to fold but their case, and nearly all names are of these.
  (PLAIN.test(name) ? name.toLowerCase() : foldedLetters(name)).replace(/[. ]+$/, "")

const PLAIN = /^[\x20-\x7e]*$/

const foldedLetters = (name: string) =>
  name
    .normalize("NFKC")
    .toLowerCase()
    // Twice, because lower-casing can make what compatibility would have folded.
    .normalize("NFKC")
    .replaceAll("ß", "ss")
    .replaceAll("ſ", "s")
    .replaceAll("ı", "i")

/** "git~1" is how a Windows volume also calls ".git". */
const SHORT_NAME = /^(?:git|openco|opencode|tui|passov|gitmod)~\d+/

const guarded = (part: string) => {
  const name = folded(part)
  return GUARDED_FOLDERS.includes(name) || GUARDED_FILES.includes(name) || SHORT_NAME.test(name)
}

/** The name in a path that belongs to git, opencode or us: no change and no child writes there. */
export const guardedName = (path: string): string | undefined => path.split("/").find(guarded)

export const guardedPath = (path: string): boolean => guardedName(path) !== undefined

export const belongs = (path: string) => `"${guardedName(path)}" belongs to git, opencode or Pass Over`

function part(name: string): NoPath {
  if (name === "" || name === "." || name === "..") return "it is not a plain path below the project"
  // A letter has at most three bytes for each of its halves.
  if (name.length * 3 > LONGEST_NAME && new TextEncoder().encode(name).length > LONGEST_NAME)
    return "a name in it is too long"
  if (/[. ]$/.test(name)) return "a name in it ends with a dot or a blank"
  if (name.includes("\\")) return "it holds a backslash"
  if (name.includes(":")) return "it holds a colon"
  if (guarded(name)) return `${belongs(name)} and is never written by a change`
  return undefined
}

/** The rules for a path that a change may touch, from its letters alone: relative, plain, visible, and not guarded. */
export function refusePath(path: string): NoPath {
  if (path === "") return "it is empty"
  if (path.length > LONGEST_PATH) return "it is too long"
  if (!path.isWellFormed()) return "it is not valid text"
  if (UNSEEN.test(path)) return "it holds letters that cannot be seen"
  if (path.startsWith("/") || path.startsWith("~")) return "it does not lie below the project"
  const parts = path.split("/")
  if (parts.length > DEEPEST) return "it is too deep"
  return parts.map(part).find((why) => why !== undefined)
}

/** Paths of one change that a careless file system would take for the same. */
export function collisions(paths: readonly string[]): [string, string][] {
  const seen = new Map<string, string>()
  return paths.flatMap((path) => {
    const key = path.split("/").map(folded).join("/")
    const before = seen.get(key)
    if (before === undefined) seen.set(key, path)
    return before === undefined || before === path ? [] : [[before, path] as [string, string]]
  })
}

/** A path as a child names it, below the directory that it works in; nothing where it is elsewhere. */
export function below(directory: string, path: string): string | undefined {
  if (!path.startsWith("/")) return path.replace(/^(?:\.\/)+/, "")
  const root = directory.endsWith("/") ? directory : `${directory}/`
  return path.startsWith(root) ? path.slice(root.length) : undefined
}
