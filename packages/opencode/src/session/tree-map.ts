import type { PluginInput } from "@opencode-ai/plugin"
import { createObserved, type Observed } from "./observed"

// What the instance of each directory was heard saying, and the trees that this process has made. The instance of a tree
// loads this plugin once more, perhaps before anybody has made it a tree of ours: all have to hear with the same ear.
const heard = new Map<string, Observed>()
const trees = new Map<string, Home>()

/** A project as the user has it open. */
export type Home = Pick<PluginInput, "directory" | "worktree">

/** The project that a directory stands for, where it is, or was, a tree of ours. */
export const homeOf = (directory: string): Home | undefined => trees.get(directory)

/** The one ear of a directory, whoever comes first: its instance of opencode, or who works there. */
export function earAt(directory: string): Observed {
  const observed = heard.get(directory) ?? createObserved()
  heard.set(directory, observed)
  return observed
}

/** A directory becomes a tree of a project. */
export const enterTree = (directory: string, home: Home) => void trees.set(directory, home)

/** Whether anybody listened there until now. */
export const leaveTree = (directory: string): boolean => heard.delete(directory)
