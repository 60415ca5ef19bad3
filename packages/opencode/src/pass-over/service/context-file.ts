import { fileText } from "../domain/brief"
import { byteLength } from "../domain/bytes"
import type { ContextFile } from "../domain/context"
import { withheld, type ManifestItem } from "../domain/manifest"
import { asksForChanges, mentioned, writtenFiles } from "../domain/mention"
import type { ContextMessage } from "../domain/context"
import { secretFile } from "../domain/secret"
import { cut } from "../domain/select/cut"
import { scan } from "../domain/select/words"
import type { Host } from "./port-host"

/** A file that may go along, and what brought it in. */
export type Named = {
  path: string
  why: string
  asked: boolean
  /** Its content is kept back by a setting. */
  withheld?: boolean
  /** Earlier work that the child stands on has changed it: what it is now is in the child's tree. */
  changed?: boolean
}

// What nobody asked for by name must not crowd out the conversation.
const MOST_FOUND = 20
const MOST_WRITTEN = 8

export type Look = { objective: string; background?: string | undefined; files: readonly string[]; directory: string }

/** Paths as the project sees them: tools of the host speak of absolute ones. */
export const relativeTo = (directory: string) => (path: string) =>
  path.startsWith(`${directory}/`) ? path.slice(directory.length + 1) : path

/** The same file is the same path: "./src/../src/a.ts" is "src/a.ts". What leads out of the project stays as it is. */
function tidy(path: string): string {
  const kept: string[] = []
  for (const part of path.split("/")) {
    if (part === "." || (part === "" && kept.length > 0)) continue
    const above = kept.at(-1)
    if (part !== ".." || above === undefined || above === ".." || above === "") kept.push(part)
    if (part === ".." && above !== undefined && above !== ".." && above !== "") kept.pop()
  }
  return kept.join("/")
}

const bare = (path: string) => !path.includes("/")

/** Which files are in question: asked for, spoken of, changed, written in the conversation. */
export async function inQuestion(host: Host, look: Look, history: readonly ContextMessage[]): Promise<Named[]> {
  const local = relativeTo(look.directory)
  const text = `${look.objective}\n${look.background ?? ""}`
  const asked = [...new Set(look.files.map((path) => tidy(local(path))))].map((path): Named => ({
    path,
    why: "named for this pass",
    asked: true,
  }))
  const known = new Set(asked.map(({ path }) => path))
  const spoken = mentioned(text).map(local)
  const named = (path: string) => spoken.some((one) => path === one || path.endsWith(`/${one}`))
  const written = writtenFiles(history).map(local)
  const missing = spoken.filter((one) => bare(one) && ![...known, ...written].some((path) => path.endsWith(one)))
  const changes = asksForChanges(text)
  const nearby =
    (changes || missing.length > 0) && host.nearby
      ? await host.nearby({ names: missing, changed: changes }, look.directory)
      : { named: [], changed: [] }
  const found: Named[] = [
    ...spoken.filter((path) => !bare(path)).map((path) => ({ path, why: "named in the objective", asked: false })),
    ...nearby.named.map((path) => ({ path, why: "named in the objective", asked: false })),
    ...written.filter(named).map((path) => ({ path, why: "named in the objective, written here", asked: false })),
    ...nearby.changed.map((path) => ({ path, why: "changed and not committed", asked: false })),
    ...written.slice(0, MOST_WRITTEN).map((path) => ({ path, why: "written in this conversation", asked: false })),
  ]
  const fresh = found.filter(({ path }) => !known.has(path) && known.add(path))
  return [...asked, ...fresh.slice(0, MOST_FOUND)]
}

export type Weigh = (text: string) => { bytes: number; tokens: number; sha256: string }

export type FileItem = {
  value: ContextFile
  item: ManifestItem
  /** There is no room even for its name. */
  unnamed?: true
}

const unread = ({ path, metadata }: ContextFile) => {
  if (secretFile(path)) return "may hold secrets; never goes along"
  if (metadata?.is_binary) return "binary"
  return metadata ? "ignored by the project, and not named in the call" : "could not be read"
}

const LEAST = 120
// How far the estimate of a file's name may be off.
const SLACK = 3

type Room = { bytes: number; tokens: number }

export function without({ content: _content, ...rest }: ContextFile): ContextFile {
  return rest
}

function fitted(value: ContextFile, why: string, room: Room, tools: { weigh: Weigh; query: ReadonlySet<number> }) {
  const content = value.content ?? ""
  const text = fileText(value)
  const sparse = (value.metadata?.size_bytes ?? 0) > byteLength(content) + 8
  const about = scan(text.slice(0, 20_000)).tokens * Math.max(1, text.length / 20_000)
  if (about * 0.6 <= room.tokens && text.length <= room.bytes) {
    const weight = tools.weigh(text)
    if (weight.tokens <= room.tokens && weight.bytes <= room.bytes) {
      const taken = sparse ? ("part" as const) : ("whole" as const)
      return { value, weight, taken, why: sparse ? `${why}; large: its beginning and its end` : why }
    }
  }
  if (Math.min(room.tokens, room.bytes / 4) < LEAST) return undefined
  const short = {
    ...value,
    content: cut(content, Math.floor(Math.min(room.tokens * 0.5, room.bytes / 8)), tools.query),
    metadata: value.metadata ?? { size_bytes: byteLength(content), last_modified: 0, is_binary: false },
  }
  const weight = tools.weigh(fileText(short))
  if (weight.tokens > room.tokens || weight.bytes > room.bytes) return undefined
  return { value: short, weight, taken: "part" as const, why: `${why}; cut to its beginning, its end and what matches` }
}

/** What of the files goes along: whole while they fit, then in part, then by name only. */
export function fitFiles(
  files: readonly { value: ContextFile; named: Named }[],
  max: Room,
  tools: { weigh: Weigh; query: ReadonlySet<number>; estimate: (text: string) => Room },
): { files: FileItem[]; used: Room } {
  const used = { bytes: 0, tokens: 0 }
  // The name of every file goes along while there is room; its place is kept before contents are looked at.
  const kept = { bytes: 0, tokens: 0 }
  const names = files.map(({ value }) => {
    const name = tools.estimate(`${fileText(without(value))}\n`)
    if (kept.bytes + name.bytes > max.bytes || kept.tokens + name.tokens + SLACK > max.tokens) return undefined
    kept.bytes += name.bytes
    kept.tokens += name.tokens + SLACK
    return name
  })
  const items = files.map(({ value, named }, index): FileItem => {
    const base = { kind: "file" as const, ref: value.path }
    const name = names[index]
    if (!name) {
      const weight = tools.estimate(fileText(value))
      const why = `${named.why}; over the context limit, not even named`
      return { value: without(value), item: { ...base, taken: "none", why, ...weight }, unnamed: true }
    }
    kept.bytes -= name.bytes
    kept.tokens -= name.tokens + SLACK
    const left = (item: ManifestItem): FileItem => {
      used.bytes += name.bytes
      used.tokens += name.tokens + SLACK
      return { value: without(value), item }
    }
    const none = (why: string, text: string) => left({ ...base, taken: "none", why, ...tools.estimate(text) })
    if (named.withheld) return left({ ...withheld("pass_files"), ref: value.path })
    if (named.changed) return none(`${named.why}; changed by an earlier step, to be read`, fileText(value))
    if (value.content === undefined || secretFile(value.path)) return none(unread(value), fileText(without(value)))
    const room = { bytes: max.bytes - used.bytes - kept.bytes, tokens: max.tokens - used.tokens - kept.tokens }
    const made = fitted(value, named.why, room, tools)
    if (!made) {
      return none(`${named.why}; over the context limit, named so that it can be read`, fileText(value))
    }
    used.bytes += made.weight.bytes
    used.tokens += made.weight.tokens
    return { value: made.value, item: { ...base, taken: made.taken, why: made.why, ...made.weight } }
  })
  return { files: items, used }
}
