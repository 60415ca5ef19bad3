import type { ToolContext, ToolResult } from "@opencode-ai/plugin"
import type { Event } from "@opencode-ai/sdk/v2"
import type { Mode } from "./agent/agent"

export type Call = { tool: string; sessionID: string; callID: string }
export type Said = { output?: unknown; metadata?: unknown }

/** What we do around the tool calls of children. */
export type CoreHooks = {
  before(call: Call, args: unknown): Promise<Record<string, unknown> | undefined>
  after(call: Call & { args: unknown }, said?: Said): Promise<string | undefined>
  shell(of: { sessionID?: string }, env: { BASH_ENV?: string | undefined }): Promise<Record<string, string>>
  compacting(of: { sessionID: string }): Promise<string[]>
}

/** Everything that one opencode instance gets from us, whichever thread it is in. */
export type Core = {
  /** Which of these agents may pass work on. */
  originators(agents: readonly (readonly [name: string, mode: Mode])[]): Promise<string[]>
  execute(name: string, args: unknown, context: ToolContext): Promise<ToolResult>
  readonly hooks: CoreHooks | undefined
  /** `stopped` where the child whose step has ended was told to stop already. */
  event(event: Event, stopped?: boolean): void
  /** Comes back when a session's model may be asked. */
  hold?(session_id: string): Promise<void>
  dispose(): Promise<void>
  /** Comes with the reason where all of it is gone, which no pass survives. */
  readonly lost?: Promise<string>
}
