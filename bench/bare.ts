import { connect } from "../packages/opencode/src/session/client"

// As much of the host's shapes as is needed here.
type Config = { agent?: Record<string, unknown> }
type Heard = { event: { type: string; properties: { part?: { type: string; sessionID: string } } } }
type Context = { sessionID: string }

type Child = { report?: unknown; done(report: unknown): void }

const agent = {
  mode: "subagent",
  description: "Reviews a piece of work.",
  prompt: "You review what you are given.",
  // A child's own rules open the tool for returning; the host's own subagents do not have it.
  permission: { pass_over: "deny", pass_over_return: "deny" },
} as const

const rules = [
  { permission: "task", pattern: "*", action: "deny" },
  { permission: "todowrite", pattern: "*", action: "deny" },
  { permission: "pass_over_return", pattern: "*", action: "allow" },
] as const

/**
 * What a pass costs the host by itself: a child session, a prompt, a tool call for an answer, and a stop. No contract, no
 * rights, nothing written down. `bench/task.ts … bare` measures it in the place of ours.
 */
export default {
  id: "bare",
  server: async (input: Parameters<typeof connect>[0]) => {
    const client = connect(input)
    const children = new Map<string, Child>()
    return {
      config: async (config: Config) => {
        config.agent = { ...config.agent, audit: agent }
      },
      event: async ({ event: { type, properties } }: Heard) => {
        if (type !== "message.part.updated" || properties.part?.type !== "step-finish") return
        const { sessionID } = properties.part
        const child = children.get(sessionID)
        if (!child?.report) return
        children.delete(sessionID)
        void client.session.abort({ sessionID })
        child.done(child.report)
      },
      tool: {
        pass_over: {
          description: "Passes a piece of work to another agent.",
          args: {},
          async execute(args: { subagent?: string; objective?: string }, { sessionID: parentID }: Context) {
            const { subagent = "audit", objective = "" } = args
            const title = `${objective.slice(0, 40)} (@${subagent} subagent)`
            const made = await client.session.create({ parentID, title, agent: subagent, permission: [...rules] })
            const sessionID = made.data?.id ?? ""
            const { promise, resolve } = Promise.withResolvers<unknown>()
            children.set(sessionID, { done: resolve })
            const text = `${objective}\n\nWhen you are done, call pass_over_return once.`
            void client.session.prompt({ sessionID, agent: subagent, parts: [{ type: "text", text }] })
            return JSON.stringify(await promise)
          },
        },
        pass_over_return: {
          description: "Returns what was found.",
          args: {},
          async execute(args: unknown, { sessionID }: Context) {
            const child = children.get(sessionID)
            if (child) child.report = args
            return "Received."
          },
        },
      },
    }
  },
}
