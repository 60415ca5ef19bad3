import { createObserved, type Observed } from "./observed"

// What the instance of each directory was heard saying. The instance of a tree opens us once more, perhaps before
// anybody has made it a tree of ours: all have to hear with the same ear.
const heard = new Map<string, Observed>()

/** The one ear of a directory, whoever comes first: its instance of opencode, or who works there. */
export function earAt(directory: string): Observed {
  const observed = heard.get(directory) ?? createObserved()
  heard.set(directory, observed)
  return observed
}

/** Whether anybody listened there until now. */
export const leaveTree = (directory: string): boolean => heard.delete(directory)
