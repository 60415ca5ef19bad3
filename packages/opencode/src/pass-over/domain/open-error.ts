import type { ContextError, ContextMessage, MessagePart } from "./context"
import { clip, clipStart } from "./clip"
import { patched } from "./patch"
import { SHELLS } from "./tool"

const MOST = 10
const MOST_COMMANDS = 5
// A command that ended badly longer ago than this many calls is left behind, not open.
const RECENT = 50
const LENGTH = 400
const CONTEXT = 200

/** The end of what a command said: that is where it says what is wrong. */
const tail = (value: string) => clipStart(value, LENGTH)

const calm = (command: string) =>
  command
    .trim()
    .replaceAll(/\s+/g, " ")
    .replace(/ 2>&1$/, "")

const text = (value: unknown) => (typeof value === "string" ? value : "")

/** What a call is about, in words. */
function subject({ tool_name, tool_input: input = {} }: MessagePart): string {
  const about = input.command ?? input.filePath ?? input.path ?? input.pattern ?? input.url ?? input.query
  const files = patched(text(input.patchText)).join(", ")
  return clip(`${tool_name} ${calm(text(about)) || files}`.trim(), CONTEXT)
}

/**
 * What makes a call a second try of an earlier one: the same command, the same file that is to be changed or read, else
 * the same arguments.
 */
function attempt({ tool_name, tool_input: input = {} }: MessagePart): string {
  const command = calm(text(input.command))
  const files = [text(input.filePath), ...patched(text(input.patchText))].filter((path) => path !== "")
  return `${tool_name} ${command || files.join("\n") || JSON.stringify(input)}`
}

// With exit code 1 these answer a question: nothing was found, or it is not the same.
const ASKS =
  /^(?:(?:[efz]|zip)?grep|rg|ag|diff|cmp|test|\[\[?|which|type|command -v|pgrep|pidof|git (?:grep|diff|merge-base|check-ignore)|systemctl is-\S+)(?:\s|$)/
const QUIET = /^(?:cd|echo|printf|true|export|set|source|\.)(?:\s|$)/
const BEFORE = /^(?:!\s|\w+=\S*\s|(?:sudo|command(?! -v)|time|nice)\s)+/

const SILENT = /^(?:\(no output\))?$/

/** Whether an exit code of 1 may be no more than the answer to a question that the command asks. */
function asks(command: string, output: string): boolean {
  const bare = command.replaceAll(/'[^']*'|"[^"]*"/g, '""')
  const last = bare.split(/[;\n]/).findLast((one) => one.trim() !== "") ?? ""
  const ends = last.split(/&&|\|\|/).map((pipe) => (pipe.split("|").at(-1) ?? "").trim().replace(BEFORE, ""))
  if (!ends.some((end) => ASKS.test(end))) return false
  return SILENT.test(output.trim()) || ends.every((end) => ASKS.test(end) || QUIET.test(end))
}

const LATE = /terminated command after exceeding timeout/

/** How a call ended: with these words of failure, well, or so that nothing is known of it. */
function ended({ tool_name = "", tool_status, tool_input, tool_output = "", tool_error, metadata }: MessagePart) {
  if (tool_status === "error") return { failed: clip(tool_error ?? "failed", LENGTH) }
  if (tool_status !== "completed") return undefined
  // To the host a command that failed is a call that went well; how it ended stands beside it.
  if (!SHELLS.includes(tool_name) || metadata?.exit === 0 || metadata?.exit === undefined) return {}
  if (typeof metadata.exit !== "number") return LATE.test(tool_output) ? { failed: tail(tool_output) } : undefined
  const command = typeof tool_input?.command === "string" ? tool_input.command : ""
  if (metadata.exit === 1 && asks(command, tool_output)) return {}
  return { failed: `exit code ${metadata.exit}: ${tail(tool_output.trim())}` }
}

type Open = { error: ContextError; at: number; command: boolean }

/** Errors that stand: the last try of a call failed. The most recent ones, in order. */
export function openErrors(messages: readonly ContextMessage[]): ContextError[] {
  const open = new Map<string, Open>()
  let calls = 0
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.type !== "tool" || !part.tool_name) continue
    const end = ended(part)
    if (!end) continue
    calls += 1
    const key = attempt(part)
    open.delete(key)
    if (end.failed === undefined) continue
    const error = { type: part.tool_name, message: end.failed, context: subject(part) }
    open.set(key, { error, at: calls, command: part.tool_status === "completed" })
  }
  const all = [...open.values()].filter(({ at, command }) => !command || calls - at < RECENT)
  const commands = new Set(all.filter(({ command }) => command).slice(-MOST_COMMANDS))
  return all.flatMap((one) => (one.command && !commands.has(one) ? [] : [one.error])).slice(-MOST)
}
