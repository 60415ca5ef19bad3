import { below } from "./change/path"
import type { ContextMessage, MessagePart } from "./context"
import { SHELLS, WRITERS } from "./tool"

/** One tool call that a child made. */
export type Deed = {
  tool: string
  call_id: string
  ok: boolean
  url?: string
}

/** What a child was seen doing, for claims to be held against. */
export type Seen = {
  deeds: readonly Deed[]
  files: ReadonlyMap<string, unknown>
  changed: ReadonlySet<string>
  /** Hashes of files that a command of the child's put out. */
  sums: ReadonlyMap<string, readonly string[]>
  /** A path below the project, however the child writes it; nothing for one outside. */
  path(written: string): string | undefined
  shows(path: string, line: number): boolean
  /** Why a command does not count as run with that exit code; nothing where it does. */
  ran(command: string, exit_code: number): string | undefined
}

/** Which lines of a file came before the child's eyes. */
type View = { lines: Set<number>; upTo: number }

const RETURN = "pass_over_return"

// Of single lines: what ends a line for "m" and not for whoever wrote it would let a content pass for its own marks.
const NUMBERED = /^\s*(\d+)(?:\||:|→|\t)/
const HUNK = /^@@ -\S+ \+(\d+)(?:,\d+)? @@/

const text = (value: unknown) => (typeof value === "string" ? value : undefined)

const countLines = (content: string) => content.split("\n").length - (content.endsWith("\n") ? 1 : 0)

type Run = { command: string; exit: number | undefined; output: string }

type Book = { views: Map<string, View>; runs: Run[]; deeds: Deed[]; changed: Set<string>; sums: Map<string, string[]> }

type Paths = (written: string) => string | undefined

function view(book: Book, path: string): View {
  const known = book.views.get(path) ?? { lines: new Set<number>(), upTo: 0 }
  book.views.set(path, known)
  return known
}

function reading(book: Book, path: string, output: string) {
  const seen = view(book, path)
  for (const row of output.split("\n")) {
    const found = NUMBERED.exec(row)
    if (found) seen.lines.add(Number(found[1]))
  }
}

/** What a writer knows of a file: a whole new content has so many lines, an edit the lines that its answer shows. */
function writing(book: Book, path: string, part: MessagePart) {
  const content = text(part.tool_input?.content)
  const seen = view(book, path)
  book.changed.add(path)
  if (content !== undefined) seen.upTo = Math.max(seen.upTo, countLines(content))
  // What the head of a hunk says of its length is not believed: only lines that stand in it were seen.
  let at: number | undefined
  for (const row of (text(part.metadata?.diff) ?? "").split("\n")) {
    const head = HUNK.exec(row)
    if (head) {
      at = Number(head[1])
      continue
    }
    if (!/^[ +\\-]/.test(row)) at = undefined
    if (at === undefined || !/^[ +]/.test(row)) continue
    seen.lines.add(at)
    at += 1
  }
}

// grep tells its hits as a path and below it lines, or as "path:line:text".
function searching(book: Book, output: string, paths: Paths) {
  let current: string | undefined
  for (const row of output.split("\n")) {
    const inline = /^(\S[^:]*):(\d+):/.exec(row)
    const inner = /^\s+Line (\d+):/.exec(row)
    if (inner && current !== undefined) view(book, current).lines.add(Number(inner[1]))
    if (inline && !inner) {
      const path = paths(inline[1] ?? "")
      if (path !== undefined) view(book, path).lines.add(Number(inline[2]))
      continue
    }
    const heading = /^(\S.*):$/.exec(row)
    if (heading) {
      current = paths(heading[1] ?? "")
      if (current !== undefined) view(book, current)
    }
  }
}

// A shell shows a file where one of these is given its name; the first lines of it are what comes out.
const SHOWS = /(?:^|[|;&]\s*)(?:cat|nl|less|more|bat)\s+(?:-\S+\s+)*([^\s|;&<>]+)/g

// Nothing but the one program: whatever else stands in the command could have written the line.
const SUMS = /^\s*(?:sha256sum|shasum -a 256)(?: [\w@%+=:,./"'-]+)+\s*$/
const SUM = /^([0-9a-f]{64}) [ *](.+)$/s

function summing(book: Book, command: string, output: string, paths: Paths) {
  if (!SUMS.test(command)) return
  for (const row of output.split("\n")) {
    const [, sum = "", name = ""] = SUM.exec(row) ?? []
    const path = sum === "" ? undefined : paths(name.trim())
    if (path === undefined) continue
    view(book, path)
    book.sums.set(path, [...(book.sums.get(path) ?? []), sum])
  }
}

function running(book: Book, part: MessagePart, paths: Paths) {
  const command = text(part.tool_input?.command) ?? ""
  const output = part.tool_output ?? ""
  const exit = part.metadata?.exit
  book.runs.push({ command, exit: typeof exit === "number" ? exit : undefined, output })
  if (exit !== 0) return
  summing(book, command, output, paths)
  const shown = [...command.matchAll(SHOWS)].flatMap(([, name = ""]) => paths(name.replaceAll(/["']/g, "")) ?? [])
  for (const path of shown) {
    const seen = view(book, path)
    if (shown.length === 1) seen.upTo = Math.max(seen.upTo, countLines(output))
  }
}

function part(book: Book, one: MessagePart, paths: Paths) {
  if (one.type !== "tool" || !one.tool_name || one.tool_name === RETURN) return
  if (one.tool_status !== "completed" && one.tool_status !== "error") return
  const ok = one.tool_status === "completed"
  const url = text(one.tool_input?.url)
  book.deeds.push({ tool: one.tool_name, call_id: one.call_id ?? one.id, ok, ...(url === undefined ? {} : { url }) })
  if (SHELLS.includes(one.tool_name) && ok) return running(book, one, paths)
  if (!ok) return
  const written = text(one.tool_input?.filePath) ?? text(one.tool_input?.path) ?? text(one.tool_input?.file)
  const path = written === undefined ? undefined : paths(written)
  const output = one.tool_output ?? ""
  if (one.tool_name === "read" && path !== undefined && !output.includes("<type>directory</type>")) {
    return reading(book, path, output)
  }
  if (WRITERS.includes(one.tool_name) && path !== undefined) return writing(book, path, one)
  if (one.tool_name === "grep") searching(book, output, paths)
}

const calm = (command: string) => command.trim().replaceAll(/\s+/g, " ")

// Of a chain that ended well every part has ended well; of any other chain only the whole is known.
const links = (command: string) =>
  /[|;\n]|(?<!&)&(?!&)/.test(command) ? [] : command.split("&&").map((link) => calm(link))

function ran(runs: readonly Run[], command: string, exit_code: number): string | undefined {
  const wanted = calm(command)
  const same = runs.filter((run) => calm(run.command) === wanted)
  if (same.some((run) => run.exit === exit_code)) return
  const [last] = same.slice(-1)
  if (last) return last.exit === undefined ? "how it ended is not known" : `it ended with exit code ${last.exit}`
  if (exit_code === 0 && runs.some((run) => run.exit === 0 && links(run.command).includes(wanted))) return
  return "this command was never run"
}

export type Watched = {
  messages: readonly ContextMessage[]
  roots: readonly string[]
  changed: readonly string[]
}

/** Puts together what a child's stored messages show of its work. */
export function lookFor({ messages, roots, changed }: Watched): Seen {
  const paths: Paths = (written) => {
    const found = roots.map((root) => below(root, written)).find((path) => path !== undefined)
    return found === undefined || found.split("/").includes("..") ? undefined : found
  }
  const book: Book = { views: new Map(), runs: [], deeds: [], changed: new Set(), sums: new Map() }
  for (const path of changed) {
    book.changed.add(path)
    view(book, path)
  }
  for (const message of messages) {
    if (message.role === "assistant") for (const one of message.parts) part(book, one, paths)
  }
  return {
    deeds: book.deeds,
    files: book.views,
    changed: book.changed,
    sums: book.sums,
    path: paths,
    shows: (path, line) => {
      const seen = book.views.get(path)
      return seen !== undefined && (line <= seen.upTo || seen.lines.has(line))
    },
    ran: (command, exit_code) => ran(book.runs, command, exit_code),
  }
}
