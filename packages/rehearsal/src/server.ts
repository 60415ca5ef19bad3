import { createServer } from "node:net"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { createOpencodeClient, type OpencodeClient } from "@opencode-ai/sdk/v2/client"
import { spawn, type Child, type Exit } from "./child"
import { collectEvents, type EventLog, type EventsInput } from "./events"
import { prompt, type Answer, type PromptInput } from "./prompt"

export type ServeOptions = {
  /** Added to `opencode serve`. */
  args?: string[]
  env?: Record<string, string>
  /** The directory the client speaks about; the project by default. */
  directory?: string
  timeout_ms?: number
}

export type Server = AsyncDisposable & {
  readonly url: string
  /** The SDK's v2 client for the project's directory. */
  readonly client: OpencodeClient
  /** A client for another directory, a worktree for instance. */
  clientFor(directory: string): OpencodeClient
  readonly pid: number
  /** Resolves when the process is gone, however it went. */
  readonly exited: Promise<Exit>
  /** What it has printed so far. */
  logs(): string
  /** Sends a prompt and waits for the end of the turn; a new session unless one is named. */
  prompt(input: PromptInput): Promise<Answer>
  /** Collects events from now on. */
  events(options?: Pick<EventsInput, "scope">): Promise<EventLog>
  /** SIGTERM, then SIGKILL. */
  stop(): Promise<Exit>
  /** kill -9. */
  kill(): Promise<Exit>
}

export type ServeInput = ServeOptions & {
  binary: string
  directory: string
  env: Record<string, string>
  onSpawn(child: Child): void
}

const ATTEMPTS = 3
const READY_MS = 30_000

export async function serve(input: ServeInput): Promise<Server> {
  const { child, url } = await boot(input)
  const headers = authorization(input.env)
  const clientFor = (directory: string) => createOpencodeClient({ baseUrl: url, directory, headers })
  const client = clientFor(input.directory)
  const logs: EventLog[] = []

  const end = async (exit: Promise<Exit>) => {
    for (const log of logs) log.close()
    return exit
  }

  return {
    url,
    client,
    clientFor,
    pid: child.pid,
    exited: child.exited,
    logs: child.logs,
    prompt: (ask) => prompt(client, ask),
    events: async (options = {}) => {
      const log = await collectEvents({ url, headers, directory: input.directory, ...options })
      logs.push(log)
      return log
    },
    stop: () => end(child.stop()),
    kill: () => end(child.kill()),
    [Symbol.asyncDispose]: async () => void (await end(child.stop())),
  }
}

// The port is chosen here, because opencode on its own first tries 4096, where the developer's own may be listening.
// Between choosing and listening somebody else can take it; then the next is tried.
async function boot(input: ServeInput, attempt = 1): Promise<{ child: Child; url: string }> {
  const port = await freePort()
  const listen = ["serve", "--hostname", "127.0.0.1", "--port", String(port)]
  const child = spawn({
    command: [input.binary, ...listen, ...(input.args ?? [])],
    cwd: input.directory,
    env: input.env,
  })
  input.onSpawn(child)
  try {
    const match = await child.seen(/listening on (http:\/\/\S+)/, input.timeout_ms ?? READY_MS)
    return { child, url: match[1] ?? `http://127.0.0.1:${port}` }
  } catch (error) {
    await child.kill()
    if (attempt < ATTEMPTS && /EADDRINUSE|in use|Failed to start server/i.test(child.logs()))
      return boot(input, attempt + 1)
    throw error
  }
}

async function freePort() {
  const probe = createServer()
  probe.listen(0, "127.0.0.1")
  await once(probe, "listening")
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, "close")
  return port
}

function authorization(env: Record<string, string>): Record<string, string> {
  const password = env["OPENCODE_SERVER_PASSWORD"]
  if (!password) return {}
  const user = env["OPENCODE_SERVER_USERNAME"] ?? "opencode"
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` }
}
