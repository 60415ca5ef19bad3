import { existsSync } from "node:fs"
import { join } from "node:path"
import { git } from "./git"
import { entries } from "./shadow-difference"
import type { Shadow } from "./shadow"

// The objects that are known to be ours, by shadow.
const owned = new Map<string, Set<string>>()
const MOST = 200_000

function knownOf(git_dir: string): Set<string> {
  const known = owned.get(git_dir)
  if (known && known.size < MOST) return known
  const fresh = new Set<string>()
  owned.set(git_dir, fresh)
  return fresh
}

/**
 * Copies what a photograph borrows of the user's repository and its commit does not hold, as a file that was only
 * staged: their `git gc` may throw that away while a child works. What the commit holds is kept by the tree's own HEAD.
 */
export async function keepBorrowed(shadow: Shadow, commit: string, tree: string): Promise<void> {
  // A repository with hashes of another kind has nothing that could be borrowed.
  if (commit.length !== tree.length) return
  const { git_dir } = shadow
  const place = { git_dir, cwd: git_dir }
  const raw = await git(place, ["diff-tree", "-r", "-t", "-z", "--raw", "--no-abbrev", "--no-renames", commit, tree])
  if (raw === "") return
  const known = knownOf(git_dir)
  const named = entries(raw).flatMap(({ modes: [, mode], objects: [, object] }) =>
    mode === "160000" || /^0+$/.test(object) ? [] : object,
  )
  const borrowed = [tree, ...named].filter((object) => {
    if (known.has(object)) return false
    if (!existsSync(join(git_dir, "objects", object.slice(0, 2), object.slice(2)))) return true
    known.add(object)
    return false
  })
  if (borrowed.length === 0) return
  const stdin = [...new Set(borrowed)].map((object) => `${object}\n`).join("")
  await git(place, ["pack-objects", "-q", join(git_dir, "objects/pack/pack")], { stdin })
  for (const object of borrowed) known.add(object)
}
