export { findHost, type Host } from "./host"
export { createModel, ScenarioError, type Model } from "./model"
export { CLOSED_URL } from "./http"
export { eachSession, type EachSession, type Scenario, type Script } from "./scenario"
export {
  call,
  calls,
  hold,
  pause,
  repeat,
  reply,
  say,
  think,
  type Piece,
  type Repeat,
  type Reply,
  type ReplyOptions,
  type Respond,
  type Step,
  type Usage,
} from "./reply"
export { fault } from "./fault"
export { gate, type Gate } from "./gate"
export type { ChatMessage, ModelRequest, OfferedTool, ToolCall, ToolResult } from "./request"
export type { Filter, Outcome, Recorded, WaitOptions } from "./record"
export { createSandbox, openSandboxes, type Sandbox, type SandboxOptions } from "./sandbox"
export type { Json, PluginSpec } from "./config"
export type { ServeOptions, Server } from "./server"
export type { EventLog, Heard } from "./events"
export { prompt, unwrap, type Answer, type PromptInput } from "./prompt"
export type { RunEvent, RunOptions, RunResult } from "./run"
export type { Tui, TuiOptions } from "./tui"
export type { Process } from "./processes"
export { rehearse, type Rehearsal, type RehearseOptions } from "./rehearse"
