import type { PluginInput } from "@opencode-ai/plugin"
import { createObserved, type Observed } from "./observed"

// The trees that this process has made, each with what its instance of opencode was heard saying. The instance of a
// tree loads this plugin once more, and both have to hear with the same ear.
const heard = new Map<string, Observed>()
const trees = new Map<string, Home>()

/** A project as the user has it open. */
export type Home = Pick<PluginInput, "directory" | "worktree">

/** The project that a directory stands for, where it is, or was, a tree of ours. */
export const homeOf = (directory: string): Home | undefined => trees.get(directory)

/** The ear of a directory, where it is a tree of ours. */
export const observedIn = (directory: string): Observed | undefined => heard.get(directory)

/** A directory becomes a tree of a project; what is heard there goes to the ear that comes back. */
export function enterTree(directory: string, home: Home): Observed {
  const observed = heard.get(directory) ?? createObserved()
  heard.set(directory, observed)
  trees.set(directory, home)
  return observed
}

/** Whether anybody listened there until now. */
export const leaveTree = (directory: string): boolean => heard.delete(directory)
