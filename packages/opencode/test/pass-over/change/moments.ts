/** The moments of a process at which the disk is about to change, as strace sees them, and a kill at any one of them. */
import { readFileSync } from "node:fs"

/** Every call by which SQLite or a tree changes anything on the disk, or brings it there. */
export const CALLS = [
  "pwrite64",
  "write",
  "fsync",
  "fdatasync",
  "ftruncate",
  "fchmod",
  "mkdir",
  "rename",
  "link",
  "unlink",
  "rmdir",
] as const

/** A call, the file that it is for where it has one open, and which of its kind it is. */
export type Moment = { call: string; path: string | undefined; when: number }

export const named = ({ call, path, when }: Moment) => `${call} ${when}${path === undefined ? "" : ` of ${path}`}`

// With --seccomp-bpf only calls that are asked for stop the process; a kill needs the stop at every call.
const WATCH = ["strace", "-f", "--seccomp-bpf", "-y"]
const KILL = ["strace", "-f"]

const LINE = /^\d+ +(\w+)\((?:\d+<([^>]*)>)?/

/** Runs a command to its end, and says at which moments after its mark, a signal 0 to itself, the disk was changed. */
export async function momentsOf(command: readonly string[], folder: string, log: string): Promise<Moment[]> {
  const watched = ["-o", log, "-e", `trace=kill,${CALLS.join(",")}`]
  const child = Bun.spawn([...WATCH, ...watched, ...command], { env: process.env, stdout: "ignore", stderr: "pipe" })
  if ((await child.exited) !== 0) throw new Error(await child.stderr.text())
  const seen = new Map<string, number>()
  const moments: Moment[] = []
  let begun = false
  for (const line of readFileSync(log, "utf8").split("\n")) {
    const [, call = "", path] = LINE.exec(line) ?? []
    if (call === "kill") begun = true
    if (call === "" || call === "kill") continue
    // Calls on open files are counted for each file: what the other threads of the process write goes elsewhere.
    const key = `${call} ${path ?? ""}`
    const when = (seen.get(key) ?? 0) + 1
    seen.set(key, when)
    if (begun && (path === undefined || path.startsWith(`${folder}/`))) moments.push({ call, path, when })
  }
  return moments
}

/** Kills a command at one moment, just before the call. False where it ended without having come there. */
export async function killedAt(command: readonly string[], { call, path, when }: Moment): Promise<boolean> {
  const only = path === undefined ? [] : ["-P", path]
  const inject = ["-o", "/dev/null", ...only, "-e", `trace=${call}`, "-e", `inject=${call}:signal=SIGKILL:when=${when}`]
  const child = Bun.spawn([...KILL, ...inject, ...command], { env: process.env, stdout: "ignore", stderr: "ignore" })
  const code = await child.exited
  return code === 137 || child.signalCode === "SIGKILL"
}
