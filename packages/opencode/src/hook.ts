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

/** The arguments as they have to be for a child that works in a tree. */
function moved(args: Record<string, unknown>, workspace: Workspace | undefined) {
  return workspace ? { ...args, ...inTree(args, workspace) } : undefined
}

/** A child cannot know of a limit that nobody has told it of: where one of its commands meets it, that is said. */
function explained(pass: Pass, args: Record<string, unknown>, { output, metadata }: Said): string | undefined {
  const limit = memoryOf(pass)
  const { exit } = given(metadata)
  if (!limit || typeof exit !== "number" || typeof output !== "string") return undefined
  const found = shortage({ command: String(args.command), exit, output })
  return found && `${output.trimEnd()}\n\n${shortageLine(found, limit)}`
}

/** What we do around the tool calls of children. */
export function createHooks(engine: Engine, { directory, worktree }: { directory: string; worktree: string }) {
  const place = { directory, worktree, relative, resolve }
  return {
    /**
     * Decides about a child's tool call before the host does: a user's "always" is stronger than its session rules. Gives
     * back the arguments that the host has to take, where those are others.
     */
    async before(call: Call, args: unknown): Promise<Record<string, unknown> | undefined> {
      const entry = engine.running.entry(call.sessionID)
      if (!entry) return undefined
      const other = moved(given(args), entry.runner.workspace)
      const taken = other ?? given(args)
      const no = entry.rights && against(entry.rights, entry.runner.pass, { tool: call.tool, args: taken, place })
      if (no !== undefined) throw new Error(no)
      await entry.runner.recorder?.before(recorded(call, taken))
      return other
    },
    /** What a call has changed is seen when it is over. Gives back what its agent is to read instead of what it said. */
    async after(call: Call & { args: unknown }, said?: Said): Promise<string | undefined> {
      const args = given(call.args)
      noteWrites(recorded(call, args), directory, Date.now())
      const runner = engine.running.entry(call.sessionID)?.runner
      const told = runner && said && SHELLS.includes(call.tool) ? explained(runner.pass, args, said) : undefined
      await runner?.recorder?.after(recorded(call, args))
      return told
    },
    /** What a child's shell command runs under, besides what it would run under anyway. */
    async shell({ sessionID }: { sessionID?: string }, env: { BASH_ENV?: string | undefined }) {
      const pass = sessionID === undefined ? undefined : engine.running.byChild(sessionID)?.pass
      const limit = pass && memoryOf(pass)
      return {
        // A script that the child runs can return for it.
        ...(pass ? { PASS_OVER_ID: pass.id } : {}),
        ...(STANDBY === undefined ? {} : { OPENCODE_SERVER_PASSWORD: "" }),
        ...(limit ? memoryLimit(dataFolder(), limit.megabytes, env.BASH_ENV ?? process.env.BASH_ENV) : {}),
      }
    },
    /** A child that is compacted must not forget what it was asked for. */
    async compacting({ sessionID }: { sessionID: string }): Promise<string[]> {
      const pass = engine.running.byChild(sessionID)?.pass
      return pass ? [reminder(pass)] : []
    },
  }
}
