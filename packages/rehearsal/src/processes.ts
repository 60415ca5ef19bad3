import { readdirSync, readFileSync } from "node:fs"
import { MARKER } from "./environment"

export type Process = { pid: number; parent: number; command: string }

/** Every living process that was started from the sandbox at `root`, however it was detached from its parent. */
export function processesOf(root: string): Process[] {
  const mark = `${MARKER}=${root}`
  const all = process.platform === "linux" ? fromProc(mark) : fromPs(mark)
  return all.filter((item) => item.pid !== process.pid)
}

function fromProc(mark: string): Process[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    try {
      // Zombies have an empty environment, so they do not count as alive.
      if (!readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").includes(mark)) return []
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim()
      const parent = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]
      return [{ pid: Number(pid), parent: Number(parent), command }]
    } catch {
      // Gone in the meantime, or another user's.
      return []
    }
  })
}

// Elsewhere `ps` shows the environment behind the command line.
function fromPs(mark: string): Process[] {
  const listing = Bun.spawnSync(["ps", "-axEww", "-o", "pid=,ppid=,command="]).stdout.toString()
  return listing.split("\n").flatMap((line) => {
    if (!line.includes(mark)) return []
    const [, pid, parent, command] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    if (pid === undefined || parent === undefined) return []
    return [{ pid: Number(pid), parent: Number(parent), command: (command ?? "").split(` ${MARKER}=`)[0] ?? "" }]
  })
}

/** False when there is no such process; signal 0 only asks. */
export function signal(pid: number, name: NodeJS.Signals | 0) {
  try {
    process.kill(pid, name)
    return true
  } catch {
    return false
  }
}
