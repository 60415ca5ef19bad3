import { byteLength } from "../domain/bytes"
import type { ContextError, ContextFile, ContextMessage, Todo } from "../domain/context"
import { resultMessages, type Given } from "../domain/given"
import { withheld, type ManifestItem } from "../domain/manifest"
import type { Effective } from "../domain/preference"
import { inQuestion, relativeTo, without, type Named } from "./context-file"
import type { Host } from "./port-host"

export type Wanted = {
  session_id: string
  directory: string
  objective: string
  background?: string | undefined
  files: readonly string[]
  now: number
  /** "provider/model" of the child, where it is known. */
  model?: string | null | undefined
  /** The history, where the caller has it at hand. */
  history?: (() => ContextMessage[]) | undefined
  /** What the caller brings along itself. */
  given?: Given | undefined
  /** Files that the child finds otherwise than they are here. */
  changed?: ReadonlySet<string> | undefined
}

export type Read = {
  history: ContextMessage[]
  /** Messages that are results of tools, which the caller has given by themselves. */
  results: ReadonlySet<string>
  todos: Todo[]
  /** Errors that the caller has given; those of the history are seen in it. */
  errors: ContextError[]
  files: { value: ContextFile; named: Named }[]
  /** What a setting keeps back as a whole. */
  withheld: ManifestItem[]
}

type Talk = Pick<Read, "history" | "results" | "todos" | "errors" | "withheld">

/** The session's conversation, and behind it what the caller has of its own. */
async function talkOf(host: Host, { session_id, history, given = {} }: Wanted): Promise<Talk> {
  const [before, todos] = await Promise.all([history?.() ?? host.messages(session_id), host.todos(session_id)])
  const known = new Set(before.map(({ id }) => id))
  const own = (given.messages ?? []).filter(({ id }) => !known.has(id))
  const results = resultMessages(given.tool_results ?? [], [...before, ...own])
  return {
    history: [...before, ...own, ...results],
    results: new Set(results.map(({ id }) => id)),
    todos: [...todos, ...(given.todos ?? [])],
    errors: given.errors ?? [],
    withheld: [],
  }
}

// What does not go along anyway is not asked for: of a long day it would be the greater part of the work.
const SILENT: Talk = { history: [], results: new Set(), todos: [], errors: [], withheld: [withheld("pass_context")] }

type Own = ReadonlyMap<string, ContextFile>

/** Files of which the caller gives the content itself, by their paths in the project. */
const ownFiles = ({ directory, given }: Wanted): Own =>
  new Map(
    (given?.files ?? []).map(({ path, content, metadata }) => {
      const name = relativeTo(directory)(path)
      const size = { size_bytes: byteLength(content), last_modified: 0, is_binary: false }
      return [name, { path: name, content, metadata: metadata ?? size, given: true }]
    }),
  )

/** What of the files in question there is: as they are on the disk, or as the caller gives them. */
async function filesOf(
  host: Host,
  { directory, changed }: Wanted,
  { named, own }: { named: readonly Named[]; own: Own },
) {
  const wanted = named.filter(({ path }) => !own.has(path))
  const paths = wanted.map(({ path }) => path)
  const found = wanted.flatMap(({ path, asked }) => (asked ? [] : [path]))
  const read = paths.length > 0 ? await host.files(paths, directory, found) : []
  const known = new Map(wanted.map(({ path }, at) => [path, read[at]]))
  return named.flatMap((one) => {
    const given = own.get(one.path)
    if (given) return [{ value: given, named: { ...one, why: "given by the caller, not read from disk" } }]
    const value = known.get(one.path) ?? { path: one.path }
    if (changed?.has(one.path)) return [{ value: without(value), named: { ...one, changed: true } }]
    // What was only spoken of may be no file at all.
    return one.asked || value.content !== undefined || value.metadata ? [{ value, named: one }] : []
  })
}

/** What there is that may go along with a pass. */
export async function find(host: Host, wanted: Wanted, preference: Effective): Promise<Read> {
  const { directory } = wanted
  const talk = preference.pass_context ? await talkOf(host, wanted) : SILENT
  const own = ownFiles(wanted)
  const asked = [...new Set([...wanted.files.map(relativeTo(directory)), ...own.keys()])]
  if (!preference.pass_files) {
    // Whoever is to work on files has to know which; it may read them itself as far as its rights go.
    const files = asked.map((path) => ({ value: { path }, named: { path, why: "", asked: true, withheld: true } }))
    return { ...talk, files }
  }
  const named = await inQuestion(host, { ...wanted, files: asked }, talk.history)
  return { ...talk, files: await filesOf(host, wanted, { named, own }) }
}
