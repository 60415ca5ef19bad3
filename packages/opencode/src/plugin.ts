import type { PluginInput, ToolDefinition } from "@opencode-ai/plugin"
import type { Event } from "@opencode-ai/sdk/v2"
import { join } from "node:path"
import { ORIGINATORS, type Mode } from "./agent/agent"
import { register, type HostConfig } from "./agent/register"
import { redirectMentions } from "./agent/mention"
import { resolveAudit, type Written } from "./pass-over/domain/config"
import { originates } from "./pass-over/domain/policy"
import { createConfigFiles, projectFile } from "./pass-over/store/config-file"
import { appendLines } from "./pass-over/store/audit-file"
import { delivered } from "./pass-over/service/deliver"
import type { Engine, Project } from "./pass-over/service/engine"
import type { Log } from "./pass-over/service/port"
import { resume } from "./pass-over/service/recover"
import { alive } from "./identity"
import { globalConfigPath, runtime } from "./runtime"
import { connect, type Client } from "./session/client"
import { hear } from "./session/events"
import { createHost } from "./session/host"
import { createObserved } from "./session/observed"
import { childRules } from "./session/rules"
import type { Tool } from "./tool/answer"
import { passOverTool } from "./tool/pass-over"
import { passOverReadTool } from "./tool/pass-over-read"
import { passOverReturnTool } from "./tool/pass-over-return"
import { brokenTools } from "./tool/broken"

type Input = Pick<PluginInput, "client" | "directory" | "worktree" | "serverUrl">

// opencode's log and a toast: fire and forget, because the instance waits for this plugin and must not be waited for.
function createLog(client: Client): Log {
  return (level, message, detail) => {
    client.app.log({ service: "pass-over", level, message, ...(detail ? { extra: detail } : {}) }).catch(() => {})
  }
}

/** One clear line for the user, once the program around us can show it. */
function tell(client: Client, log: Log, message: string) {
  log("warn", message)
  setTimeout(() => {
    client.tui.showToast({ title: "Pass Over", message, variant: "warning", duration: 10_000 }).catch(() => {})
  }, 1_000).unref()
}

const definition = (tool: Tool): ToolDefinition => ({
  description: tool.description,
  // What we put here becomes a JSON schema with every property required; `define` puts the true one in its place.
  args: {},
  execute: (args, context) => tool.execute(args, context),
})

const stored = async (engine: Engine, directory: string): Promise<Written> => ({
  origin: "stored",
  path: "the stored preferences",
  preferences: await engine.store.preferences(directory),
})

// The instance waits for this plugin; what needs the instance has to wait for it in turn.
const later = (run: () => void) => void setTimeout(run, 300).unref()

/** Everything that one opencode instance gets from us. Nothing in here waits for the instance. */
export function createPlugin(input: Input) {
  const client = connect(input)
  const log = createLog(client)
  const observed = createObserved()
  const files = createConfigFiles({
    project: () => projectFile(input.directory, input.worktree),
    global: globalConfigPath(),
    warn: (message) => tell(client, log, message),
  })
  const passOver = runtime(log)
  if (!passOver.ok) tell(client, log, passOver.problem)
  if (passOver.ok) later(() => void passOver.keeper.recovered.then(() => resume(passOver.engine, project, alive)))

  const project: Project = {
    directory: input.directory,
    host: createHost({ client, directory: input.directory, observed, rules: childRules }),
    written: async () =>
      passOver.ok ? [await stored(passOver.engine, input.directory), ...files.read()] : files.read(),
    logged: (session_id) => void (passOver.ok && flush(passOver.engine, session_id)),
  }

  function flush(engine: Engine, session_id: string) {
    try {
      const audit = resolveAudit(files.read())
      if (!audit.log_all_passes) return
      const folder = join(input.directory, audit.log_directory)
      engine.store
        .flushAudit(session_id, (lines) => appendLines(folder, lines))
        .catch((error: unknown) => log("warn", "the audit log could not be written", { folder, error: String(error) }))
    } catch (error) {
      log("warn", "the audit log waits for a valid configuration", { error: String(error) })
    }
  }

  const tools: Record<string, Tool> = passOver.ok
    ? {
        pass_over: passOverTool(passOver.engine, project),
        pass_over_read: passOverReadTool(passOver.engine, project),
        pass_over_return: passOverReturnTool(passOver.engine),
      }
    : brokenTools(passOver.problem, log)

  let originators: ReadonlySet<string> = new Set(ORIGINATORS)
  const isOriginator = (name: string, mode: Mode) => {
    try {
      return originates({ name, mode }, ORIGINATORS, files.read())
    } catch {
      // A broken configuration refuses passes with its own sentence; who sees the tools does not depend on it.
      return originates({ name, mode }, ORIGINATORS, [])
    }
  }

  return {
    config(config: HostConfig) {
      originators = register(config, isOriginator)
    },
    tools: Object.fromEntries(Object.values(tools).map((tool) => [tool.name, definition(tool)])),
    define(toolID: string, output: { jsonSchema?: unknown }) {
      const tool = tools[toolID]
      if (tool) output.jsonSchema = tool.parameters
    },
    message: redirectMentions((name) => originators.has(name)),
    event(event: Event) {
      observed.hear(event)
      if (!passOver.ok) return
      for (const item of hear(event)) {
        passOver.engine.hear(item)
        if (item.type === "answered") void answered(passOver.engine, project, item, log)
      }
    },
    async dispose() {
      if (passOver.ok && passOver.engine.running.all().length === 0) await passOver.keeper.leave()
    },
  }
}

type Answered = { session_id: string; call_id: string; message_id: string }

async function answered(engine: Engine, project: Project, { session_id, call_id, message_id }: Answered, log: Log) {
  try {
    const pass = await engine.store.byCall(session_id, call_id)
    if (pass?.wait) await delivered(engine, project, pass.id, message_id)
  } catch (error) {
    log("warn", "a delivery could not be recorded", { session_id, call_id, error: String(error) })
  }
}
