import type { AgentInfo } from "../domain/agent"
import type { ContextFile, ContextMessage, Todo } from "../domain/context"
import type { AgentID, SessionID } from "../domain/id"
import type { Pass } from "../domain/pass"
import type { Failure } from "../domain/retry"
import type { Rule } from "../domain/right"
import type { Turn } from "../domain/circle"
import type { Usage } from "../domain/run"
import type { Said } from "../domain/transcript"

import type { AttemptKind } from "./port"

/** Somebody's start, from the wish for a child session until its model has begun to answer. */
export type StartTurn = { over(): void }

export type ChildSpec = {
  pass: Pass
  title: string
  /** Its turn to start, which the host takes back when its model answers. */
  turn?: StartTurn | undefined
  /** Where it works, where that is not the project itself. */
  directory?: string | undefined
  /** What its session adds to the rules of its agent. */
  rules: readonly Rule[]
  /** Its first words, which a host may send along with its session; its model is asked for nothing before `prompt`. */
  opening?: string
}

export type Prompt = {
  session_id: SessionID
  kind: AttemptKind
  agent: AgentID
  text: string
  model: string | null
}

/** How a child's loop came to rest: quietly, or with a failure. */
export type Rest = { failure?: Failure; session_gone?: boolean }

/** What the originator sees of a running pass in its own tool call. */
export type Progress = {
  title: string
  lines: Record<string, string | number | boolean | null>
  /** The pass that is looked at, where it is one. */
  pass?: Pass
}

/** A tool call that runs in an originator's session. */
export type ToolCall = Pick<Pass, "session_id" | "call_id">

export type Nearby = { named: string[]; changed: string[] }

/** What the core needs from the program in which the agents live. */
export type Host = {
  agents(): Promise<AgentInfo[]>
  messages(session_id: SessionID): Promise<ContextMessage[]>
  todos(session_id: SessionID): Promise<Todo[]>
  /** One for each path, in order. What is ignored has no content where nobody asked for it by name (`found`). */
  files(paths: readonly string[], directory: string, found?: readonly string[]): Promise<ContextFile[]>
  /** Files of a project that have one of these names, and those that were changed and not committed. */
  nearby?(ask: { names: readonly string[]; changed: boolean }, directory: string): Promise<Nearby>
  /** What the user's small model says to a prompt; it throws where there is no model. */
  generate?(input: { prompt: string; max_tokens: number }): Promise<string>
  /** What a session itself adds to the rules of its agent. */
  sessionRules(session_id: SessionID): Promise<Rule[]>
  /** Where a session works; nothing where there is no such session, or none any more. */
  directoryOf(session_id: SessionID): Promise<string | undefined>
  /** The session at the top of a session's tree: questions of its direct children reach the user. */
  root(session_id: SessionID): Promise<SessionID>
  /** A turn to start another child; it takes its time where many want to start. */
  startTurn?(): StartTurn | Promise<StartTurn>
  child(spec: ChildSpec): Promise<SessionID>
  /** Makes a child's session ready for another pass. Its rules are added behind those that it has, so that they hold. */
  resume(spec: ChildSpec & { session_id: SessionID }): Promise<void>
  /** A session of its own, for what nobody asked for in a session. */
  session(title: string): Promise<SessionID>
  /** Runs a child until its loop comes to rest. It does not throw: a failure is a value. */
  prompt(input: Prompt): Promise<Rest>
  stop(session_id: SessionID): Promise<void>
  /** Leaves only the return open to a child. */
  onlyReturn(session_id: SessionID): Promise<void>
  /** Closes a child's transcript with a line of ours. */
  close(session_id: SessionID, text: string, metadata: Record<string, unknown>): Promise<void>
  progress(call: ToolCall, progress: Progress): Promise<void>
  /** Comes when the host has time for what nobody waits for, and after so long in any case. */
  calm?(most_ms: number): Promise<void>
  /** Tells the user something, where they look just now. */
  notify(message: { text: string; issues: boolean }): Promise<void>
  /** Takes a question of ours off the host's screen: it was answered elsewhere. */
  dismiss(session_id: SessionID, permission: string): Promise<void>
  /** The question that was said no to a moment ago: the host takes every other one of the session with it. */
  refused(session_id: SessionID): Promise<Refused | undefined>
  /** Says something to a running child; it hears it at its next boundary. */
  say(session_id: SessionID, text: string, as: Pick<Pass, "subagent_id" | "model">): Promise<void>
  /** An id for the message that brings a result: of the host's form, and to be recognised as that of this pass or run. */
  messageID(of: string): string
  hasMessage(session_id: SessionID, message_id: string): Promise<boolean>
  /** Whether its user has taken back a part of it: what is said there now makes that final. */
  undone(session_id: SessionID): Promise<boolean>
  /** Writes a result into a session, for the agent and model that are in use there now. */
  deliver(message: ResultMessage): Promise<"sent" | "gone">
}

export type Refused = { permission: string; patterns: readonly string[] }

export type ResultMessage = {
  session_id: SessionID
  message_id: string
  text: string
  /** Whether the model goes on at once, or when the user speaks next. */
  start: boolean
  /** The pass or the run that it tells of. */
  of: string
  /** Marks for whoever reads the session later. */
  metadata: Record<string, unknown>
}

/** What the host tells about a session that a pass runs in. */
export type HostEvent =
  | { type: "activity"; session_id: SessionID; tool?: { name: string; status: string; call_id: string } }
  | { type: "step"; session_id: SessionID; usage: Usage }
  /** A tool call that has its answer. */
  | { type: "turn"; session_id: SessionID; turn: Turn }
  /** Words that are whole: of the child, or to it. */
  | { type: "said"; session_id: SessionID; said: Said }
  /** A session of ours is no more, by somebody's hand. */
  | { type: "deleted"; session_id: SessionID }
  /** The provider asked for patience, in these words: the host tries again at this time. */
  | { type: "retry"; session_id: SessionID; until: number; message: string }
  | { type: "waiting"; session_id: SessionID; request_id: string; open: boolean; what: string }
  /** The originator's tool call has its answer stored. */
  | { type: "answered"; session_id: SessionID; call_id: string; message_id: string }
