import { call, say, type ModelRequest } from "@pass-over/rehearsal"
import type { World } from "./opencode"

export type Step = { name: string; input: Record<string, unknown> }

/** How a question is answered, and what else the call says. */
export type DoOptions = { reply?: "once" | "reject" | "always"; pass?: object }

type Doing = Pick<World, "model" | "server"> & { from: string; to: string }

export const writing = (filePath: string, content = "new\n"): Step => ({ name: "write", input: { filePath, content } })
export const bash = (command: string): Step => ({ name: "bash", input: { command, description: "run it" } })

/** Lets one agent do things for another; tells what its tools said, which it had, and what was asked. */
export async function doing({ model, server, from, to }: Doing, steps: Step[], options: DoOptions = {}) {
  const told: string[] = []
  const tools: string[] = []
  const asked: { permission: string; patterns: string[]; session: string }[] = []
  const note = (name: string) => (request: ModelRequest) => void told.push(request.result(name) ?? "nothing")
  let before = (request: ModelRequest) => void tools.push(...request.tools.map((tool) => tool.name))
  const turns = steps.map(({ name, input }) => {
    const looked = before
    before = note(name)
    return (request: ModelRequest) => (looked(request), call(name, input))
  })
  model.play({
    agents: {
      [from]: [
        call("pass_over", {
          subagent: to,
          objective: `Do ${JSON.stringify(steps)}`,
          reason: "test",
          ...options.pass,
        }),
        (request: ModelRequest) => say(request.result("pass_over") ?? "nothing"),
      ],
      [to]: [
        ...turns,
        (request: ModelRequest) => (
          before(request),
          call("pass_over_return", { decision: "approved", decision_reason: "did it" })
        ),
      ],
    },
  })
  const events = await server.events()
  const turn = server.prompt({ agent: from, text: "Go." })
  const seen = new Set<string>()
  const answering = (async () => {
    for (;;) {
      const event = await Promise.race([
        // For as long as the turn takes: most of them never ask.
        events.until("permission.asked", ({ properties }) => !seen.has(properties.id), 120_000),
        turn.then(
          () => undefined,
          () => undefined,
        ),
      ])
      if (!event) return
      const request = event.properties as { id: string; permission: string; patterns: string[]; sessionID: string }
      seen.add(request.id)
      asked.push({ permission: request.permission, patterns: request.patterns, session: request.sessionID })
      // What we answer ourselves is gone by now; the user is only there for the rest.
      await Bun.sleep(150)
      const open = (await server.client.permission.list()).data ?? []
      if (open.some(({ id }) => id === request.id)) {
        await server.client.permission.reply({ requestID: request.id, reply: options.reply ?? "reject" })
      }
    }
  })()
  const answer = await turn
  await answering
  events.close()
  return { told, tools, asked, answer: answer.text }
}
