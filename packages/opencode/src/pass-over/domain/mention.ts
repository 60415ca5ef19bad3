import type { ContextMessage, MessagePart } from "./context"
import { WRITERS } from "./tool"

const TEXT = 20_000
const MOST = 40

// Looked for in one word at a time, and in none that is too long for a name: brackets can be read in many ways.
const BETWEEN = /[\s，。、；：！？「」『』《》（）]+/
const LONGEST = 300

// A name with a suffix, with or without folders before it; whole parts may stand in brackets, as routes do. Addresses are
// left out by what stands before them.
const PART = String.raw`(?:[\p{L}\p{M}\p{N}_@+.-]|\[{1,2}[^\s/[\]]{1,60}\]{1,2}|\([^\s/()]{1,60}\))+`
const FILE = String.raw`(?:[\p{L}\p{M}\p{N}_@+-]|\[{1,2}[^\s/[\]]{1,60}\]{1,2})[\p{L}\p{M}\p{N}_@+.-]*\.[A-Za-z][A-Za-z0-9]{0,9}`
const PATH = new RegExp(String.raw`(?<![\p{L}\p{N}_/.:@-])(?:\.{0,2}\/)?(?:${PART}\/)*${FILE}(?![\w/])`, "gu")
// Where no blanks stand between words, a name may follow one: "请看src/a.ts".
const JOINED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+(?=[\w.@])/u
const NOT_A_FILE = /^(?:e\.g|i\.e|etc|vs|node\.js|next\.js|vue\.js|[^/]+@[^/]+)$/i
const CHANGES =
  /\bdiff\b|\buncommitted\b|\bunstaged\b|\bstaged\b|\bworking (?:tree|copy)\b|\b(?:my|the|these|our|recent|local|latest) changes\b|\bchanged files\b|\bpull request\b/i

/** Paths and names of files that a text speaks of, in order. */
export function mentioned(text: string): string[] {
  const words = text.slice(0, TEXT).split(BETWEEN)
  const found = words.flatMap((word) => (word.length <= LONGEST ? (word.match(PATH) ?? []) : []))
  const names = found
    .flatMap((name) => (JOINED.test(name) ? [name, name.replace(JOINED, "")] : [name]))
    .map((name) => name.replace(/^\.\//, "").replace(/\.+$/, ""))
    .filter((name) => !NOT_A_FILE.test(name))
  return [...new Set(names)].slice(0, MOST)
}

/** Whether a text is about what has been changed and not committed. */
export const asksForChanges = (text: string) => CHANGES.test(text.slice(0, TEXT))

const text = (value: unknown) => (typeof value === "string" && value.length > 0 ? [value] : [])

function written(part: MessagePart): string[] {
  const { tool_input: input = {}, metadata = {} } = part
  const files = Array.isArray(metadata.files) ? metadata.files : []
  const listed = files.flatMap((file: unknown) =>
    typeof file === "object" && file !== null ? text((file as Record<string, unknown>).relativePath) : [],
  )
  return listed.length > 0 ? listed : [...text(input.filePath), ...(input.filePath ? [] : text(input.path))]
}

/** Files that were written in a conversation, the latest first. */
export function writtenFiles(messages: readonly ContextMessage[]): string[] {
  const paths = messages.flatMap(({ parts }) =>
    parts
      .filter(({ tool_name, tool_status }) => tool_status === "completed" && WRITERS.includes(tool_name ?? ""))
      .flatMap(written),
  )
  return [...new Set(paths.toReversed())].slice(0, MOST)
}
