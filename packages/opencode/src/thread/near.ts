import type { PluginInput, ToolContext, ToolResult } from "@opencode-ai/plugin"
import type { Call, Core, CoreHooks, Said } from "../core-port"
import { WRITERS } from "../pass-over/domain/tool"
import type { CoreInput } from "../plugin"
import { reach } from "../session/client"
import { RETURN, RETURNED } from "../tool/returned"
import { TOOLS } from "../tool/shown.gen"
import { pairs } from "./desk"
import { createReturns } from "./returns"
import { createSieve } from "./sieve"
import { engineThread } from "./start"
import type { Context } from "./wire"

// What has nothing to wait for takes a few of them. The rest waits for opencode's thread, which must go on for that.
const CLOSED_MS = 100

const count = { instances: 0, calls: 0 }

type Model = { providerID?: unknown; id?: unknown }

// The host's context has more than its type says: the history, which would cost a request, and things that are no data.
function contextOf(call: number, context: ToolContext): Context {
  const { sessionID, messageID, agent, directory, worktree } = context
  const { callID, extra, messages } = context as { callID?: unknown; extra?: { model?: Model }; messages?: unknown }
  const model = extra?.model
  return {
    call,
    sessionID,
    messageID,
    agent,
    directory,
    worktree,
    callID,
    messages,
    ...(model ? { extra: { model: { providerID: model.providerID, id: model.id } } } : {}),
  }
}

const ours = ({ tool }: Call) => TOOLS.some(({ name }) => name === tool)

const accepted = (answer: ToolResult) => typeof answer === "object" && answer.title === RETURNED

// A word that finds nobody there any more is told of once, by whoever loads us.
const spoken = (word: Promise<unknown>) => void word.catch(() => {})

const telling =
  ({ client }: Pick<PluginInput, "client">) =>
  (message: string) =>
    spoken(Promise.try(() => client.app.log({ body: { service: "pass-over", level: "error", message } })))

type Thread = ReturnType<typeof engineThread>
type Nearby = { far: Thread["far"]; instance: number; top(session_id: string): boolean }

function createHooks({ far, instance, top }: Nearby): CoreHooks {
  return {
    // Whoever has nobody above is no child, and our own tools do there what has to be done around them.
    before: async (call, args) => (top(call.sessionID) || ours(call) ? undefined : far.before(instance, call, args)),
    async after(call: Call & { args: unknown }, said?: Said) {
      if (ours(call)) return undefined
      if (!top(call.sessionID)) return far.after(instance, call, said)
      // Of those who are nobody's child it counts what they write, for the sake of those who write beside them.
      if (WRITERS.includes(call.tool)) spoken(far.after.asEvent(instance, call))
      return undefined
    },
    shell: (of, { BASH_ENV }) => far.shell(instance, of, BASH_ENV === undefined ? {} : { BASH_ENV }),
    compacting: (of) => far.compacting(instance, of),
  }
}

/** The engine for one instance of opencode, in a thread of its own: what it does keeps nobody waiting in opencode's. */
export async function createPlugin({ input, quit }: CoreInput): Promise<Core> {
  const thread = engineThread()
  const { far, desk, closed, lost } = thread
  const instance = (count.instances += 1)
  const reached = reach(input)
  desk.instances.set(instance, { reach: reached, quit, trouble: telling(input) })
  const sieve = createSieve()
  const returns = createReturns()
  const { hooks, owners } = await far.open({
    instance,
    directory: input.directory,
    worktree: input.worktree,
    url: reached.baseUrl,
    headers: pairs(reached.headers),
    inside: !reached.listens,
    buried: thread.buried,
  })
  thread.owners = owners

  return {
    originators: (agents) => far.originators(instance, agents),
    async execute(name, args, context) {
      const call = (count.calls += 1)
      const { abort } = context
      const onAbort = () => spoken(far.abort.asEvent(call))
      desk.asks.set(call, (question) => Promise.resolve(context.ask(question)))
      abort.addEventListener("abort", onAbort)
      try {
        const answer = far.execute(instance, name, args, contextOf(call, context))
        if (abort.aborted) onAbort()
        const answered = await answer
        if (name === RETURN && accepted(answered)) returns.taken(context.sessionID)
        return answered
      } finally {
        abort.removeEventListener("abort", onAbort)
        desk.asks.delete(call)
      }
    },
    hooks: hooks ? createHooks({ far, instance, top: sieve.top }) : undefined,
    event(event) {
      const done = returns.endedBy(event)
      if (done !== undefined) spoken(input.client.session.abort({ path: { id: done } }))
      if (sieve.wanted(event)) spoken(far.hear.asEvent(instance, event, done !== undefined))
    },
    async dispose() {
      const closing = far.close(instance).catch(() => {})
      if (thread.over || !closed.within(instance, CLOSED_MS)) await closing
      desk.instances.delete(instance)
    },
    lost,
  }
}
