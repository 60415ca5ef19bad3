import { readFileSync, readlinkSync } from "node:fs"
import { hostname, userInfo } from "node:os"
import type { Alive } from "./pass-over/service/recover"
import type { KnownOwner } from "./pass-over/service/port"

/** The local user's name, for the audit. In a container there may be none. */
export function userName(env: Record<string, string | undefined> = process.env): string | null {
  const named = env.USER || env.LOGNAME || env.USERNAME
  if (named) return named
  return passwd(process.getuid?.()) ?? known()
}

// The runtime answers "unknown" where the environment does not name the user; the system knows better.
function passwd(uid: number | undefined): string | null {
  if (uid === undefined) return null
  try {
    const line = readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .find((entry) => entry.split(":")[2] === String(uid))
    return line?.split(":")[0] ?? null
  } catch {
    return null
  }
}

function known(): string | null {
  try {
    const { username } = userInfo()
    return username === "unknown" ? null : username
  } catch {
    return null
  }
}

// Options of all of opencode's commands that stand alone. Any other takes the word behind it, as its parser does before
// it knows the command: `opencode --continue run` is no run.
const ALONE = /^(?:--|--print-logs|--pure|--help|--version|-[hv]+|--no-.*|.*=.*)$/

/** `opencode run`, and `github run` in an action, answer every question of their own with no: nobody sits before them. */
export function headless(argv: readonly string[] = process.argv): boolean {
  const [first = "", ...rest] = argv.slice(1)
  // A program that was compiled has the path of its script there.
  const words = /[\\/]/.test(first) ? rest : [first, ...rest]
  const at = words.findIndex((word, place) => !word.startsWith("-") && !takesWord(words[place - 1]))
  return words[at] === "run" || (words[at] === "github" && words[at + 1] === "run")
}

const takesWord = (option: string | undefined) => option?.startsWith("-") === true && !ALONE.test(option)

/** When this process began, as the system knows it: a pid alone comes round again. */
export function processStart(pid: number | "self" = "self"): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The second field is the program's name in brackets and may hold anything, brackets and blanks too.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null
  } catch {
    return null
  }
}

const read = (what: () => string) => {
  try {
    return what().trim()
  } catch {
    return ""
  }
}

/** This boot of this machine and the namespace of its process ids: a pid means nothing outside of it. */
export const place = () =>
  [
    read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
    read(() => readlinkSync("/proc/self/ns/pid")),
  ].join(" ")

/** Whether a process of this machine is there, whoever's it is. */
export function running(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process answers with "not permitted", and is there all the same.
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

// Engines of this very process that have ended without it.
const over = new Set<string>()

/** From now on an engine is gone, though its process is there. */
export const bury = (owner_id: string) => void over.add(owner_id)

/** Whether another opencode is still there, as far as it can be seen from here. */
export const alive: Alive = (owner: KnownOwner) => {
  if (over.has(owner.owner_id)) return "dead"
  if (owner.host !== hostname()) return "unknown"
  const [boot] = place().split(" ")
  // The machine was started again since, so nothing of then is running.
  if (boot && owner.place.split(" ")[0] !== boot) return "dead"
  if (owner.place !== place()) return "unknown"
  if (!running(owner.pid)) return "dead"
  const start = processStart(owner.pid)
  return start === null || start === owner.process_start ? "alive" : "dead"
}
