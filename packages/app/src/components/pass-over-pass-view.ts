import type { WorkArtifact } from "../../../opencode/src/pass-over/domain/artifact"
import type { AuditLine } from "../../../opencode/src/pass-over/domain/audit-log"
import type { Manifest } from "../../../opencode/src/pass-over/domain/manifest"
import { visible } from "../../../opencode/src/pass-over/domain/hidden"
import type { StoredEvent } from "../../../opencode/src/pass-over/service/port"
import { WORDS } from "../lib/words"
import { withEndings, type PatchLine } from "./pass-over-change-view"

export const TABS = ["outcome", "changes", "work", "context", "request", "timeline"] as const
export type Tab = (typeof TABS)[number]

/** The tab that an address names, or the one that has most to say. */
export function tabOf(name: string | undefined, ended: boolean): Tab {
  const known = TABS.find((tab) => tab === name)
  return known ?? (ended ? "outcome" : "work")
}

const MOST_TITLE = 60

/** An objective as the title of a tab of the browser: its beginning, on one line. */
export function titleOf(objective: string): string {
  const line = visible(objective.slice(0, 400)).replaceAll(/\s+/g, " ").trim()
  return line.length > MOST_TITLE ? `${line.slice(0, MOST_TITLE - 1).toWellFormed()}…` : line
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
    // What is internal is written for programs, and stands in the transcript.
    messages: of("message").filter(({ role }) => role === "assistant"),
    tools: of("tool_result"),
  }
}

/** So much of one message is read with an outcome; the rest of it stands in the transcript and in the session. */
const MOST_MESSAGE = 20_000

export const messageOf = ({ content, visibility }: Of<"message">) => ({
  text: content.slice(0, MOST_MESSAGE).toWellFormed(),
  left: Math.max(0, content.length - MOST_MESSAGE),
  /** Whom it was meant for, where that was not everybody. */
  to: visibility === "originator_only" ? WORDS.pass.noted : "",
})

/** Why a file is to change, and how sure whoever proposes it is. */
export const whyChanged = ({ reason, confidence }: Of<"file_modification">) =>
  [reason, WORDS.pass.confidence[confidence]].filter((text) => text.trim() !== "").join(" · ")

/** "src/total.ts:12:3", as editors understand it. */
export function placeOf(location: Of<"finding">["location"]): string {
  if (!location) return ""
  const { path, line, column } = location
  return [path, line, line === undefined ? undefined : column].filter((part) => part !== undefined).join(":")
}

const text = (value: unknown) => (typeof value === "string" ? value : "")

export type Moment = { at: number; what: string; detail: string; by: string }

const detailOf = ({ type, data }: StoredEvent): string => {
  if (type === "pass.artifact") return text(data.tool)
  if (type === "pass.message") return text(data.text)
  if (type === "gate.asked") return text(data.question)
  if (type === "gate.answered") return text(data.verdict)
  return [text(data.kind), text(data.code) || text(data.error_code)].filter(Boolean).join(" ")
}

/** More uses of tools than this would hide everything else; they stand in the transcript too. */
const MOST_TOOLS = 30

const toolsOf = (events: readonly StoredEvent[]) => events.filter(({ type }) => type === "pass.artifact").length

/** How much of what happened is not told. */
export const untold = ({ events, events_left }: { events: readonly StoredEvent[]; events_left: number }) =>
  events_left + (toolsOf(events) > MOST_TOOLS ? toolsOf(events) : 0)

/** Everything that happened to a pass, in order; audit lines say who did it, events say the rest. */
export function timeline(events: readonly StoredEvent[], audit: readonly AuditLine[]): Moment[] {
  const actors = new Map(audit.map((line) => [`pass.${line.action}`, line]))
  const tools = toolsOf(events)
  return events
    .filter((event) => event.type !== "pass.artifact" || tools <= MOST_TOOLS)
    .map((event) => {
      const line = actors.get(event.type)
      return {
        at: event.at,
        what: WORDS.event[event.type] ?? event.type,
        detail: detailOf(event),
        by: text(event.data.actor) || (line && !line.actor.startsWith("own_") ? line.actor : ""),
      }
    })
    .toSorted((a, b) => a.at - b.at)
}

/** A manifest with what went along first, and within that the largest. */
export function manifestRows(manifest: Manifest) {
  const rank = { whole: 0, part: 0, none: 1 } as const
  return manifest.items.toSorted((a, b) => rank[a.taken] - rank[b.taken] || b.tokens - a.tokens)
}

/** Two texts as lines that stay, go and come: common head and tail aside, what was and then what shall be. */
export function diffLines(before: string, after: string): PatchLine[] {
  const [a, b] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < a.length && head < b.length && same(a[head], b[head])) head += 1
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && same(a[a.length - 1 - tail], b[b.length - 1 - tail]))
    tail += 1
  const around = 3
  const line =
    (sign: PatchLine["sign"]) =>
    (of: TextLine): PatchLine => ({ sign, ...of, old: null, new: null })
  return withEndings([
    ...a.slice(Math.max(0, head - around), head).map(line(" ")),
    ...a.slice(head, a.length - tail).map(line("-")),
    ...b.slice(head, b.length - tail).map(line("+")),
    ...a.slice(a.length - tail, a.length - tail + around).map(line(" ")),
  ])
}

type TextLine = Pick<PatchLine, "text" | "bare">

const same = (a: TextLine | undefined, b: TextLine | undefined) => a?.text === b?.text && a?.bare === b?.bare

/** The lines of a text. A line break ends one and begins none. */
function linesOf(text: string): TextLine[] {
  const lines = text.split("\n")
  const last = lines.pop() ?? ""
  return [...lines.map((text) => ({ text, bare: false })), ...(last === "" ? [] : [{ text: last, bare: true }])]
}
