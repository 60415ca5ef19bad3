import type { PluginInput, ToolContext, ToolResult } from "@opencode-ai/plugin"
import type { Event } from "@opencode-ai/sdk/v2"
import { ORIGINATORS, type Mode } from "./agent/agent"
import { relative } from "node:path"
import { createHooks } from "./hook"
import { PassOverErrorCode, refuse } from "./pass-over/domain/errors"
import { originates } from "./pass-over/domain/policy"
import { redact, redactDeep } from "./pass-over/domain/secret"
import type { Log } from "./pass-over/service/port"
import { withinOf } from "./pass-over/service/right"
import { configFiles } from "./config-files"
import type { ConfigFiles } from "./pass-over/store/config-file"
import { projectFile } from "./pass-over/store/config-place"
import type { Core } from "./core-port"
import { openProject, type Opened } from "./project"
import { runtime, silence, troubleHere } from "./runtime"
import { answerAsked, answeredThere } from "./session/asked"
import { connect, type Client } from "./session/client"
import { hear } from "./session/events"
import type { Observed } from "./session/observed"
import { homeOf } from "./session/home"
import { earAt } from "./session/tree-map"
import type { Tool } from "./tool/answer"
import { brokenTools } from "./tool/broken"
import { flowTool } from "./tool/flow"
import { passOverTool } from "./tool/pass-over"
import { passOverReadTool } from "./tool/pass-over-read"
import { passOverReturnTool } from "./tool/pass-over-return"
import { passOverReviewTool } from "./tool/pass-over-review"
import { refusalText } from "./tool/refusal-text"

// opencode's log and a toast: fire and forget, because the instance waits for this plugin and must not be waited for.
function createLog(client: Client): Log {
  return (level, message, detail) => {
    const extra = detail ? { extra: redactDeep(detail) } : {}
    client.app.log({ service: "pass-over", level, message: redact(message).text, ...extra }).catch(() => {})
  }
}

const SHOWN_MS = 10_000
// Whoever reads slowly has this long for each character.
const READ_MS = 60

/** One clear line for the user, once the program around us can show it. */
function tell(client: Client, log: Log, message: string) {
  log("warn", message)
  const duration = Math.max(SHOWN_MS, message.length * READ_MS)
  setTimeout(() => {
    client.tui.showToast({ title: "Pass Over", message, variant: "warning", duration }).catch(() => {})
  }, 1_000).unref()
}

export const toolsOf = ({ engine, project, flows }: Opened): Tool[] => [
  passOverTool(engine, project),
  passOverReadTool(engine, project),
  passOverReviewTool(engine, project),
  passOverReturnTool(engine),
  ...(flows ? [flowTool(engine, project, flows)] : []),
]

const byName = (tools: readonly Tool[]) => new Map(tools.map((tool) => [tool.name, tool]))

/** What there is to work with; without a database only tools that say why they do nothing. */
type Works = { opened?: Opened; tools: Map<string, Tool>; hooks?: ReturnType<typeof createHooks> }

const originatesHere = (files: ConfigFiles) => (name: string, mode: Mode) => {
  try {
    return originates({ name, mode }, ORIGINATORS, files.read())
  } catch {
    // A broken configuration refuses passes with its own sentence; who sees the tools does not depend on it.
    return originates({ name, mode }, ORIGINATORS, [])
  }
}

const noTool = (name: string) =>
  refuse(PassOverErrorCode.NOT_FOUND, `There is no tool ${name} here.`, { suggestion: "Do this part yourself." })

/** What we are given of an opencode instance, and how opencode itself is ended. */
export type CoreInput = { input: Pick<PluginInput, "client" | "directory" | "worktree" | "serverUrl">; quit(): void }

// Beyond its published type; without it nothing could be shown either.
const callOf = (context: ToolContext) => ("callID" in context ? String(context.callID) : "")

/** A call that has its answer is not shown as running any more: a view that came too late would take the answer away. */
async function ended(observed: Observed, context: ToolContext) {
  const part = observed.tool(context.sessionID, callOf(context))
  if (part) await observed.views.end(part.id)
}

/** Everything that one opencode instance gets from us, behind its door. Nothing in here waits for the instance. */
export function createPlugin({ input, quit }: CoreInput): Core & { again(): void } {
  const observed = earAt(input.directory)
  const client = connect(input)
  const log = createLog(client)
  // What holds in a project holds in its trees: a child can write into the copy of the file that lies there.
  const home = homeOf(input.directory) ?? input
  // Nobody sits before the instance of a tree.
  const seen = home === input
  const say = (line: string) => (seen ? tell(client, log, line) : log("warn", line))
  const files = configFiles(() => projectFile(home.directory, home.worktree), say)
  const trouble = (line: string) => say(`${line} Until then opencode works without Pass Over.`)
  const unlisten = seen ? troubleHere().listen(input.directory, trouble) : () => {}
  const works = (): Works => {
    const passOver = runtime(log)
    if (!passOver.ok) return { tools: byName(Object.values(brokenTools(passOver.problem, log))) }
    const opened = openProject(passOver, { input, client, observed, files, log, tell: say, quit })
    return { opened, tools: byName(toolsOf(opened)), hooks: createHooks(opened.engine, input) }
  }
  const state: { now: Works } = { now: works() }
  const asking = { client, elsewhere: home !== input, within: withinOf({ ...input, relative }) }
  const originates = originatesHere(files)

  return {
    originators: async (agents) => agents.filter(([name, mode]) => originates(name, mode)).map(([name]) => name),
    async execute(name: string, args: unknown, context: ToolContext): Promise<ToolResult> {
      const { opened, tools, hooks } = state.now
      const tool = tools.get(name)
      if (!tool) return refusalText(noTool(name))
      const moved = await hooks?.before({ tool: name, sessionID: context.sessionID, callID: callOf(context) }, args)
      const answer = await tool.execute(moved ?? args, context)
      // The host has stopped this call and goes. An answer would have it look up the call's agent once more, and keep for
      // the project's next instance what it then finds: agents without ours.
      if (opened?.project.closing?.aborted) return new Promise(() => {})
      await ended(observed, context)
      return answer
    },
    get hooks() {
      return state.now.hooks
    },
    again() {
      if (!state.now.opened) state.now = works()
    },
    event(event: Event, stopped = false) {
      const { opened } = state.now
      // Asked each time: a tree that was given back gets a new ear with its next child.
      const ear = earAt(input.directory)
      ear.hear(event)
      if (stopped && event.type === "message.part.updated") ear.stops.add(event.properties.part.sessionID)
      if (!opened) return
      if (event.type === "permission.asked") answerAsked(opened.engine, asking, event.properties)
      if (event.type === "permission.replied") answeredThere(event.properties)
      // What a child had said before its pass began is none of its doing in this one.
      if (ear.past(event)) return
      for (const item of hear(event, ear.author)) {
        opened.engine.hear(item)
        if (item.type === "answered") opened.answered(item)
      }
    },
    dispose: async () => {
      unlisten()
      await state.now.opened?.close()
      silence(log)
    },
  }
}
