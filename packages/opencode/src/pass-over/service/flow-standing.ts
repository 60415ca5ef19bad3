import { below } from "../domain/change/path"
import { leftBy, type Layer } from "./change/stand-on"
import type { FlowWorld } from "./flow-pass"
import type { FlowFiles } from "./port-flow"

type Standing = { files: FlowFiles; print: string | undefined }

/**
 * The project's files with the work of earlier steps on top, as a pass finds them that stands on it; and what tells this
 * work from every other.
 */
export async function filesOn({ engine, project, files }: FlowWorld, layers: readonly Layer[]): Promise<Standing> {
  const left = await leftBy(engine.store, layers)
  if (left.size === 0) return { files, print: undefined }
  const print = engine.hash(JSON.stringify([...left].toSorted(([a], [b]) => (a < b ? -1 : 1))))
  const there = (path: string) => left.get(below(project.directory, path) ?? path)
  return {
    print,
    files: {
      ...files,
      exists(path) {
        const mine = there(path)
        return mine === undefined ? files.exists(path) : mine !== null
      },
      hash(path) {
        const mine = there(path)
        if (mine === undefined) return files.hash(path)
        // What the project has in its place has a part in what was read, where the two were merged.
        return mine === null ? undefined : `${mine.hash} on ${files.hash(path) ?? "nothing"}`
      },
    },
  }
}
