import type { AgentInfo } from "../../../src/pass-over/domain/agent"
import type { ContextMessage, MessagePart } from "../../../src/pass-over/domain/context"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { NO_USAGE, type Usage } from "../../../src/pass-over/domain/run"
import { returnFromPassOver } from "../../../src/pass-over/service/api-return"
import type { Engine } from "../../../src/pass-over/service/engine"
import type { ChildSpec, Host, Progress, Prompt, Rest, ResultMessage } from "../../../src/pass-over/service/port-host"

/** What a scripted child can do in answer to a prompt. */
export type Child = {
  readonly session_id: string
  readonly prompt: Prompt
  /** Whether it was told to stop. A child that does not look goes on, as commands of a real one may. */
  readonly stopped: boolean
  /** Comes when it is told to stop. */
  readonly told: Promise<void>
  /** Passes time. */
  wait(ms: number): Promise<void>
  /** Says something. */
  say(text: string): void
  /** Thinks something. */
  think(text: string): void
  /** Calls a tool and has its answer. */
  tool(name: string, input: Record<string, unknown>, output: string, metadata?: Record<string, unknown>): void
  /** Calls pass_over_return; comes back with what the child is told. */
  return(report: unknown): Promise<string>
  /** Ends a step. */
  step(usage?: Partial<Usage>): void
  /** Its provider asks for so much patience. */
  putOff(ms: number, message: string): void
  ask(request_id: string): void
  answered(request_id: string): void
}

export type Script = (child: Child) => Promise<Rest | void>

export type ScriptedHost = Host & {
  readonly children: {
    session_id: string
    pass: Pass
    title: string
    stopped: number
    closed?: string
    narrowed: boolean
    /** Every time that another pass went on in it. */
    resumed: ChildSpec[]
  }[]
  readonly prompts: Prompt[]
  readonly said: { session_id: string; text: string }[]
  /** Questions of ours that were taken off the screen. */
  readonly dismissed: { session_id: string; permission: string }[]
  /** What the user was told. */
  readonly notified: { text: string; issues: boolean }[]
  /** Sessions of their own, for what nobody asked for in a session. */
  readonly made: { session_id: string; title: string }[]
  readonly delivered: ResultMessage[]
  /** Sessions that their user has taken back a part of. */
  readonly takenBack: Set<string>
  /** Sessions that somebody deleted. */
  readonly gone: Set<string>
  readonly shown: { progress: Progress }[]
  script(agent: string, script: Script): void
  /** Has to be told the engine before anything runs: the two know each other. */
  join(engine: Engine): void
}

export type ScriptedHostOptions = {
  agents?: readonly AgentInfo[]
  after: (ms: number, run: () => void) => () => void
  now: () => number
  /** Where its ids begin, for hosts whose children lie in one database. */
  serial?: number
}

const AGENTS: readonly AgentInfo[] = [
  { name: "alice", mode: "primary" },
  { name: "build", mode: "primary" },
  { name: "scout", mode: "subagent" },
  { name: "audit", mode: "subagent" },
  { name: "inspector", mode: "subagent" },
  { name: "title", mode: "primary", hidden: true },
]

/** A host whose children do what a test says. It fails on what nobody scripted. */
export function createScriptedHost(options: ScriptedHostOptions): ScriptedHost {
  const scripts = new Map<string, Script>()
  const children: ScriptedHost["children"] = []
  const prompts: Prompt[] = []
  const shown: ScriptedHost["shown"] = []
  const said: ScriptedHost["said"] = []
  const dismissed: ScriptedHost["dismissed"] = []
  const notified: ScriptedHost["notified"] = []
  const made: ScriptedHost["made"] = []
  const delivered: ResultMessage[] = []
  const gone = new Set<string>()
  const takenBack = new Set<string>()
  const places = new Map<string, string>()
  const messages = new Map<string, ContextMessage[]>()
  const stops = new Map<string, { promise: Promise<void>; resolve: () => void; done: boolean }>()
  const world = {} as { engine: Engine }
  let serial = options.serial ?? 0

  const stopOf = (session_id: string) => {
    const known = stops.get(session_id)
    if (known && !known.done) return known
    const { promise, resolve } = Promise.withResolvers<void>()
    const fresh = { promise, done: false, resolve: () => ((fresh.done = true), resolve()) }
    stops.set(session_id, fresh)
    return fresh
  }

  // As the host's own, they sort by the time they were made.
  const partID = () => `prt_${String(++serial).padStart(8, "0")}`

  const write = (session_id: string, agent_name: string, part: Omit<MessagePart, "id">) => {
    const list = messages.get(session_id) ?? []
    messages.set(session_id, list)
    const id = partID()
    const timestamp = options.now()
    list.push({
      id: `msg_${++serial}`,
      role: "assistant",
      agent_name,
      timestamp,
      parts: [{ id, timestamp, ...part }],
    })
    return { id, at: timestamp }
  }

  const heard = (session_id: string, text: string) => {
    const list = messages.get(session_id) ?? []
    messages.set(session_id, list)
    const id = partID()
    const at = options.now()
    list.push({ id: `msg_${++serial}`, role: "user", timestamp: at, parts: [{ id, type: "text", text }] })
    world.engine?.hear({ type: "said", session_id, said: { id, kind: "told", text, at } })
  }

  const speak = (session_id: string, agent: string, type: "text" | "reasoning", text: string) => {
    const part = write(session_id, agent, { type, text })
    const kind = type === "text" ? "said" : "thought"
    world.engine.hear({ type: "activity", session_id })
    world.engine.hear({ type: "said", session_id, said: { ...part, kind, text, agent } })
  }

  const childOf = (prompt: Prompt): Child => {
    const { session_id, agent } = prompt
    const stop = stopOf(session_id)
    return {
      session_id,
      prompt,
      get stopped() {
        return stop.done
      },
      told: stop.promise,
      wait: (ms) => new Promise((resolve) => void options.after(ms, resolve)),
      say: (text) => speak(session_id, agent, "text", text),
      think: (text) => speak(session_id, agent, "reasoning", text),
      tool(tool_name, tool_input, tool_output, metadata) {
        const call_id = `call_${++serial}`
        const part = write(session_id, agent, {
          type: "tool",
          tool_name,
          call_id,
          tool_status: "completed",
          tool_input,
          tool_output,
          ...(metadata ? { metadata } : {}),
        })
        world.engine.hear({ type: "activity", session_id, tool: { name: tool_name, status: "completed", call_id } })
        const turn = { tool: tool_name, input: JSON.stringify(tool_input), output: tool_output, failed: false }
        world.engine.hear({ type: "turn", session_id, turn: { ...part, call_id, ...turn } })
      },
      async return(report) {
        const returned = await returnFromPassOver(world.engine, { session_id, agent, report })
        return returned.ok ? returned.text : `${returned.refusal.code} ${returned.refusal.message}`
      },
      step: (usage) => world.engine.hear({ type: "step", session_id, usage: { ...NO_USAGE, ...usage } }),
      putOff: (ms, message) => world.engine.hear({ type: "retry", session_id, until: options.now() + ms, message }),
      ask: (request_id) => world.engine.hear({ type: "waiting", session_id, request_id, open: true, what: "bash" }),
      answered: (request_id) =>
        world.engine.hear({ type: "waiting", session_id, request_id, open: false, what: "once" }),
    }
  }

  const entry = (session_id: string) => {
    const child = children.find((known) => known.session_id === session_id)
    if (!child) throw new Error(`no child session ${session_id}`)
    return child
  }

  return {
    said,
    dismissed,
    notified,
    made,
    delivered,
    gone,
    takenBack,
    children,
    prompts,
    shown,
    script: (agent, script) => void scripts.set(agent, script),
    join: (engine) => void (world.engine = engine),

    agents: async () => [...(options.agents ?? AGENTS)],
    messages: async (session_id) => messages.get(session_id) ?? [],
    todos: async () => [],
    sessionRules: async () => [],
    files: async (paths) => paths.map((path) => ({ path, content: `content of ${path}` })),
    // As on the real host, all children hang on the session at the top.
    root: async (session_id) =>
      children.find((each) => each.session_id === session_id)?.pass.root_session_id ?? session_id,
    directoryOf: async (session_id) => (gone.has(session_id) ? undefined : (places.get(session_id) ?? "/project")),
    child: async ({ pass, title, directory }) => {
      const session_id = `ses_child${++serial}`
      children.push({ session_id, pass, title, stopped: 0, narrowed: false, resumed: [] })
      // Its originator was there first.
      if (!places.has(pass.session_id)) places.set(pass.session_id, pass.directory)
      places.set(session_id, directory ?? pass.directory)
      return session_id
    },
    resume: async ({ session_id, ...spec }) => void entry(session_id).resumed.push(spec),
    session: async (title) => {
      const session_id = `ses_made${++serial}`
      made.push({ session_id, title })
      return session_id
    },
    async prompt(prompt) {
      prompts.push(prompt)
      heard(prompt.session_id, prompt.text)
      const script = scripts.get(prompt.agent)
      if (!script) throw new Error(`nobody scripted ${prompt.agent}`)
      return (await script(childOf(prompt))) ?? {}
    },
    async stop(session_id) {
      entry(session_id).stopped += 1
      stopOf(session_id).resolve()
    },
    onlyReturn: async (session_id) => void (entry(session_id).narrowed = true),
    close: async (session_id, text) => void (entry(session_id).closed = text),
    notify: async (message) => void notified.push(message),
    refused: async () => undefined,
    undone: async (session_id) => takenBack.has(session_id),
    dismiss: async (session_id, permission) => void dismissed.push({ session_id, permission }),
    say: async (session_id, text) => {
      said.push({ session_id, text })
      heard(session_id, text)
    },
    messageID: (pass_over_id) => `msg_${++serial}_${pass_over_id}`,
    hasMessage: async (_session_id, message_id) => delivered.some((message) => message.message_id === message_id),
    deliver: async (message) => {
      if (gone.has(message.session_id)) return "gone"
      delivered.push(message)
      return "sent"
    },
    progress: async (_call, progress) => void shown.push({ progress }),
  }
}
