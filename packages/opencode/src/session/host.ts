import type { AssistantMessage } from "@opencode-ai/sdk/v2"
import { setTimeout as sleep } from "node:timers/promises"
import type { AgentInfo } from "../pass-over/domain/agent"
import { toolCallOf } from "../pass-over/domain/call"
import { PassOverErrorCode } from "../pass-over/domain/errors"
import { passOverMarker } from "../pass-over/domain/marker"
import type { Pass } from "../pass-over/domain/pass"
import type { Host, Progress, Prompt, Rest, ToolCall } from "../pass-over/service/port-host"
import { call, reason, type Client } from "./client"
import { STOPPED, toFailure } from "./failure"
import { readFiles } from "./files"
import { toMessage } from "./message-v2"
import { nearby } from "./nearby"
import { askSmallModel } from "./small-model"
import { modelName, parseModel, sessionModel, unknownModel } from "./host-model"
import type { Observed } from "./observed"
import { partID, resultMessageID } from "./id"
import { bringResult } from "./result-message"
import type { Nursery } from "./nursery"
import type { Turns } from "./turns"

const HEARD_MS = 50

export type HostOptions = {
  client: Client
  observed: Observed
  turns: Turns
  nursery?: Nursery
}

const words = ({ agent, model, text }: Pick<Prompt, "agent" | "model" | "text">) => ({
  agent,
  ...parseModel(model),
  parts: [{ type: "text" as const, text }],
})

type Prompted = { data?: { info: AssistantMessage } | undefined; error?: unknown; response?: Response | undefined }

/** How the prompt ended that went along with a session; nothing where none did. */
async function first({ nursery }: HostOptions, { kind, session_id }: Prompt): Promise<Prompted | undefined> {
  if (kind !== "first" && kind !== "scratch") return undefined
  try {
    const response = await nursery?.rest(session_id)
    if (!response) return undefined
    const told: Prompted["data"] = JSON.parse(await response.text())
    return response.ok ? { data: told, response } : { error: told, response }
  } catch (error) {
    return { error }
  }
}

async function prompt(options: HostOptions, input: Prompt): Promise<Rest> {
  const { client } = options
  const { data, error, response }: Prompted =
    (await first(options, input)) ?? (await client.session.prompt({ sessionID: input.session_id, ...words(input) }))
  if (data?.info.error) return { failure: toFailure(data.info.error) }
  if (data?.info.finish !== undefined) return {}
  // Stopped while its provider made it wait: the host says neither what was wrong nor that it is over.
  if (data) return { failure: STOPPED }
  const gone = response?.status === 404
  const why = gone ? undefined : await unknownModel(client, input.model)
  return {
    session_gone: gone,
    failure: {
      code: PassOverErrorCode.SUBAGENT_CRASHED,
      message: gone ? "its session was deleted" : (why ?? `opencode could not run it: ${reason(error)}`),
      final: !gone,
    },
  }
}

type Reading = Pick<
  Host,
  "sessionRules" | "agents" | "messages" | "todos" | "files" | "nearby" | "generate" | "directoryOf" | "root"
>

function createReading({ client, observed }: HostOptions): Reading {
  let agents: Promise<AgentInfo[]> | undefined

  const loadAgents = async () => {
    const list = await call("list its agents", client.app.agents())
    return list.map(({ name, mode, description, hidden, permission, model, variant }) => ({
      name,
      mode,
      description,
      hidden,
      rules: permission,
      model: model && modelName({ ...model, variant }),
    }))
  }

  const parentOf = async (session_id: string) => {
    const known = observed.parent(session_id)
    if (known !== undefined) return known
    const session = await call("read a session", client.session.get({ sessionID: session_id }))
    observed.session(session)
    return session.parentID ?? null
  }

  return {
    // An instance's agents do not change: a new configuration makes a new instance.
    agents: () => {
      agents ??= loadAgents().catch((error: unknown) => {
        agents = undefined
        throw error
      })
      return agents
    },

    messages: async (session_id) => {
      const seen = observed.transcript(session_id)
      // Whoever has heard nothing of a session may not have been listening.
      if (seen && seen.length > 0) return seen.map(toMessage)
      const stored = await call("read a session's messages", client.session.messages({ sessionID: session_id }))
      return stored.map(toMessage)
    },

    sessionRules: async (session_id) => {
      const known = observed.rules(session_id)
      if (known) return known
      const session = await call("read a session", client.session.get({ sessionID: session_id }))
      observed.session(session)
      return session.permission ?? []
    },

    todos: async (session_id) =>
      observed.todos(session_id) ?? call("read a session's todos", client.session.todo({ sessionID: session_id })),

    // Not always where this host is: a child that goes on below another reads that one's tree.
    files: readFiles,

    nearby,

    generate: (input) => askSmallModel(client, input),

    directoryOf: async (session_id) => {
      const { data, response } = await client.session.get({ sessionID: session_id })
      if (data || response?.status === 404) return data?.directory
      throw new Error("opencode could not read a session")
    },

    root: async (session_id) => {
      const parent = await parentOf(session_id)
      if (parent === null) return session_id
      return climb(parent, parentOf)
    },
  }
}

const marked = (pass: Pass) => ({ pass_over: { id: pass.id, ...passOverMarker(pass) } })

const firstOf = ({ id, subagent_id: agent, model }: Pass, text: string) => ({
  pass_id: id,
  body: JSON.stringify(words({ agent, model, text })),
})

type Sessions = Pick<Host, "startTurn" | "child" | "resume" | "session" | "onlyReturn">

function createSessions({ client, observed, turns, nursery }: HostOptions): Sessions {
  return {
    startTurn: turns.next,

    child: async ({ pass, title, rules, turn, opening }) => {
      const birth = observed.birth(pass.id)
      const way = opening === undefined ? {} : (nursery?.way(firstOf(pass, opening)) ?? {})
      const made = call(
        "make a child session",
        client.session.create(
          {
            parentID: pass.root_session_id,
            title,
            agent: pass.subagent_id,
            ...sessionModel(pass.model),
            metadata: marked(pass),
            permission: [...rules],
          },
          way,
        ),
      )
      const session = await Promise.race([birth.session, made])
        .catch((error: unknown) => {
          turn?.over()
          throw error
        })
        .finally(birth.over)
      observed.session(session)
      observed.watch(session.id)
      if (turn) observed.onAnswer(session.id, turn.over)
      return session.id
    },

    resume: async ({ session_id, pass, title, rules }) => {
      const session = await call(
        "go on in a child session",
        client.session.update({
          sessionID: session_id,
          title,
          metadata: marked(pass),
          permission: [...rules],
        }),
      )
      observed.session(session)
      const before = await call("read a session's messages", client.session.messages({ sessionID: session_id }))
      observed.watch(session_id, before)
    },

    session: async (title) => {
      const session = await call("make a session", client.session.create({ title }))
      observed.session(session)
      return session.id
    },

    // Appended to the session's rules. `tools` on the prompt would replace them, the denials among them.
    onlyReturn: async (session_id) => {
      await call(
        "narrow a child's tools",
        client.session.update({
          sessionID: session_id,
          permission: [
            { permission: "*", pattern: "*", action: "deny" },
            { permission: "pass_over_return", pattern: "*", action: "allow" },
          ],
        }),
      )
    },
  }
}

/** opencode as the core needs it. Nothing in here decides anything. */
export function createHost(options: HostOptions): Host {
  const { client, observed } = options
  return {
    ...createReading(options),
    ...createSessions(options),

    prompt: (input) => prompt(options, input).finally(() => observed.answered(input.session_id)),

    stop: async (session_id) => {
      observed.answered(session_id)
      if (!observed.stops.delete(session_id)) await client.session.abort({ sessionID: session_id })
      // The host keeps a stopped session's questions on the screen until somebody answers them.
      for (const request of observed.questions(session_id)) {
        await client.permission.reply({ requestID: request, reply: "reject" })
      }
    },

    notify: async ({ text, issues }) => {
      await client.tui.showToast({ title: "Pass Over", message: text, variant: issues ? "warning" : "success" })
    },

    // A no would take every other question of the session with it. Nobody acts on this yes: it was answered elsewhere.
    dismiss: async (session_id, permission) => {
      for (const request of observed.questions(session_id, permission)) {
        await client.permission.reply({ requestID: request, reply: "once" })
      }
    },

    refused: async (session_id) => {
      // What the host publishes about an answer is heard a moment after the answer itself.
      await sleep(HEARD_MS)
      return observed.refused(session_id)
    },

    close: (session_id, text, metadata) => close(options, { session_id, text, metadata }),

    progress: (of, progress) => show(options, of, progress),

    calm: options.turns.calm,

    // On a busy session this joins its loop; the child reads it with its next step.
    // Without an agent the host takes its default one, and the child would go on as somebody else.
    say: async (session_id, text, { subagent_id, model }) => {
      await client.session.promptAsync({
        sessionID: session_id,
        agent: subagent_id,
        ...parseModel(model),
        parts: [{ type: "text", text }],
      })
    },

    messageID: (of) => resultMessageID(of),

    hasMessage: async (session_id, message_id) => {
      const { data } = await client.session.message({ sessionID: session_id, messageID: message_id })
      return data !== undefined
    },

    undone: async (session_id) => {
      const { data } = await client.session.get({ sessionID: session_id })
      return data?.revert !== undefined
    },

    deliver: (message) => bringResult(client, message),
  }
}

type Farewell = { session_id: string; text: string; metadata: Record<string, unknown> }

async function close({ client, observed }: HostOptions, { session_id, text, metadata }: Farewell) {
  const messageID = observed.lastMessage(session_id)
  observed.unwatch(session_id)
  if (!messageID) return
  const id = partID()
  await client.part.update({
    sessionID: session_id,
    messageID,
    partID: id,
    part: {
      id,
      sessionID: session_id,
      messageID,
      type: "text",
      text,
      synthetic: true,
      ignored: true,
      metadata: { pass_over_return: metadata },
    },
  })
}

/** Writes a view into the running tool part: the way by which opencode's clients hear of it (`metadata()` does nothing). */
async function show({ client, observed }: HostOptions, { session_id, call_id }: ToolCall, progress: Progress) {
  if (call_id === null) return
  const part = observed.tool(session_id, call_id) ?? observed.tool(session_id, toolCallOf(call_id))
  if (!part || part.state.status !== "running") return
  const { sessionID, messageID, id: partID, state } = part
  const marks = progress.pass ? { pass_over: passOverMarker(progress.pass) } : {}
  const metadata = { ...state.metadata, ...progress.lines, ...marks }
  const shown = { ...part, state: { ...state, title: progress.title, metadata } }
  await observed.views.show(partID, () => client.part.update({ sessionID, messageID, partID, part: shown }))
}

async function climb(session_id: string, parentOf: (id: string) => Promise<string | null>): Promise<string> {
  const parent = await parentOf(session_id)
  return parent === null ? session_id : climb(parent, parentOf)
}
