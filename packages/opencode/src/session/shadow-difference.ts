import { rm } from "node:fs/promises"
import type { FileChange, FileMode, FileState } from "../pass-over/domain/change/change"
import { refusePath } from "../pass-over/domain/change/path"
import { isBinary } from "../pass-over/domain/change/text"
import { git, GitError, spawnGit, type GitPlace } from "./git"
import type { Shadow } from "./shadow"

type Entry = {
  modes: [string, string]
  objects: [string, string]
  status: string
  path: string
  old_path: string | null
}

export function entries(raw: string): Entry[] {
  const pieces = raw.split("\0")
  const found: Entry[] = []
  for (let at = 0; at < pieces.length - 1;) {
    const [before = "", after = "", a = "", b = "", status = ""] = (pieces[at] ?? "").slice(1).split(" ")
    const moved = status.startsWith("R") || status.startsWith("C")
    const [first = "", second = ""] = [pieces[at + 1], pieces[at + 2]]
    found.push({
      modes: [before, after],
      objects: [a, b],
      status,
      path: moved ? second : first,
      old_path: status.startsWith("R") ? first : null,
    })
    at += moved ? 3 : 2
  }
  return found
}

/** "<object> blob <size>". Whatever else git says is no content: an object that is missing must not read as an empty file. */
function sizeIn(line: string, object: string): number {
  const [named, type, size = ""] = line.split(" ")
  if (named === object && type === "blob" && /^\d+$/.test(size)) return Number(size)
  throw new GitError(`git cat-file says "${line}"`)
}

/** The contents of objects, in the order in which they were asked for. */
async function* contents(shadow: Shadow, objects: readonly string[]): AsyncGenerator<[string, Uint8Array]> {
  if (objects.length === 0) return
  const child = spawnGit({ git_dir: shadow.git_dir, cwd: shadow.git_dir }, ["cat-file", "--batch"], {
    stdin: `${objects.join("\n")}\n`,
  })
  const reader = child.stdout.getReader()
  let held = new Uint8Array()
  const more = async () => {
    const { value, done } = await reader.read()
    if (done) throw new Error("git cat-file broke off")
    held = held.length === 0 ? value : Buffer.concat([held, value])
  }
  for (const object of objects) {
    while (!held.includes(10)) await more()
    const end = held.indexOf(10)
    const size = sizeIn(Buffer.from(held.subarray(0, end)).toString(), object)
    const parts: Uint8Array[] = [held.subarray(end + 1)]
    let bytes = held.length - end - 1
    // Gathered in a list: joining a large content again with every piece of it would take for ever.
    while (bytes < size + 1) {
      const { value, done } = await reader.read()
      if (done) throw new Error("git cat-file broke off")
      parts.push(value)
      bytes += value.length
    }
    const all = parts.length === 1 ? (parts[0] ?? held) : Buffer.concat(parts)
    yield [object, all.subarray(0, size)]
    held = Uint8Array.from(all.subarray(size + 1))
  }
  await child.exited
}

const MODES: readonly string[] = ["100644", "100755", "120000"]
const isMode = (mode: string): mode is FileMode => MODES.includes(mode)

export type Keep = (contents: readonly { hash: string; content: Uint8Array }[]) => Promise<void>

export type Difference = { files: FileChange[]; notes: string[] }

const BATCH_BYTES = 8 * 1024 * 1024

/** Keeps what is needed of both sides, and tells the state that each object is. */
async function states(shadow: Shadow, all: readonly Entry[], keep: Keep) {
  const known = new Map<string, { hash: string; bytes: number; binary: boolean }>()
  const wanted = new Set(
    all.flatMap(({ modes, objects }) =>
      objects.filter((object, side) => isMode(modes[side] ?? "") && !/^0+$/.test(object)),
    ),
  )
  let batch: { hash: string; content: Uint8Array }[] = []
  let bytes = 0
  for await (const [object, content] of contents(shadow, [...wanted])) {
    const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex")
    known.set(object, { hash, bytes: content.length, binary: isBinary(content) })
    batch.push({ hash, content })
    bytes += content.length
    if (bytes < BATCH_BYTES) continue
    await keep(batch)
    batch = []
    bytes = 0
  }
  await keep(batch)
  return known
}

export type Comparing = {
  from: string
  to: string
  keep: Keep
  reason: string
  /** Paths that are no work of the child's, and what to say of them; an empty word is none. */
  skip: (path: string) => string | undefined
}

/** Where a photograph is put together that is of no tree as it is; `index` is that of the tree which begins with it. */
export const seedPath = (index: string) => `${index}.seed`

export type Asking = { from: string; to: string; index: string; paths: (path: string) => boolean }

/** A photograph in which some paths are as an earlier one has them. */
export async function asBefore(shadow: Shadow, { from, to, index, paths }: Asking): Promise<string> {
  const place: GitPlace = { git_dir: shadow.git_dir, cwd: shadow.git_dir, index: seedPath(index) }
  const raw = await git(place, ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", from, to])
  const all = entries(raw).filter(({ path }) => paths(path))
  if (all.length === 0) return to
  const lines = all.map(({ path, modes: [mode], objects: [object] }) => {
    const line = /^0+$/.test(object) ? `0 ${object}` : `${mode} ${object}`
    return `${line}\t${path}\0`
  })
  // Nobody else writes there: who holds its lock was killed.
  await rm(`${seedPath(index)}.lock`, { force: true })
  try {
    await git(place, ["read-tree", to])
    // What is to go goes first: it may lie where something of the earlier one does.
    const gone = lines.filter((line) => line.startsWith("0 "))
    const back = lines.filter((line) => !line.startsWith("0 "))
    await git(place, ["update-index", "-z", "--index-info"], { stdin: [...gone, ...back].join("") })
    return (await git(place, ["write-tree"])).trim()
  } finally {
    await rm(seedPath(index), { force: true })
  }
}

/** What is different between two photographs, with all contents kept. */
export async function difference(shadow: Shadow, { from, to, keep, reason, skip }: Comparing): Promise<Difference> {
  if (from === to) return { files: [], notes: [] }
  const raw = await git({ git_dir: shadow.git_dir, cwd: shadow.git_dir }, [
    "diff-tree",
    "-r",
    "-z",
    "-M",
    "--raw",
    "--no-abbrev",
    from,
    to,
  ])
  const notes = new Set<string>()
  const all = entries(raw).filter(({ path, old_path, modes }) => {
    const why = skip(path) ?? (old_path === null ? undefined : skip(old_path))
    if (why) notes.add(why)
    const whole = modes.every((mode) => /^0+$/.test(mode) || isMode(mode))
    if (!whole) notes.add(`${path} is a repository of its own and was left out`)
    return why === undefined && whole
  })
  const known = await states(shadow, all, keep)
  const state = (object: string, mode: string): FileState | null => {
    const found = known.get(object)
    return found && isMode(mode) ? { hash: found.hash, mode, bytes: found.bytes } : null
  }
  const files = all.map(({ path, old_path, modes, objects }): FileChange => {
    const [old, after] = [state(objects[0], modes[0]), state(objects[1], modes[1])]
    const link = old?.mode === "120000" || after?.mode === "120000"
    const bad = refusePath(path) ?? (old_path === null ? undefined : refusePath(old_path))
    return {
      path,
      old_path,
      old,
      new: after,
      binary: objects.some((object) => known.get(object)?.binary === true),
      reason,
      confidence: "high",
      refused: bad ?? (link ? "symbolic links are shown and never written" : null),
    }
  })
  return { files, notes: [...notes] }
}
