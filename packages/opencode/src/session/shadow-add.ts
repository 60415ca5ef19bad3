import { access, constants, lstat, readFile, realpath } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { git, tryGit, type GitPlace } from "./git"

type Place = GitPlace & { index: string }

export type Adding = {
  /** The user's own repository, where there is one. */
  common: string | undefined
  /** Another worktree of the same repository is a project of its own: it is left out, or stays a mark that is told. */
  apart: "gone" | "told"
}

// Of a folder that an index knows git takes what is in it, repository or not. The name is one that is always ignored.
const STAND_IN = ".pass-over-here.tmp"
const NONE = "0".repeat(40)
const EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

const add = (place: Place) =>
  // One that ends with 1 has left something out, and has taken all else.
  tryGit(place, ["add", "--all", "--ignore-errors", "--", "."], { may: [0, 1] })

const lines = (out: string) => out.split("\0").filter(Boolean)

/** The repositories in a tree that git has not looked into: marks in the index, or nothing where they have no commit. */
async function closed(place: Place) {
  const [staged, others] = await Promise.all([
    git(place, ["ls-files", "--stage", "-z"]),
    git(place, ["ls-files", "--others", "--exclude-standard", "-z"]),
  ])
  const marks = lines(staged).flatMap((line) => (line.startsWith("160000 ") ? line.slice(line.indexOf("\t") + 1) : []))
  const unborn = lines(others).flatMap((path) => (path.endsWith("/") ? path.slice(0, -1) : []))
  return { marks, all: [...marks, ...unborn] }
}

/** Where the `.git` of a folder leads, if that is a file. */
export async function gitdirOf(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, ".git"), "utf8").catch(() => "")
  const [, named] = /^gitdir: (.+)$/m.exec(text) ?? []
  return named === undefined ? undefined : realpath(resolve(folder, named)).catch(() => undefined)
}

/** Whether a folder is another worktree of the user's own repository. */
async function isApart(folder: string, common: string | undefined): Promise<boolean> {
  const admin = common === undefined ? undefined : await gitdirOf(folder)
  return admin !== undefined && dirname(admin) === join(common ?? "", "worktrees")
}

const write = (place: Place, entries: readonly string[]) =>
  git(place, ["update-index", "-z", "--index-info"], { stdin: entries.map((entry) => `${entry}\0`).join("") })

const open = (place: Place, paths: readonly string[]) =>
  write(place, [
    ...paths.map((path) => `0 ${NONE}\t${path}`),
    ...paths.map((path) => `100644 ${EMPTY}\t${path}/${STAND_IN}`),
  ])

// The repositories that were looked into, by the index that knows them.
const known = new Map<string, Set<string>>()

/** The repositories in a tree that are photographed as the plain files that they are. */
export const nestedIn = (index: string): string[] => [...(known.get(index) ?? [])]

/** Takes all of a tree into its index; repositories that lie in it as the plain files that they hold. */
export async function addAll(place: Place, { common, apart }: Adding): Promise<void> {
  const opened = new Set<string>()
  for (;;) {
    const { code, problem } = await add(place)
    // It warns of every repository that it has not looked into.
    if (problem === "") return
    const { marks, all } = await closed(place)
    const others = new Set<string>()
    for (const path of all) if (await isApart(join(place.cwd, path), common)) others.add(path)
    const found = all.filter((path) => !others.has(path) && !opened.has(path))
    if (found.length === 0) {
      const left = marks.filter((path) => others.has(path))
      if (apart === "gone" && left.length > 0)
        await write(
          place,
          left.map((path) => `0 ${NONE}\t${path}`),
        )
      return code === 0 ? undefined : leaving(place)
    }
    for (const path of found) opened.add(path)
    known.set(place.index, new Set([...nestedIn(place.index), ...found]))
    await open(place, [...opened])
  }
}

/** As git writes a name that a line cannot hold as it is. */
const quoted = (path: string) =>
  /\p{Cc}|^"/u.test(path)
    ? `"${Array.from(Buffer.from(path), (byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}"`
    : path

async function isReadable(path: string): Promise<boolean> {
  try {
    if (!(await lstat(path)).isFile()) return false
    await access(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/**
 * A file that cannot be read is left out, and so is one whose name git has in no index; the others are there. But what
 * could not be written down for want of room is no such file: then there is no photograph.
 */
async function leaving(place: Place): Promise<void> {
  const [others, changed] = await Promise.all([
    git(place, ["ls-files", "--others", "--exclude-standard", "-z"]),
    git(place, ["diff-files", "--name-only", "-z"]),
  ])
  const readable: string[] = []
  for (const path of [...lines(others), ...lines(changed)])
    if (!path.endsWith("/") && (await isReadable(join(place.cwd, path)))) readable.push(path)
  if (readable.length === 0) return
  const stdin = readable.map((path) => `${quoted(path)}\n`).join("")
  await git(place, ["hash-object", "-w", "--no-filters", "--stdin-paths"], { stdin })
  // There is room by now, or somebody was writing it just then.
  await add(place)
}
