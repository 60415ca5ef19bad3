import type { ContextFile, ContextMessage, Todo } from "../domain/context"
import { withheld, type ManifestItem } from "../domain/manifest"
import type { Effective } from "../domain/preference"
import { inQuestion, relativeTo, type Named } from "./context-file"
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
}

type Talk = {
  history: ContextMessage[]
  todos: Todo[]
  /** What a setting keeps back as a whole. */
  withheld: ManifestItem[]
}

export type Read = Talk & { files: { value: ContextFile; named: Named }[] }

async function talkOf(host: Host, { session_id, history }: Wanted): Promise<Talk> {
  const [messages, todos] = await Promise.all([history?.() ?? host.messages(session_id), host.todos(session_id)])
  return { history: messages, todos, withheld: [] }
}

// What does not go along anyway is not asked for: of a long day it would be the greater part of the work.
const SILENT: Talk = { history: [], todos: [], withheld: [withheld("pass_context")] }

/** What there is that may go along with a pass. */
export async function find(host: Host, wanted: Wanted, preference: Effective): Promise<Read> {
  const { directory } = wanted
  const talk = preference.pass_context ? await talkOf(host, wanted) : SILENT
  if (!preference.pass_files) {
    // Whoever is to work on files has to know which; it may read them itself as far as its rights go.
    const asked = [...new Set(wanted.files.map(relativeTo(directory)))]
    const files = asked.map((path) => ({ value: { path }, named: { path, why: "", asked: true, withheld: true } }))
    return { ...talk, files }
  }
  const named = await inQuestion(host, wanted, talk.history)
  const paths = named.map(({ path }) => path)
  const found = named.flatMap(({ path, asked }) => (asked ? [] : [path]))
  const read = paths.length > 0 ? await host.files(paths, directory, found) : []
  const files = read.flatMap((value, index) => {
    const one = named[index] ?? { path: value.path, why: "named for this pass", asked: true }
    // What was only spoken of may be no file at all.
    return one.asked || value.content !== undefined || value.metadata ? [{ value, named: one }] : []
  })
  return { ...talk, files }
}
