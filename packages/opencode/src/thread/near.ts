import type { PluginInput, ToolContext, ToolResult } from "@opencode-ai/plugin"
import type { Call, Core, CoreHooks, Said } from "../core-port"
import { SHELLS, WRITERS } from "../pass-over/domain/tool"
import type { CoreInput } from "../plugin"
import { reach, type Reach } from "../session/client"
import { homeOf } from "../session/home"
import { RETURN, RETURNED } from "../tool/returned"
import { TOOLS } from "../tool/shown.gen"
import { leave, pairs } from "./desk"
import { createOutbox } from "./outbox"
import { createReturns } from "./returns"
import { createSieve } from "./sieve"
import { engineThread } from "./start"
import type { Context } from "./wire"

// What has nothing to wait for takes a few of them. The rest waits for opencode's thread, which must go on for that.
const CLOSED_MS = 100
// opencode stops a session within some 60 ms.
const STOPPED_MS = 1_000

const count = { instances: 0, calls: 0 }

type Model = { providerID?: unknown; id?: unknown }

type Told = { info?: { role?: unknown } }

/** What was said before a call, as far as its tool reads it: it may be long. A flow reads by which model the user works. */
function historyFor(name: string, messages: unknown): unknown {
  if (name === "pass_over") return messages
  if (name !== "flow" || !Array.isArray(messages)) return undefined
  return messages.filter(({ info }: Told) => info?.role === "user").map(({ info }: Told) => ({ info, parts: [] }))
}

// The host's context has more than its type says: the history, which would cost a request, and things that are no data.
function contextOf(call: number, name: string, context: ToolContext): Context {
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
    messages: historyFor(name, messages),
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
/** `next` is the other side, told of all that was heard until now: nothing overtakes that. */
type Nearby = {
  thread: Thread
  next(): Thread["far"]
  instance: number
  sieve: ReturnType<typeof createSieve>
}

const BEREFT = "Pass Over has stopped, and this pass with it. Nothing more is done for it: end your turn."

/** What is read of what a tool call has said. A picture, or what some server has sent, may be of any size. */
function heard({ tool }: Call, said: Said | undefined): Said | undefined {
  if (!said || !SHELLS.includes(tool)) return undefined
  const { output, metadata } = said
  const exit = typeof metadata === "object" && metadata !== null && "exit" in metadata ? metadata.exit : undefined
  return { output, metadata: { exit } }
}

function createHooks({ thread, next, instance, sieve }: Nearby): CoreHooks {
  return {
    async before(call, args) {
      // Whoever has nobody above is no child, and our own tools do there what has to be done around them.
      if (sieve.top(call.sessionID) || ours(call)) return undefined
      if (!thread.over) return next().before(instance, call, args)
      // Nobody is there to say what it may do.
      if (sieve.ours(call.sessionID)) throw new Error(BEREFT)
      return undefined
    },
    async after(call: Call & { args: unknown }, said?: Said) {
      if (ours(call) || thread.over) return undefined
      if (!sieve.top(call.sessionID)) return next().after(instance, call, heard(call, said))
      // Of those who are nobody's child it counts what they write, for the sake of those who write beside them.
      if (WRITERS.includes(call.tool)) spoken(next().after(instance, call))
      return undefined
    },
    async shell(of, { BASH_ENV }) {
      if (thread.over) return {}
      return next().shell(instance, of, BASH_ENV === undefined ? {} : { BASH_ENV })
    },
    compacting: async (of) => (thread.over ? [] : next().compacting(instance, of)),
  }
}

const openingOf = ({ directory, worktree }: CoreInput["input"], { baseUrl, headers, listens }: Reach) => ({
  directory,
  worktree,
  url: baseUrl,
  headers: pairs(headers),
  inside: !listens,
  home: homeOf(directory),
})

/** The engine for one instance of opencode, in a thread of its own: what it does keeps nobody waiting in opencode's. */
export async function createPlugin({ input, quit }: CoreInput): Promise<Core> {
  const thread = engineThread()
  const { far, desk, firsts, closed, lost } = thread
  const instance = (count.instances += 1)
  const reached = reach(input)
  desk.instances.set(instance, { reach: reached, quit, trouble: telling(input) })
  const sieve = createSieve()
  const returns = createReturns()
  const stop = (id: string) => input.client.session.abort({ path: { id } })
  const outbox = createOutbox((all) => spoken(far.hear.asEvent(instance, all)))
  const next = () => {
    outbox.flush()
    return far
  }
  const around = createHooks({ thread, next, instance, sieve })
  const state: { hooks?: CoreHooks } = {}
  const opening = { ...openingOf(input, reached), instance, buried: thread.buried }

  async function open() {
    const { hooks, owners } = await far.open(opening)
    thread.owners = owners
    if (hooks) state.hooks = around
  }

  await open().catch((error: unknown) => {
    leave(desk, instance)
    throw error
  })

  /** Its children have nobody any more. Whoever comes next reads what they have left, so they stop before that. */
  async function orphaned(why: string): Promise<string> {
    const stopping = Promise.allSettled(sieve.working().map(stop))
    await Promise.race([stopping, Bun.sleep(STOPPED_MS)])
    return why
  }

  return {
    originators: (agents) => far.originators(instance, agents),
    async execute(name, args, context) {
      // The disk that was full may have room by now.
      if (!state.hooks) await open()
      const call = (count.calls += 1)
      const { abort } = context
      const onAbort = () => spoken(far.abort.asEvent(call))
      desk.asks.set(call, { instance, ask: (question) => Promise.resolve(context.ask(question)) })
      abort.addEventListener("abort", onAbort)
      try {
        const answer = next().execute(instance, name, args, contextOf(call, name, context))
        if (abort.aborted) onAbort()
        const answered = await answer
        if (name === RETURN && accepted(answered)) returns.taken(context.sessionID)
        return answered
      } finally {
        abort.removeEventListener("abort", onAbort)
      }
    },
    get hooks() {
      return state.hooks
    },
    hold: (session_id) => firsts.hold(session_id).then(() => returns.hold(session_id)),
    event(event) {
      firsts.hear(event)
      const done = returns.endedBy(event)
      if (done !== undefined) spoken(stop(done))
      if (sieve.wanted(event)) outbox.put({ event, stopped: done !== undefined })
    },
    async dispose() {
      const closing = next()
        .close(instance)
        .catch(() => {})
      if (thread.over || !closed.within(instance, CLOSED_MS)) await closing
      leave(desk, instance)
    },
    lost: lost.then(orphaned),
  }
}
