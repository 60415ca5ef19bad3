import { readFileSync } from "node:fs"
import { userInfo } from "node:os"

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
