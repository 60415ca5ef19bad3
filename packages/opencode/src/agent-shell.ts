import { readFileSync } from "node:fs"
import { SHELLS } from "./pass-over/domain/tool"
import { databasePath } from "./paths"

// Its value is the database, so that whoever works on another one, as tests do, is not held up.
const MARK = "PASS_OVER_SHELL"

type Call = { tool: string; sessionID: string; callID: string }
type Shell = { sessionID?: string | undefined; callID?: string | undefined }

/** More calls than this are not at work at once; what was denied never gets its shell. */
const MOST = 1_000

/**
 * Marks the shells that agents are given. What a person types, in a terminal or after `!`, is no tool call, so it has
 * no mark.
 */
export function createAgentShells() {
  const calls = new Set<string>()
  return {
    begins({ tool, sessionID, callID }: Call) {
      if (!SHELLS.includes(tool)) return
      // The oldest goes: those that are at work just now keep their marks.
      const [oldest] = calls
      if (calls.size >= MOST && oldest !== undefined) calls.delete(oldest)
      calls.add(`${sessionID} ${callID}`)
    },
    mark({ sessionID, callID }: Shell, env: Record<string, string>) {
      if (calls.delete(`${sessionID} ${callID}`)) env[MARK] = databasePath()
    },
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // Gone in the meantime, another user's, or a system that does not tell.
    return undefined
  }
}

/** Whether a process, or one that it came from, was started with the mark: taking it off again is no way out. */
function descends(pid: string | undefined, mark: string): boolean {
  if (pid === undefined || pid === "0") return false
  if (read(`/proc/${pid}/environ`)?.split("\0").includes(mark)) return true
  const parent = read(`/proc/${pid}/stat`)?.split(") ").at(-1)?.split(" ")[1]
  return descends(parent, mark)
}

/** Whether this process was started by an agent: it is then no person who decides. */
export const byAgent = (env: Readonly<Record<string, string | undefined>> = process.env): boolean =>
  env[MARK] === databasePath() || descends(String(process.pid), `${MARK}=${databasePath()}`)
