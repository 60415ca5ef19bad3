import type { ContextMessage, MessagePart } from "./context"
import { WRITERS } from "./tool"

const TEXT = 20_000
const MOST = 40

// A name with a suffix, with or without folders before it. Addresses are left out by what stands before them.
const PATH = /(?<![\w/.:@-])(?:\.{0,2}\/)?(?:[\w@.-]+\/)*[\w@-][\w@.-]*\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w/])/g
const NOT_A_FILE = /^(?:e\.g|i\.e|etc|vs|node\.js|next\.js|vue\.js|[^/]+@[^/]+)$/i
const CHANGES =
  /\bdiff\b|\buncommitted\b|\bunstaged\b|\bstaged\b|\bworking (?:tree|copy)\b|\b(?:my|the|these|our|recent|local|latest) changes\b|\bchanged files\b|\bpull request\b/i

/** Paths and names of files that a text speaks of, in order. */
export function mentioned(text: string): string[] {
  const found = text.slice(0, TEXT).match(PATH) ?? []
  const names = found
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
