import type { PluginInput } from "@opencode-ai/plugin"

/** A project as the user has it open. */
export type Home = Pick<PluginInput, "directory" | "worktree">

const trees = new Map<string, Home>()
const told = new Set<(directory: string, home: Home) => void>()

/** The project that a directory stands for, where it is, or was, a tree of ours. */
export const homeOf = (directory: string): Home | undefined => trees.get(directory)

/** A directory becomes a tree of a project. */
export function enterTree(directory: string, home: Home) {
  const known = trees.get(directory)
  if (known?.directory === home.directory && known.worktree === home.worktree) return
  trees.set(directory, home)
  for (const tell of told) tell(directory, home)
}

/** Hears of every tree from now on, so that both threads know of it. */
export const onTree = (tell: (directory: string, home: Home) => void) => void told.add(tell)
