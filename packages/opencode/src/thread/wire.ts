/** What opencode's thread and the engine's ask of one another. All of it is JSON: there is nothing faster between them. */
import type { ToolResult } from "@opencode-ai/plugin"
import { createBirpc, type BirpcReturn } from "birpc"
import type { Mode } from "../agent/agent"
import type { Call, Said } from "../core-port"
import type { Home } from "../session/home"
import type { First } from "../session/nursery"
import type { Heard } from "./outbox"

/** An opencode instance, by its number in its process. */
export type Opening = {
  instance: number
  directory: string
  worktree: string
  url: string
  headers: [string, string][]
  /** Whether opencode is reached through its own thread, because it listens nowhere. */
  inside: boolean
  /** By which names threads of this process owned passes that have ended since. */
  buried: readonly string[]
  /** The project that its directory stands for, where a thread before this one has made a tree of it. */
  home: Home | undefined
}

export type Asked = { url: string; method: string; headers: [string, string][]; body: string }
export type Replied = { status: number; headers: [string, string][]; body: string }

/** As much of a tool call's context as is ever read. */
export type Context = {
  call: number
  sessionID: string
  messageID: string
  agent: string
  directory: string
  worktree: string
  callID?: unknown
  extra?: unknown
  messages?: unknown
}

export type Question = { permission: string; patterns: string[]; always: string[]; metadata: Record<string, unknown> }

/** The engine's thread, as opencode's sees it. */
export type Far = {
  /**
   * Tells whether there is an engine behind it: without one there is nothing to do around tool calls. Where there was none
   * it is tried again.
   */
  open(opening: Opening): { hooks: boolean; owners: string[] }
  close(instance: number): Promise<void>
  originators(instance: number, agents: readonly (readonly [string, Mode])[]): Promise<string[]>
  execute(instance: number, name: string, args: unknown, context: Context): Promise<ToolResult>
  abort(call: number): void
  /** What opencode has said, in that order. */
  hear(instance: number, all: readonly Heard[]): void
  before(instance: number, call: Call, args: unknown): Promise<Record<string, unknown> | undefined>
  after(instance: number, call: Call & { args: unknown }, said?: Said): Promise<string | undefined>
  shell(instance: number, of: { sessionID?: string }, env: { BASH_ENV?: string }): Promise<Record<string, string>>
  compacting(instance: number, of: { sessionID: string }): Promise<string[]>
}

/** opencode's thread, as the engine's sees it. */
export type Near = {
  fetch(instance: number, asked: Asked): Promise<Replied>
  /** Makes a child's session, which is given its first words as soon as it is there. */
  make(create: Asked, first: First): Promise<Replied>
  /** A child is bound, and its model may be asked; comes with how its first prompt ended, where one was sent. */
  rest(session_id: string): Promise<Replied | undefined>
  ask(call: number, question: Question): Promise<void>
  /** Nothing is asked for a call any more. */
  over(call: number): void
  tree(directory: string, home: Home): void
  trouble(what: string): void
  /** Comes as soon as opencode's thread has nothing to do. */
  idle(): Promise<void>
  quit(): void
}

/** One end of what lies between two threads. */
export type End = { post(message: string): void; listen(heard: (message: string) => void): void }

type Message = { e?: unknown }

const worded = (error: unknown) => (error instanceof Error ? error.message : String(error))

function read(text: string): unknown {
  const message = JSON.parse(text) as { e?: string }
  return message.e === undefined ? message : { ...message, e: new Error(message.e) }
}

/** An error arrives as its sentence: what stands behind it means nothing in another thread. */
const write = (message: Message) => JSON.stringify("e" in message ? { ...message, e: worded(message.e) } : message)

export function wire<There extends object, Here extends object>(end: End, here: Here): BirpcReturn<There, Here> {
  return createBirpc<There, Here>(here, {
    post: (text: string) => end.post(text),
    // What it gives back would be waited for by the first call, behind which all others would get ahead of it.
    on: (heard: (text: string) => void) => {
      end.listen(heard)
    },
    serialize: write,
    deserialize: read,
    // A pass takes as long as its deadline allows.
    timeout: -1,
  })
}
