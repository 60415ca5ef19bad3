import { relative, resolve } from "node:path"
import { reminder } from "./pass-over/domain/brief"
import type { Pass } from "./pass-over/domain/pass"
import { memoryOf } from "./pass-over/domain/policy"
import { shortage, shortageLine } from "./pass-over/domain/shortage"
import { SHELLS } from "./pass-over/domain/tool"
import { inTree } from "./pass-over/service/change/place"
import { noteWrites } from "./pass-over/service/change/record"
import type { Engine } from "./pass-over/service/engine"
import type { Workspace } from "./pass-over/service/port-workspace"
import { against } from "./pass-over/service/right"
import { dataFolder } from "./paths"
import { memoryLimit } from "./session/memory"
import { STANDBY } from "./standby/name"

type Call = { tool: string; sessionID: string; callID: string }
type Said = { output?: unknown; metadata?: unknown }

const given = (args: unknown): Record<string, unknown> => (typeof args === "object" && args !== null ? { ...args } : {})

const recorded = (call: Call, args: Record<string, unknown>) => ({
  call_id: call.callID,
  tool: call.tool,
  session_id: call.sessionID,
  args,
})

/** The host reads these very arguments afterwards. */
function moved(args: unknown, workspace: Workspace | undefined) {
  if (!workspace || typeof args !== "object" || args === null) return
  Object.assign(args, inTree(args, workspace))
}

/** A child cannot know of a limit that nobody has told it of: where one of its commands meets it, that is said. */
function explain(pass: Pass, args: Record<string, unknown>, said: Said) {
  const limit = memoryOf(pass)
  const { exit } = given(said.metadata)
  if (!limit || typeof exit !== "number" || typeof said.output !== "string") return
  const found = shortage({ command: String(args.command), exit, output: said.output })
  if (found) said.output = `${said.output.trimEnd()}\n\n${shortageLine(found, limit)}`
}

/** What we do around the tool calls of children. */
export function createHooks(engine: Engine, { directory, worktree }: { directory: string; worktree: string }) {
  const place = { directory, worktree, relative, resolve }
  return {
    /** Decides about a child's tool call before the host does: a user's "always" is stronger than its session rules. */
    async before(call: Call, args: unknown) {
      const entry = engine.running.entry(call.sessionID)
      if (!entry) return
      moved(args, entry.runner.workspace)
      const no = entry.rights && against(entry.rights, entry.runner.pass, { tool: call.tool, args: given(args), place })
      if (no !== undefined) throw new Error(no)
      await entry.runner.recorder?.before(recorded(call, given(args)))
    },
    /** What a call has changed is seen when it is over. What the host takes from `output` is what its agent reads. */
    async after(call: Call & { args: unknown }, output?: Said) {
      const args = given(call.args)
      noteWrites(recorded(call, args), directory, Date.now())
      const runner = engine.running.entry(call.sessionID)?.runner
      if (runner && output && SHELLS.includes(call.tool)) explain(runner.pass, args, output)
      await runner?.recorder?.after(recorded(call, args))
    },
    /** What a child's shell command runs under. */
    shell({ sessionID }: { sessionID?: string }, output: { env: Record<string, string> }) {
      const pass = sessionID === undefined ? undefined : engine.running.byChild(sessionID)?.pass
      // A script that the child runs can return for it.
      if (pass) output.env.PASS_OVER_ID = pass.id
      if (STANDBY !== undefined) output.env.OPENCODE_SERVER_PASSWORD = ""
      const limit = pass && memoryOf(pass)
      if (!limit) return
      Object.assign(output.env, memoryLimit(dataFolder(), limit.megabytes, output.env.BASH_ENV ?? process.env.BASH_ENV))
    },
    /** A child that is compacted must not forget what it was asked for. */
    compacting({ sessionID }: { sessionID: string }, output: { context: string[] }) {
      const pass = engine.running.byChild(sessionID)?.pass
      if (pass) output.context.push(reminder(pass))
    },
  }
}
