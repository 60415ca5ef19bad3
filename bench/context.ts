/**
 * What goes along with a pass, out of a long session: the selection next to plain recency, the host's own reads
 * excluded.
 *
 *   bun bench/context.ts [messages] [files] [rounds]
 */
import { Glob } from "bun"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { ContextFile, ContextMessage } from "../packages/opencode/src/pass-over/domain/context"
import { contextText } from "../packages/opencode/src/pass-over/domain/brief"
import { SYSTEM, SHIPPED, type Effective } from "../packages/opencode/src/pass-over/domain/preference"
import { gather } from "../packages/opencode/src/pass-over/service/context"
import type { Host } from "../packages/opencode/src/pass-over/service/port-host"
import { tokens } from "../packages/opencode/src/session/tokens"
import { random } from "../packages/opencode/test/pass-over/support/agent-log"
import { quantile } from "./statistics"

const [messages = 10_000, files = 200, rounds = 20] = process.argv.slice(2).map(Number)

// What agents read and write all day: sources and documents, here our own.
const pool = [...new Glob("**/*.{ts,md,txt}").scanSync(join(import.meta.dir, "../packages/opencode/src"))]
  .toSorted()
  .map((path) => readFileSync(join(import.meta.dir, "../packages/opencode/src", path), "utf8"))
  .join("\n")

const piece = (draw: () => number, length: number) => {
  const from = Math.floor(draw() * (pool.length - length))
  return pool.slice(from, from + length)
}

/** A session as an agent leaves it: talk, and tool calls with answers of every length. */
function session(size: number): ContextMessage[] {
  const draw = random(7)
  return Array.from({ length: size }, (_, index): ContextMessage => {
    const said = { text: piece(draw, 2_000) }
    const id = `msg_${index}`
    const base = { id, timestamp: index * 1_000 }
    if (index % 50 === 0) {
      return {
        ...base,
        role: "user",
        parts: [{ id: `${id}_1`, type: "text", text: `Now look at file ${index}. ${said.text.slice(0, 200)}` }],
      }
    }
    if (draw() < 0.6) {
      const tool = {
        tool_name: draw() < 0.5 ? "bash" : "read",
        call_id: `call_${index}`,
        tool_status: "completed" as const,
      }
      const output = `${said.text.slice(0, Math.floor(2_000 * draw() ** 3))}\nline ${index}`
      return {
        ...base,
        role: "assistant",
        agent_name: "alice",
        parts: [{ id: `${id}_1`, type: "tool", ...tool, tool_input: { command: `run ${index}` }, tool_output: output }],
      }
    }
    return {
      ...base,
      role: "assistant",
      agent_name: "alice",
      parts: [{ id: `${id}_1`, type: "text", text: `${said.text.slice(0, 600)} ${index}` }],
    }
  })
}

const history = session(messages)
const sources: ContextFile[] = Array.from({ length: files }, (_, index) => {
  const content = `${piece(random(index), 4_600)}\n// ${index}`
  return {
    path: `src/file-${index}.ts`,
    content,
    metadata: { size_bytes: Buffer.byteLength(content), last_modified: 1, is_binary: false },
  }
})

const host = {
  messages: async () => history,
  todos: async () => [],
  files: async () => sources,
} as unknown as Host

const hash = (text: string) => createHash("sha256").update(text).digest("hex")
const preference: Effective = { ...SYSTEM, ...SHIPPED } as Effective
const wanted = {
  session_id: "ses_1",
  directory: "/project",
  objective:
    "Find out why the total in src/file-7.ts comes out wrong after line 4711, and which step of alice led to it.",
  files: sources.map(({ path }) => path),
  now: messages * 1_000,
}

const count = await tokens()
const characters = history.reduce((sum, { parts }) => sum + (parts[0]?.text ?? parts[0]?.tool_output ?? "").length, 0)
console.log(
  `${messages} messages of ${(characters / 1e6).toFixed(1)} MB, ${files} files of ${(sources.reduce((sum, { content }) => sum + (content?.length ?? 0), 0) / 1e6).toFixed(1)} MB`,
)

for (const context_selection of ["recency", "relevance"] as const) {
  const times: number[] = []
  Bun.gc(true)
  const before = process.memoryUsage()
  let top = 0
  let last
  for (let round = -3; round < rounds; round += 1) {
    const began = performance.now()
    last = await gather({ host, tokens, hash }, wanted, { ...preference, context_selection })
    if (round >= 0) times.push(performance.now() - began)
    top = Math.max(top, process.memoryUsage().rss)
  }
  if (!last) continue
  const whole = count(contextText(last.context, last.manifest))
  const taken = last.manifest.items.filter(({ taken }) => taken !== "none").length
  console.log(
    `${context_selection.padEnd(9)}  p50 ${quantile(times, 0.5).toFixed(0)} ms  p95 ${quantile(times, 0.95).toFixed(0)} ms  ` +
      `memory +${((top - before.rss) / 1e6).toFixed(0)} MB  ${last.manifest.items.length} accounted for, ${taken} went along, ` +
      `${whole.toLocaleString("en")} of ${last.manifest.max_tokens.toLocaleString("en")} tokens`,
  )
}
