import { expect } from "bun:test"
import { join } from "node:path"
import {
  call,
  createModel,
  createSandbox,
  say,
  type Model,
  type ModelRequest,
  type Sandbox,
  type SandboxOptions,
  type Scenario,
  type Server,
} from "@pass-over/rehearsal"
import { plugin } from "./opencode"

// The toast comes a second after what it tells of; what would be one too many comes with it or soon after.
const SECOND_MS = 1_500
// A pass that meets a broken disk tries for seconds; this is for slow machines.
const MOST_MS = 30_000

export type Tried = {
  sessionID: string
  /** What alice's call was answered. */
  told: string
  /** How her turn ended. */
  answered: string
}

export type Broken = AsyncDisposable & {
  box: Sandbox
  model: Model
  server: Server
  /** alice tries to pass work to audit, reads a file by herself, and ends her turn. */
  pass(agents?: Scenario["agents"], args?: Record<string, unknown>): Promise<Tried>
  /** What the user was shown so far, when nothing more is to come. */
  shown(): Promise<string[]>
}

/** The real opencode where something of ours is broken, or will be. */
export async function createBroken(
  options: Partial<SandboxOptions> = {},
  prepare: (box: Sandbox) => void = () => {},
): Promise<Broken> {
  const model = await createModel()
  const box = await createSandbox({ model, plugins: [await plugin()], files: { "a.txt": "a\n" }, ...options })
  prepare(box)
  const server = await box.serve()
  const events = await server.events()

  async function pass(agents: Scenario["agents"] = {}, args: Record<string, unknown> = {}): Promise<Tried> {
    const seen = { told: "" }
    model.play({
      agents: {
        alice: [
          call("pass_over", { subagent: "audit", objective: "Review a.txt", reason: "test", ...args }),
          (request: ModelRequest) => (
            (seen.told = request.result("pass_over") ?? ""),
            call("read", { filePath: join(box.project, "a.txt") })
          ),
          say("I did it myself."),
        ],
        ...agents,
      },
    })
    const began = performance.now()
    const { text, sessionID } = await server.prompt({ agent: "alice", text: "Review a.txt." })
    expect(performance.now() - began).toBeLessThan(MOST_MS)
    model.verify()
    return { ...seen, answered: text, sessionID }
  }

  return {
    box,
    model,
    server,
    pass,
    async shown() {
      await Bun.sleep(SECOND_MS)
      return events.list
        .filter((event) => event.type === "tui.toast.show")
        .map((event) => String((event.properties as { message?: unknown }).message))
    },
    async [Symbol.asyncDispose]() {
      events.close()
      await server.stop()
      await box[Symbol.asyncDispose]()
      model.stop()
    },
  }
}

/** What an agent is told where only its user can help. */
export const refusal = (code: string, problem: string) =>
  `Not done. ${code}: ${problem} → Do this part of the work yourself, and tell the user this sentence.`

/** opencode works, nothing of ours lies in the user's repository, and nobody is shown a stack trace. */
export function usable({ box, server }: Broken, { told, answered }: Tried) {
  expect(answered).toBe("I did it myself.")
  expect(told).not.toMatch(/^\s+at /m)
  expect(server.logs()).not.toMatch(/^\s+at /m)
  expect(box.git("status", "--porcelain")).toBe("")
}
