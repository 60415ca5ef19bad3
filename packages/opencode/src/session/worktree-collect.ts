import { relative } from "node:path"
import type { FileChange } from "../pass-over/domain/change/change"
import { LINKED } from "../pass-over/service/change/take"
import type { Collected } from "../pass-over/service/port-workspace"
import type { Home } from "./worktree-home"
import type { Slot } from "./worktree-pool"
import { fingerprint, written } from "./worktree-seed"
import { photograph, rebegin } from "./shadow"
import { difference, type Comparing, type Difference, type Keep } from "./shadow-difference"

/** Paths as the project has them, where opencode was opened below the top of its repository. */
export function localised(found: Difference, top: string, directory: string): Difference {
  const below = relative(top, directory)
  if (below === "") return found
  const local = (path: string) => relative(below, path)
  const files = found.files.map((file): FileChange => {
    const [path, old_path] = [local(file.path), file.old_path === null ? null : local(file.old_path)]
    const outside = [path, old_path].some((one) => one === ".." || one?.startsWith("../"))
    return {
      ...file,
      path,
      old_path,
      refused: outside ? "it lies outside of the directory that was opened" : file.refused,
    }
  })
  return { ...found, files }
}

/** The same for everything that was found in a tree. */
export function collectedAt({ own, there, ...found }: Collected, top: string, directory: string): Collected {
  const files = (of: FileChange[]) => localised({ files: of, notes: [] }, top, directory).files
  const below = relative(top, directory)
  return {
    ...localised(found, top, directory),
    ...(own ? { own: own.map((path) => relative(below, path)) } : {}),
    ...(there ? { there: files(there) } : {}),
  }
}

// What opencode puts there by itself; and the folder, where that is a link which we have led to the same place.
const INSTALLED = ["package.json", "package-lock.json", "bun.lock", ".gitignore", "node_modules", ".opencode"]
const OPENCODE = "opencode's own files in .opencode were changed; that is never part of a change"

const comparing = (slot: Slot, to: string, keep: Keep): Comparing => ({
  from: slot.base,
  to,
  keep,
  reason: "changed in its own tree",
  skip: (path) => {
    const parts = path.split("/")
    if (parts.includes(".opencode")) return INSTALLED.includes(parts.at(-1) ?? "") ? "" : OPENCODE
    return slot.linked.includes(path) ? "" : undefined
  },
})

const listed = (paths: readonly string[], most: number) =>
  `${paths.slice(0, most).join(", ")}${paths.length > most ? " and more" : ""}`

/** What is to be told of a tree besides what is different in it. */
function notesOf(home: Home, slot: Slot, found: readonly string[]): string[] {
  const notes = [...slot.notes, ...found]
  const through = slot.stamps ? written(slot.stamps, fingerprint(home.top, slot.linked)) : []
  if (slot.linked.length > 0) notes.push(`${LINKED}: ${slot.linked.join(", ")}`)
  if (through.length === 0) return notes
  const names = through.map((path) => relative(home.top, path))
  return [...notes, `written through a link into the project itself: ${listed(names, 5)}`]
}

/** A tree as its child has left it. */
async function seen({ shadow }: Home, { root, index, base, left }: Slot): Promise<string> {
  const again = () => rebegin(shadow, root, index, base)
  if (left) await again()
  const take = () => photograph(shadow, root, index)
  return take().catch(async () => {
    await again()
    return take()
  })
}

/**
 * What a child has changed in its tree. Where it stands on the work of others the proposal is the whole of it, and there
 * is one only where the child has changed something of its own.
 */
export async function collect(home: Home, slot: Slot | undefined, keep: Keep): Promise<Collected> {
  if (!slot) return { files: [], notes: ["its tree is gone"] }
  const compare = comparing(slot, await seen(home, slot), keep)
  const whole = await difference(home.shadow, compare)
  const { onto } = slot
  const mine = onto === undefined ? whole : await difference(home.shadow, { ...compare, from: onto })
  const notes = notesOf(home, slot, mine.notes)
  const paths = mine.files.map(({ path }) => path)
  const discarded = paths.length > 0 && !slot.can_modify_files
  if (discarded) notes.push(`it may not change files; discarded: ${listed(paths, 10)}`)
  const taken = discarded ? [] : mine.files
  const own = taken.flatMap(({ path, old_path }) => (old_path === null ? [path] : [path, old_path]))
  const files = taken.length > 0 ? whole.files : []
  return { files, notes, ...(onto === undefined ? {} : { own, there: whole.files }) }
}
