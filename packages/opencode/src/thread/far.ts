/** The thread that the engine runs in: what opencode's own thread asks for is done here, and nothing waits for anything there. */
import type { Core } from "../core-port"
import { bury } from "../identity"
import { redact } from "../pass-over/domain/secret"
import { createPlugin } from "../plugin"
import { nursery, owners, turns } from "../runtime"
import { enterTree, onTree } from "../session/home"
import type { Borrowed } from "../tool/borrow"
import { closedIn, type Closed } from "./closed"
import { wire, type Asked, type Context, type Far, type Near, type Opening, type Question, type Replied } from "./wire"

declare const self: Worker

type Here = Core & { again(): void }
type Running = { instance: number; abort: AbortController }

const cores = new Map<number, Here>()
const calls = new Map<number, Running>()
// How many still need the way to the user that each of these calls has.
const borrowed = new Map<number, number>()
let closed: Closed | undefined

function coreOf(instance: number): Here {
  const core = cores.get(instance)
  if (!core) throw new Error("this project is closed")
  return core
}

const NO_HOOKS = "Pass Over has no engine here"

function hooksOf(instance: number) {
  const { hooks } = coreOf(instance)
  if (!hooks) throw new Error(NO_HOOKS)
  return hooks
}

async function askedBy(request: Request): Promise<Asked> {
  const { url, method, headers } = request
  return { url, method, headers: [...headers.entries()], body: await request.text() }
}

const responseOf = ({ status, headers, body }: Replied) =>
  new Response(status === 204 || status === 304 ? null : body, { status, headers })

/** Reaches opencode through its own thread, where it listens nowhere. */
const through = (instance: number) => async (request: Request) =>
  responseOf(await near.fetch(instance, await askedBy(request)))

function inputOf({ instance, directory, worktree, url, headers, inside }: Opening) {
  const config = {
    baseUrl: url,
    headers: new Headers(headers),
    ...(inside ? { fetch: through(instance) } : {}),
  }
  return { client: { _client: { getConfig: () => config } }, directory, worktree, serverUrl: new URL(url) }
}

/** Whoever needed a call has done with it: with the last of them, nothing is asked for it any more. */
function back(call: number) {
  const others = (borrowed.get(call) ?? 1) - 1
  if (others > 0) return void borrowed.set(call, others)
  borrowed.delete(call)
  void near.over.asEvent(call)
}

function borrow(call: number) {
  borrowed.set(call, (borrowed.get(call) ?? 0) + 1)
  return () => back(call)
}

const contextOf = ({ call, ...told }: Context, abort: AbortSignal): Borrowed => ({
  ...told,
  abort,
  metadata() {},
  ask: (question: Question) => near.ask(call, question),
  borrow: () => borrow(call),
})

// As in opencode's own thread, what nobody has caught ends nothing.
function survived(error: unknown) {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  void near.trouble.asEvent(redact(`Something went wrong: ${what}`).text)
}

const far: Far = {
  open(opening) {
    for (const owner of opening.buried) bury(owner)
    if (opening.home) enterTree(opening.directory, opening.home)
    const known = cores.get(opening.instance)
    known?.again()
    const core =
      known ??
      createPlugin({
        input: inputOf(opening) as unknown as Parameters<typeof createPlugin>[0]["input"],
        quit: () => void near.quit.asEvent(),
      })
    cores.set(opening.instance, core)
    return { hooks: core.hooks !== undefined, owners: owners() }
  },
  async close(instance) {
    const core = cores.get(instance)
    cores.delete(instance)
    await core?.dispose()
    for (const [call, { instance: of }] of calls) if (of === instance) calls.delete(call)
    closed?.of(instance)
  },
  originators: (instance, agents) => coreOf(instance).originators(agents),
  async execute(instance, name, args, context) {
    const core = coreOf(instance)
    const abort = new AbortController()
    calls.set(context.call, { instance, abort })
    const done = borrow(context.call)
    try {
      return await core.execute(name, args, contextOf(context, abort.signal))
    } finally {
      calls.delete(context.call)
      done()
    }
  },
  abort: (call) => calls.get(call)?.abort.abort(),
  hear(instance, all) {
    for (const { event, stopped } of all) {
      try {
        cores.get(instance)?.event(event, stopped)
      } catch (error) {
        // Nobody waits for an answer to what was only told.
        survived(error)
      }
    }
  },
  before: (instance, call, args) => hooksOf(instance).before(call, args),
  after: (instance, call, said) => hooksOf(instance).after(call, said),
  shell: (instance, of, env) => hooksOf(instance).shell(of, env),
  compacting: (instance, of) => hooksOf(instance).compacting(of),
}

const near = wire<Near, Far>(
  {
    post: (message) => self.postMessage(message),
    listen: (heard) =>
      self.addEventListener("message", ({ data }: MessageEvent<string | SharedArrayBuffer>) => {
        if (typeof data === "string") return heard(data)
        closed = closedIn(data)
      }),
  },
  far,
)

turns.ask(() => near.idle())
nursery.use({
  make: async (request, first) => responseOf(await near.make(await askedBy(request), first)),
  async rest(session_id) {
    const replied = await near.rest(session_id)
    return replied && responseOf(replied)
  },
})
onTree((directory, home) => void near.tree.asEvent(directory, home))

process.on("uncaughtException", survived)
process.on("unhandledRejection", survived)
