import { spawn, type Child, type Exit } from "./child"

export type RunOptions = {
  /** Goes in on standard input: arguments would be quoted once more by opencode. */
  prompt: string
  agent?: string
  /** "json" by default. */
  format?: "json" | "default"
  /** Added to `opencode run`. */
  args?: string[]
  env?: Record<string, string>
  directory?: string
  timeout_ms?: number
}

/** A line of `--format json`. */
export type RunEvent = { type: string; [key: string]: unknown }

export type RunResult = Exit & {
  stdout: string
  stderr: string
  events: RunEvent[]
  /** Killed because it took longer than `timeout_ms`. */
  timed_out: boolean
}

export type RunInput = RunOptions & {
  binary: string
  directory: string
  env: Record<string, string>
  onSpawn(child: Child): void
}

const TIMEOUT_MS = 60_000

export async function run(input: RunInput): Promise<RunResult> {
  const agent = input.agent === undefined ? [] : ["--agent", input.agent]
  const child = spawn({
    command: [input.binary, "run", "--format", input.format ?? "json", ...agent, ...(input.args ?? [])],
    cwd: input.directory,
    env: input.env,
    stdin: input.prompt,
  })
  input.onSpawn(child)
  const state = { timed_out: false }
  const giveUp = () => {
    state.timed_out = true
    void child.kill()
  }
  const timer = setTimeout(giveUp, input.timeout_ms ?? TIMEOUT_MS)
  const exit = await child.exited
  clearTimeout(timer)
  const stdout = child.stdout()
  return { ...exit, stdout, stderr: child.stderr(), events: stdout.split("\n").flatMap(eventOf), ...state }
}

function eventOf(line: string): RunEvent[] {
  if (!line.startsWith("{")) return []
  try {
    return [JSON.parse(line)]
  } catch {
    return []
  }
}
