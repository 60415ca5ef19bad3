import { join } from "node:path"
import { signal } from "./processes"
import { screenWith } from "./screen"

export type TuiOptions = {
  cols?: number
  rows?: number
  /** Added to `opencode`. */
  args?: string[]
  env?: Record<string, string>
  directory?: string
}

export type Tui = AsyncDisposable & {
  readonly pid: number
  /** Presses keys by their tmux names: "Enter", "Escape", "C-x", "Down". */
  send(...keys: string[]): Promise<void>
  /** Types text as it is. */
  type(text: string): Promise<void>
  /** What is on the screen. */
  capture(): Promise<string>
  /** The screen, as soon as it shows the text and is painted. */
  waitFor(text: string | RegExp, timeout_ms?: number): Promise<string>
  stop(): Promise<void>
}

export type TuiInput = TuiOptions & {
  binary: string
  directory: string
  env: Record<string, string>
  /** Where the socket of the own tmux server goes. */
  root: string
}

const WAIT_MS = 20_000
const GRACE_MS = 3_000

const counter = { next: 1 }

/** opencode's terminal interface in a tmux of its own, which touches no other tmux of the user. */
export async function startTui(input: TuiInput): Promise<Tui> {
  if (!Bun.which("tmux"))
    throw new Error("box.tui() needs tmux: install it with `apt install tmux` or `brew install tmux`.")
  const socket = join(input.root, `tmux-${counter.next++}`)
  const tmux = (...args: string[]) => command(["tmux", "-S", socket, "-f", "/dev/null", ...args], input.env)
  const size = ["-x", String(input.cols ?? 120), "-y", String(input.rows ?? 40)]
  const program = [input.binary, ...(input.args ?? [])]
  // Nothing but -P prints here: it tells the pid of the program itself.
  const print = ["-P", "-F", "#{pane_pid}"]
  const pid = Number(await tmux("new-session", "-d", ...print, ...size, "-c", input.directory, ...program))

  const capture = () => tmux("capture-pane", "-p")

  const waitFor = (text: string | RegExp, timeout_ms = WAIT_MS) => screenWith({ capture, text, timeout_ms })

  const stop = async () => {
    // Hangs up on opencode, which then ends in its own time.
    await tmux("kill-server").catch(() => {})
    const until = performance.now() + GRACE_MS
    while (signal(pid, 0) && performance.now() < until) await Bun.sleep(20)
    signal(pid, "SIGKILL")
  }

  return {
    pid,
    send: async (...keys) => void (await tmux("send-keys", ...keys)),
    type: async (text) => void (await tmux("send-keys", "-l", "--", text)),
    capture,
    waitFor,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

async function command(line: string[], env: Record<string, string>) {
  const child = Bun.spawn(line, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" })
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`tmux: ${stderr.trim()}`)
  return stdout
}
