import { existsSync } from "node:fs"
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { git, tryGit, type GitPlace } from "./git"
import { addAll } from "./shadow-add"
import { regain } from "./worktree-access"

/**
 * A repository of ours beside the user's: it photographs trees and never writes into theirs. It borrows the objects
 * that theirs has already.
 */
export type Shadow = { git_dir: string; top: string; common: string | undefined }

// Every byte as it is: no line endings, no filters, no keywords, whatever the tree's own attributes say.
const ATTRIBUTES = "* -text -filter -ident -working-tree-encoding -eol\n"
// opencode's packages and our own books are no work of anybody's.
const NEVER = [".opencode/node_modules", ".opencode/pass-over-logs", ".opencode/runs", ".pass-over-*.tmp"]

// Without a repository nobody has said what to ignore.
const DEPENDENCIES = ["node_modules", ".venv", "venv", "bower_components"]

async function excludes(common: string | undefined): Promise<string> {
  const theirs = common ? await readFile(join(common, "info/exclude"), "utf8").catch(() => "") : ""
  return [theirs, ...(common ? [] : DEPENDENCIES), ...NEVER, ""].join("\n")
}

let made = 0
const besides = (path: string) => `${path}.${process.pid}-${(made += 1)}`

/** Another process may be reading it just now, and must not find half of it. */
async function write(path: string, text: string) {
  if ((await readFile(path, "utf8").catch(() => undefined)) === text) return
  const draft = besides(path)
  await writeFile(draft, text)
  await rename(draft, path)
}

const init = (folder: string, git_dir: string) =>
  git({ cwd: folder }, ["-c", "init.defaultObjectFormat=sha1", "init", "--quiet", "--bare", git_dir])

/** Another process may be making it just now: it is there whole, or not at all. */
async function makeShadow(folder: string, git_dir: string) {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = besides(git_dir)
  try {
    await init(folder, draft)
    await rename(draft, git_dir)
  } catch (error) {
    if (!existsSync(git_dir)) throw error
    // Where it was left half made, the rest of it is made.
    if (!existsSync(join(git_dir, "HEAD"))) await init(folder, git_dir)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Makes the shadow of a project, or finds it. `common` is the project's own repository, where it has one. */
export async function openShadow(folder: string, top: string, common: string | undefined): Promise<Shadow> {
  const git_dir = join(folder, "shadow.git")
  if (!existsSync(join(git_dir, "HEAD"))) await makeShadow(folder, git_dir)
  await mkdir(join(git_dir, "info"), { recursive: true })
  await Promise.all([
    write(join(git_dir, "info/attributes"), ATTRIBUTES),
    write(join(git_dir, "info/exclude"), await excludes(common)),
    ...(common ? [write(join(git_dir, "objects/info/alternates"), `${join(common, "objects")}\n`)] : []),
  ])
  return { git_dir, top, common }
}

const at = ({ git_dir }: Shadow, work_tree: string, index: string): GitPlace & { index: string } => ({
  git_dir,
  work_tree,
  index,
  cwd: work_tree,
})

const turns = new Map<string, Promise<unknown>>()

/** One after another: an index takes one writer, and a tree that passes below are made of is photographed for each. */
function inTurn<T>(index: string, work: () => Promise<T>): Promise<T> {
  // An index is of this process alone: who holds its lock now was killed.
  const alone = () => rm(`${index}.lock`, { force: true }).then(work)
  const before = turns.get(index)
  const mine = before ? before.then(alone, alone) : alone()
  turns.set(index, mine)
  const over = () => void (turns.get(index) === mine && turns.delete(index))
  mine.then(over, over)
  return mine
}

/** What else belongs into a photograph. */
export type More = (place: GitPlace & { index: string }, again: () => Promise<void>) => Promise<void>

/** A photograph of a tree: everything in it that git does not ignore, committed or not. */
export const photograph = (shadow: Shadow, work_tree: string, index: string, more?: More): Promise<string> =>
  inTurn(index, async () => {
    const place = at(shadow, work_tree, index)
    const all = () => addAll(place, { common: shadow.common, apart: work_tree === shadow.top ? "gone" : "told" })
    await all()
    await more?.(place, all)
    return (await git(place, ["write-tree"])).trim()
  })

/** Makes a folder be what a photograph shows. */
export const restore = (shadow: Shadow, work_tree: string, index: string, tree: string) =>
  inTurn(index, async () => {
    const args = ["read-tree", "--reset", "-u", tree]
    const place = at(shadow, work_tree, index)
    // It tells of a file that it could not replace, and goes on.
    const { problem } = await tryGit(place, args, { may: [0, 128] })
    if (problem === "") return
    await regain(work_tree)
    await git(place, args)
  })

/** Makes an index begin with a photograph again, whatever was left of it; the tree itself stays as it is. */
export const rebegin = (shadow: Shadow, work_tree: string, index: string, tree: string) =>
  inTurn(index, async () => {
    const begin = () => git(at(shadow, work_tree, index), ["read-tree", "--reset", tree])
    await begin().catch(async () => {
      await rm(index, { force: true })
      await begin()
    })
  })

/** Removes what no photograph knows, ignored files too. */
export const clean = (shadow: Shadow, work_tree: string, index: string) =>
  inTurn(index, () => git(at(shadow, work_tree, index), ["clean", "-ffdxq"]))

/** The folders of a tree that hold something which a photograph knows. */
export const folders = (shadow: Shadow, work_tree: string, index: string): Promise<string[]> =>
  inTurn(index, async () => {
    const place = at(shadow, work_tree, index)
    const tree = (await git(place, ["write-tree"])).trim()
    const out = await git(place, ["ls-tree", "-r", "-d", "-z", "--name-only", tree])
    return out.split("\0").filter(Boolean)
  })
