import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { place, processStart, running } from "./identity"
import { dataFolder, SURFACE, surfacePath } from "./paths"

/** Which process it is: a pid alone comes round again, and soon where a container is started anew. */
const markOf = (pid: number | "self") => [processStart(pid) ?? "", place()].join("\n")

const read = (path: string) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}

/** Whether the terminal of this very process puts our questions itself. */
export const surfaceHere = (): boolean => read(surfacePath(process.pid)) === markOf("self")

/** Says to the plugin in this process that questions are put here, so that it need not use the host's own dialog. */
export function announceSurface(): () => void {
  const path = surfacePath(process.pid)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, markOf("self"), { mode: 0o600 })
  } catch {
    // Without it the question is put twice, and the first answer counts.
  }
  return () => rmSync(path, { force: true })
}

const pidIn = (name: string) =>
  name.startsWith(SURFACE) && /^\d+$/.test(name.slice(SURFACE.length)) ? Number(name.slice(SURFACE.length)) : undefined

const here = (mark: string) => mark.split("\n").slice(1).join("\n") === place()

/** Whether a process of this machine left its word behind; of one elsewhere that cannot be told from here. */
function stale(path: string, pid: number): boolean {
  const mark = read(path)
  if (mark === undefined) return false
  if (!running(pid)) return mark === "" || here(mark)
  // One without a word is just being written, or was by an earlier version.
  return mark !== "" && here(mark) && mark !== markOf(pid)
}

/** Takes the words of terminals away that were killed. */
export function sweepSurfaces() {
  try {
    for (const name of readdirSync(dataFolder())) {
      const pid = pidIn(name)
      const path = join(dataFolder(), name)
      if (pid !== undefined && stale(path, pid)) rmSync(path, { force: true })
    }
  } catch {
    // There is no such folder yet, or it cannot be read: what lies there is told by its mark all the same.
  }
}
