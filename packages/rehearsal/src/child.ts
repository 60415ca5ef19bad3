export type Exit = { code: number | null; signal: string | null }

export type Child = {
  readonly pid: number
  readonly exited: Promise<Exit>
  stdout(): string
  stderr(): string
  /** Both outputs in the order in which they came. */
  logs(): string
  /** Resolves with the match when the output has it; rejects when the process ends before, or after the time. */
  seen(pattern: RegExp, timeout_ms: number): Promise<RegExpExecArray>
  /** SIGTERM, then SIGKILL when the grace is over. */
  stop(grace_ms?: number): Promise<Exit>
  /** SIGKILL. */
  kill(): Promise<Exit>
}

export type SpawnInput = { command: string[]; cwd: string; env: Record<string, string>; stdin?: string }

const GRACE_MS = 3_000

/** A process whose output is kept, to be read at any time. */
export function spawn(input: SpawnInput): Child {
  const child = Bun.spawn(input.command, {
    cwd: input.cwd,
    env: input.env,
    stdin: input.stdin === undefined ? "ignore" : new Blob([input.stdin]),
    stdout: "pipe",
    stderr: "pipe",
  })
  const output = { stdout: "", stderr: "", both: "" }
  const watchers = new Set<() => void>()

  const collect = async (name: "stdout" | "stderr") => {
    const decoder = new TextDecoder()
    for await (const bytes of child[name]) {
      const text = decoder.decode(bytes, { stream: true })
      output[name] += text
      output.both += text
      for (const watch of watchers) watch()
    }
  }
  const collected = Promise.all([collect("stdout"), collect("stderr")])
  const exited = child.exited.then(async (): Promise<Exit> => {
    // A grandchild may hold the pipes open for as long as it lives; what the child itself wrote is in by then.
    await Promise.race([collected, Bun.sleep(200)])
    // Later types of Bun say that a signal may be a number, and whoever installs this is checked against theirs.
    return { code: child.exitCode, signal: child.signalCode?.toString() ?? null }
  })

  const seen = (pattern: RegExp, timeout_ms: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>()
    const watch = () => {
      const match = pattern.exec(output.both)
      if (match) resolve(match)
    }
    const give = (why: string) => reject(new Error(`${input.command.join(" ")} ${why}. Its output:\n${output.both}`))
    const timer = setTimeout(() => give(`did not print ${pattern} within ${timeout_ms} ms`), timeout_ms)
    watchers.add(watch)
    watch()
    void exited.then((exit) => give(`ended with ${exit.signal ?? `code ${exit.code}`}`))
    return promise.finally(() => (clearTimeout(timer), watchers.delete(watch)))
  }

  // Through the handle and not by number: the number may already belong to somebody else.
  const kill = () => (child.kill("SIGKILL"), exited)

  const stop = async (grace_ms = GRACE_MS) => {
    child.kill("SIGTERM")
    const timer = setTimeout(() => child.kill("SIGKILL"), grace_ms)
    return exited.finally(() => clearTimeout(timer))
  }

  return {
    pid: child.pid,
    exited,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    logs: () => output.both,
    seen,
    stop,
    kill,
  }
}
