import type { TranscriptItem } from "../pass-over/domain/transcript"
import { clean, oneLine } from "./clean"
import type { Output } from "./output"

const NAMES = { told: "was told", said: "said", thought: "thought" } as const

const INDENT = " ".repeat(10)
const CALL = 200

const clock = (at: number) => new Date(at).toISOString().slice(11, 19)

const left = (more: number) => (more > 0 ? [`… ${more.toLocaleString("en")} more characters`] : [])

function lines(item: TranscriptItem): string[] {
  if (item.kind !== "tool") return [...clean(item.text).trim().split("\n"), ...left(item.more)]
  const answer = oneLine(item.output).slice(0, CALL)
  return [oneLine(item.input).slice(0, CALL), ...(answer ? [`→ ${answer}`] : [])]
}

function head(item: TranscriptItem, agent: string): string {
  if (item.kind === "tool") return `called ${oneLine(item.tool)}${item.failed ? ", which failed" : ""}`
  const who = item.kind !== "told" && item.agent && item.agent !== agent ? `${oneLine(item.agent)} ` : ""
  return who + NAMES[item.kind]
}

/** What a child was told, said and did, for a person at a terminal. */
export function printTranscript(out: Output, items: readonly TranscriptItem[], agent: string) {
  for (const item of items) {
    out.line()
    out.line(
      `${out.paint("dim", clock(item.at))}  ${out.paint(item.kind === "tool" && item.failed ? "red" : "bold", head(item, agent))}`,
    )
    for (const line of lines(item)) out.line(line === "" ? "" : INDENT + line)
  }
}
