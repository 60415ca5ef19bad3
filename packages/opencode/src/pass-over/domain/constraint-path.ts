/**
 * The way from where the host begins the names of files to the project: the top of its repository, and outside of one
 * the root of the disk. Empty where the project is that top itself.
 */
export type Within = string

// As plain letters these would match nothing, and what they are to shut would stay open.
const UNREAD = /[\s"'`{}!]|^[/~]|^[a-z]:|^\[[^\]/]*\]?$|^[^[]*\]/i
const MOST_STARS = 3

/** How paths are written, for whoever has written something else. */
export const PATHS =
  'write paths from the project\'s folder on, with commas between them, as in "paths: src, docs/*.md"; "?" stands for any one letter, also a blank'

const slashed = (path: string) => path.replaceAll("\\", "/")

/** Whether a path of a constraint can be held against the names of files. */
export const readable = (path: string): boolean =>
  !UNREAD.test(slashed(path)) && slashed(path).split("**").length - 1 <= MOST_STARS

/** Without "./", "/" at its end and the like; empty where it is the folder itself. */
function plain(path: string): string {
  const parts: string[] = []
  for (const part of slashed(path).split("/")) {
    if (part === "" || part === ".") continue
    const up = part === ".." && parts.length > 0 && parts.at(-1) !== ".."
    if (up) parts.pop()
    if (!up) parts.push(part)
  }
  return parts.join("/")
}

/** A double star also stands for no folder at all, which the host's star does not. */
function spread(path: string): string[] {
  const at = /(?<=^|\/)\*\*\//.exec(path)?.index
  if (at === undefined) return [path]
  const head = path.slice(0, at)
  return spread(path.slice(at + 3)).flatMap((tail) => [`${head}${tail}`, `${head}*/${tail}`])
}

/** Whatever it names, and all that lies below it. */
const under = (path: string): string[] => {
  if (path === "") return ["*"]
  return path.endsWith("*") ? [path] : [path, `${path}/*`]
}

const inside = (path: string, within: Within) => `${path}/`.startsWith(`${within}/`)

/**
 * What the host has to match for a path that was written from the project's folder on. A path may also be written from
 * the top of the repository on; to open something it counts so only where it lies in the project.
 */
export function patternsOf(path: string, within: Within, opens: boolean): string[] {
  const written = plain(path)
  const fromTop = within !== "" && written !== "" && (!opens || inside(written, within))
  return [plain(`${within}/${written}`), ...(fromTop ? [written] : [])].flatMap((each) => spread(each).flatMap(under))
}
