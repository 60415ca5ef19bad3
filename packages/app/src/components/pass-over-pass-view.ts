import type { WorkArtifact } from "../../../opencode/src/pass-over/domain/artifact"
import type { AuditLine } from "../../../opencode/src/pass-over/domain/audit-log"
import type { Manifest } from "../../../opencode/src/pass-over/domain/manifest"
import type { StoredEvent } from "../../../opencode/src/pass-over/service/port"
import { WORDS } from "../lib/words"

export const TABS = ["outcome", "changes", "work", "context", "request", "timeline"] as const
export type Tab = (typeof TABS)[number]

/** The tab that an address names, or the one that has most to say. */
export function tabOf(name: string | undefined, ended: boolean): Tab {
  const known = TABS.find((tab) => tab === name)
  return known ?? (ended ? "outcome" : "work")
}

type Of<T extends WorkArtifact["type"]> = Extract<WorkArtifact, { type: T }>

const RANK = { error: 0, warning: 1, info: 2 } as const

/** What a pass brought back, sorted by what a reader does with it. */
export function sorted(artifacts: readonly WorkArtifact[]) {
  const of = <T extends WorkArtifact["type"]>(type: T) =>
    artifacts.filter((artifact): artifact is Of<T> => artifact.type === type)
  return {
    findings: of("finding").toSorted((a, b) => RANK[a.severity] - RANK[b.severity]),
    changes: of("file_modification"),
    decisions: of("decision"),
    messages: of("message"),
    tools: of("tool_result"),
  }
}

/** "src/total.ts:12:3", as editors understand it. */
export function placeOf(location: Of<"finding">["location"]): string {
  if (!location) return ""
  const { path, line, column } = location
  return [path, line, line === undefined ? undefined : column].filter((part) => part !== undefined).join(":")
}

/** One tool that a child has used, seen while it runs or read from the outcome. */
export type Use = { tool: string; failed: boolean; input: string; output: string; at: number | undefined }

const text = (value: unknown) => (typeof value === "string" ? value : "")

const pretty = (input: string) => {
  try {
    return JSON.stringify(JSON.parse(input), undefined, 2)
  } catch {
    return input
  }
}

/** What a child did, in order. What was seen happening has its time; the outcome has it whole, and so goes first. */
export function uses(events: readonly StoredEvent[], tools: readonly Of<"tool_result">[]): Use[] {
  const seen = events.filter((event) => event.type === "pass.artifact")
  if (tools.length >= seen.length) {
    return tools.map((tool, index) => ({
      tool: tool.tool_name,
      failed: tool.status === "error",
      input: JSON.stringify(tool.input, undefined, 2),
      output: tool.output,
      at: seen[index]?.data.tool === tool.tool_name ? seen[index]?.at : undefined,
    }))
  }
  return seen.map(({ data, at }) => ({
    tool: text(data.tool),
    failed: data.failed === true,
    input: pretty(text(data.input)),
    output: text(data.output),
    at,
  }))
}

export type Step =
  | { type: "tool"; use: Use }
  | { type: "said"; text: string; internal: boolean }
  | { type: "decision"; question: string; answer: string; reasoning: string }

/**
 * What a child did and said, in the order in which it was kept. While it works that is what was seen of it, tool by
 * tool; once it is over, everything that was kept of its session.
 */
export function transcript(events: readonly StoredEvent[], artifacts: readonly WorkArtifact[]) {
  const tools = uses(events, sorted(artifacts).tools)
  if (artifacts.length === 0) return { kept: false, steps: tools.map((use): Step => ({ type: "tool", use })) }
  const rest = [...tools]
  const steps = artifacts.flatMap((artifact): Step[] => {
    if (artifact.type === "tool_result") return rest.splice(0, 1).map((use) => ({ type: "tool", use }))
    if (artifact.type === "message")
      return [{ type: "said", text: artifact.content, internal: artifact.role === "internal" }]
    if (artifact.type !== "decision") return []
    const { question, answer, reasoning } = artifact
    return [{ type: "decision", question, answer, reasoning }]
  })
  // What was seen and not kept stands behind it.
  return { kept: true, steps: [...steps, ...rest.map((use): Step => ({ type: "tool", use }))] }
}

/** One line to know a tool call by: what it was called with that says most. */
export function useLine({ input }: Use): string {
  try {
    const given: unknown = JSON.parse(input)
    if (typeof given !== "object" || given === null) return input.slice(0, 120)
    const values = Object.values(given).filter((value): value is string => typeof value === "string" && value !== "")
    return (values[0] ?? "").replaceAll(/\s+/g, " ").slice(0, 120)
  } catch {
    return input.replaceAll(/\s+/g, " ").slice(0, 120)
  }
}

export type Moment = { at: number; what: string; detail: string; by: string }

const detailOf = ({ type, data }: StoredEvent): string => {
  if (type === "pass.artifact") return text(data.tool)
  if (type === "pass.message") return text(data.text)
  if (type === "gate.asked") return text(data.question)
  if (type === "gate.answered") return text(data.verdict)
  return [text(data.kind), text(data.code) || text(data.error_code)].filter(Boolean).join(" ")
}

/** Everything that happened to a pass, in order; audit lines say who did it, events say the rest. */
export function timeline(events: readonly StoredEvent[], audit: readonly AuditLine[]): Moment[] {
  const actors = new Map(audit.map((line) => [`pass.${line.action}`, line]))
  const tools = events.filter((event) => event.type === "pass.artifact").length
  return events
    .filter((event) => event.type !== "pass.artifact" || tools <= 30)
    .map((event) => {
      const line = actors.get(event.type)
      return {
        at: event.at,
        what: WORDS.event[event.type] ?? event.type,
        detail: detailOf(event),
        by: text(event.data.actor) || (line && !line.actor.startsWith("own_") ? line.actor : ""),
      }
    })
}

/** A manifest with what went along first, and within that the largest. */
export function manifestRows(manifest: Manifest) {
  const rank = { whole: 0, part: 0, none: 1 } as const
  return manifest.items.toSorted((a, b) => rank[a.taken] - rank[b.taken] || b.tokens - a.tokens)
}

export type DiffLine = { sign: " " | "-" | "+"; text: string }

const MOST = 4_000

/** Two texts as lines that stay, go and come: common head and tail aside, what was and then what shall be. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before === "" ? [] : before.split("\n"), after === "" ? [] : after.split("\n")]
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail])
    tail += 1
  const around = 3
  const line =
    (sign: DiffLine["sign"]) =>
    (text: string): DiffLine => ({ sign, text })
  return [
    ...a.slice(Math.max(0, head - around), head).map(line(" ")),
    ...a.slice(head, a.length - tail).map(line("-")),
    ...b.slice(head, b.length - tail).map(line("+")),
    ...a.slice(a.length - tail, a.length - tail + around).map(line(" ")),
  ].slice(0, MOST)
}
