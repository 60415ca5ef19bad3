import { readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { keep } from "../../../src/pass-over/service/change/blob"
import { createWorkspaces } from "../../../src/session/worktree"
import type { ChangeWorld } from "./change"
import { git } from "./nested"

export { git }

type Options = { directory?: string; owner?: `own_${string}`; gone?: string[] }

/** The trees of one project in one process. */
export const treesOf = (world: ChangeWorld, { directory = world.project, owner, gone = [] }: Options = {}) =>
  createWorkspaces({
    store: world.store,
    log: () => {},
    owner_id: owner ?? world.deps.owner_id,
    now: () => world.clock.now(),
    folder: world.folder.at("trees"),
    directory,
    version: "1.18.33",
    keep: (contents) => keep(world.deps, contents),
    gone: async (one) => gone.includes(one),
    boot: async () => {},
    busy: () => true,
    dispose: async () => {},
  })

/** Another process on the same project, after this one has died. */
export const heirOf = (world: ChangeWorld) =>
  treesOf(world, { owner: world.ids.make("own"), gone: [world.deps.owner_id] })

export function commit(directory: string, message = "one") {
  git(directory, "add", "-A")
  git(directory, "commit", "-qm", message)
}

export function repository(world: ChangeWorld, files: Record<string, string> = { "a.txt": "a\n" }) {
  git(world.project, "init", "-q", "-b", "main")
  for (const [path, content] of Object.entries(files)) world.put(path, content)
  commit(world.project)
}

/**
 * Keeps a content from being written down, as a full disk does: all else can be. Comes back with what makes room again.
 */
export function noRoomFor(trees: string, content: string) {
  const hash = new Bun.CryptoHasher("sha1").update(`blob ${content.length}\0${content}`).digest("hex")
  const [name = ""] = readdirSync(trees)
  const place = join(trees, name, "shadow.git/objects", hash.slice(0, 2))
  writeFileSync(place, "")
  return () => rmSync(place)
}
