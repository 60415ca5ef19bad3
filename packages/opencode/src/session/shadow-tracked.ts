import { accessSync, constants, lstatSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { git, type GitPlace } from "./git"
import { gitdirOf, nestedIn } from "./shadow-add"
import type { More } from "./shadow"

/** When a repository's index was written last: only then can what it tracks have changed. */
async function stampOf(repository: string): Promise<string | undefined> {
  try {
    const admin = (await gitdirOf(repository)) ?? join(repository, ".git")
    const { mtimeNs, size, ino } = statSync(join(admin, "index"), { bigint: true })
    return `${mtimeNs} ${size} ${ino}`
  } catch {
    return undefined
  }
}

const lists = new Map<string, { stamp: string; paths: string[] }>()

/** What a repository tracks although its ignore files name it: that is never ignored. */
export async function trackedIn(repository: string): Promise<string[]> {
  const stamp = await stampOf(repository)
  const seen = lists.get(repository)
  if (seen && seen.stamp === stamp) return seen.paths
  const asked = ["ls-files", "--cached", "--ignored", "--exclude-standard", "-z"]
  const out = await git({ cwd: repository }, asked).catch(() => "")
  const paths = [...new Set(out.split("\0").filter(Boolean))]
  if (stamp !== undefined) lists.set(repository, { stamp, paths })
  return paths
}

/** Whether there is a file, in folders that are none but its own. */
function isThere(top: string, path: string, plain: Map<string, boolean>): boolean {
  const isPlain = (folder: string): boolean => {
    if (folder === ".") return true
    const seen = plain.get(folder)
    if (seen !== undefined) return seen
    const found = isPlain(dirname(folder)) && lstatSync(join(top, folder), { throwIfNoEntry: false })?.isDirectory()
    plain.set(folder, found === true)
    return found === true
  }
  try {
    if (!isPlain(dirname(path))) return false
    const found = lstatSync(join(top, path))
    if (found.isFile()) accessSync(join(top, path), constants.R_OK)
    return found.isFile() || found.isSymbolicLink()
  } catch {
    return false
  }
}

// What an index has of such files.
const forced = new Map<string, ReadonlySet<string>>()

const write = (place: GitPlace, how: readonly string[], paths: readonly string[]) =>
  git(place, ["update-index", ...how, "-z", "--stdin"], { stdin: paths.map((path) => `${path}\0`).join("") })

/** Brings into the photograph of a project what its repositories track although it is ignored. */
export const withTracked =
  (top: string, isGit: boolean, never: (path: string) => boolean): More =>
  async (place, again) => {
    const repositories = [...(isGit ? [""] : []), ...nestedIn(place.index)]
    const all = await Promise.all(
      repositories.map(async (below) =>
        (await trackedIn(join(top, below))).map((path) => (below === "" ? path : `${below}/${path}`)),
      ),
    )
    const paths = all.flat().filter((path) => !never(path))
    const now = new Set(paths)
    const gone = [...(forced.get(place.index) ?? [])].filter((path) => !now.has(path))
    forced.set(place.index, now)
    if (gone.length > 0) {
      await write(place, ["--force-remove"], gone)
      // It may be ignored no longer: then it is a file as any other.
      await again()
    }
    const plain = new Map<string, boolean>()
    const there = paths.filter((path) => isThere(top, path, plain))
    if (there.length > 0) await write(place, ["--add", "--remove"], there)
  }

/** Nothing is known any more of an index that begins anew. */
export const forgetTracked = (index: string) => void forced.delete(index)
