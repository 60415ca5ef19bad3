export type Child = { code: number; stdout: string; stderr: string }

export type ChildOptions = {
  /** Words before the program: `["sh", "-c", …]`. */
  before?: string[]
  /** Called when the child says that it is ready; it is let loose when this is done. */
  ready?: () => Promise<void>
}

const READY = "ready\n"

/** For the child: says that it is ready, and waits to be let loose. */
export async function ready(): Promise<void> {
  process.stdout.write(READY)
  await Bun.stdin.text()
}

/** Runs a program of the tests in a process of its own, with what comes out of it. */
export async function runChild(script: string, args: readonly string[], options: ChildOptions = {}): Promise<Child> {
  const child = Bun.spawn([...(options.before ?? []), process.execPath, script, ...args], {
    stdio: ["pipe", "pipe", "pipe"],
  })
  const stderr = new Response(child.stderr).text()
  const decoder = new TextDecoder()
  let stdout = ""
  let loose = options.ready === undefined
  for await (const chunk of child.stdout) {
    stdout += decoder.decode(chunk, { stream: true })
    if (loose || !stdout.startsWith(READY)) continue
    loose = true
    await options.ready?.()
    await child.stdin.end()
  }
  return { code: await child.exited, stdout: stdout.replace(READY, ""), stderr: await stderr }
}

/** Starts one process for each list of arguments and lets them loose together, when the last of them is ready. */
export function race(script: string, each: readonly (readonly string[])[]): Promise<Child[]> {
  const gate = Promise.withResolvers<void>()
  const missing = new Set(each.keys())
  const arrived = (index: number) => {
    missing.delete(index)
    if (missing.size === 0) gate.resolve()
    return gate.promise
  }
  return Promise.all(
    each.map(async (args, index) => {
      const child = await runChild(script, args, { ready: () => arrived(index) })
      // One that died on its way must not keep the others waiting.
      void arrived(index)
      return child
    }),
  )
}
