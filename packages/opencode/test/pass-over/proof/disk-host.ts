import { appendFileSync, readFileSync } from "node:fs"
import type { ContextMessage, MessagePart } from "../../../src/pass-over/domain/context"
import { createScriptedHost, type Child, type ScriptedHost, type ScriptedHostOptions } from "../support/scripted-host"

/** What a host keeps on its disk, and what the two ends of a pass were told, in the order in which it happened. */
export type Line =
  | { kind: "message"; session_id: string; message: ContextMessage }
  | { kind: "delivered"; message_id: string; pass_over_id: string }
  | { kind: "answered"; pass_over_id: string }
  | { kind: "staged"; session_id: string }
  | { kind: "told"; pass_over_id: string; status: string; error_code: string | null }

export type Disk = { lines(): Line[]; keep(line: Line): void }

/** One line for each thing that happened. What was written stays when the process is killed. */
export function createDisk(path: string): Disk {
  const read = () => {
    try {
      return readFileSync(path, "utf8")
    } catch {
      return ""
    }
  }
  return {
    lines: () =>
      read()
        .split("\n")
        .filter(Boolean)
        .map((line): Line => JSON.parse(line)),
    keep: (line) => appendFileSync(path, `${JSON.stringify(line)}\n`),
  }
}

const part = (id: string, agent_name: string, rest: Omit<MessagePart, "id">): ContextMessage => ({
  id: `msg_${id}`,
  role: "assistant",
  agent_name,
  timestamp: 0,
  parts: [{ id: `prt_${id}`, ...rest }],
})

/** The message in which a tool call has its answer. */
export const callMessage = (agent: string, call_id: string, tool_name: string, tool_output = ""): ContextMessage =>
  part(call_id, agent, { type: "tool", tool_name, call_id, tool_status: "completed", tool_input: {}, tool_output })

/** A scripted host that outlives its process, as opencode does: its sessions lie in a file. */
export function createDiskHost(disk: Disk, options: ScriptedHostOptions): ScriptedHost {
  const host = createScriptedHost(options)
  const messages = (session_id: string) =>
    disk.lines().flatMap((line) => (line.kind === "message" && line.session_id === session_id ? [line.message] : []))
  return {
    ...host,
    messages: async (session_id) => messages(session_id),
    hasMessage: async (_session_id, message_id) =>
      disk.lines().some((line) => line.kind === "delivered" && line.message_id === message_id),
    deliver: async ({ message_id, of }) => {
      disk.keep({ kind: "delivered", message_id, pass_over_id: of })
      return "sent"
    },
    // A session of a process that is gone has nothing left to stop.
    stop: (session_id) => host.stop(session_id).catch(() => {}),
    close: (session_id, text, metadata) => host.close(session_id, text, metadata).catch(() => {}),
  }
}

let calls = 0

/** A tool call of a child: the host keeps it before anybody hears of it. */
export function keepTool(disk: Disk, child: Child, tool_name: string, tool_output: string) {
  const call_id = `call_${child.session_id}_${++calls}`
  const message = callMessage(child.prompt.agent, call_id, tool_name, tool_output)
  disk.keep({ kind: "message", session_id: child.session_id, message })
  child.tool(tool_name, {}, tool_output)
}
