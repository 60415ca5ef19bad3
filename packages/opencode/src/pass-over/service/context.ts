import { byteLength as size } from "../domain/bytes"
import { fileText, messageText } from "../domain/brief"
import type { ContextFile, ContextMessage, WorkContext } from "../domain/context"
import { toolResults } from "../domain/extract"
import { select } from "../domain/history-selector"
import { manifest, type Manifest, type ManifestItem } from "../domain/manifest"
import type { Effective } from "../domain/preference"
import type { Host, Tokens } from "./port"

/** What of the context's bytes may become prompt. The rest of `max_context_size_bytes` is for files that are read. */
export const CONTEXT_TOKENS = 50_000

export type Wanted = {
  session_id: string
  directory: string
  objective: string
  background?: string | undefined
  files: readonly string[]
  now: number
  /** The history, where the caller has it at hand. */
  history?: (() => ContextMessage[]) | undefined
}

export type Gathered = { context: WorkContext; manifest: Manifest; bytes: number }

type Deps = { host: Host; tokens: Tokens; hash: (text: string) => string }

type Weighed<T> = { value: T; item: ManifestItem }

type Counter = (text: string, bytes: number) => number

/** Weighs texts for the manifest, counting tokens as `count` does. */
const weigher =
  (deps: Deps, count: Counter) =>
  <T>(value: T, text: string, item: Pick<ManifestItem, "kind" | "ref">): Weighed<T> => {
    const bytes = size(text)
    return {
      value,
      item: { ...item, taken: "whole", why: "fits", bytes, tokens: count(text, bytes), sha256: deps.hash(text) },
    }
  }

/** Files first, because they were asked for by name; then as much of the conversation as still fits. */
function fit(files: Weighed<ContextFile>[], max: { bytes: number; tokens: number }) {
  const used = { bytes: 0, tokens: 0 }
  return files.map(({ value, item }) => {
    if (value.content === undefined) {
      const why = value.metadata?.is_binary ? "binary" : "could not be read"
      return { value, item: { ...item, taken: "none" as const, why } }
    }
    if (used.bytes + item.bytes > max.bytes || used.tokens + item.tokens > max.tokens) {
      const { content: _content, ...rest } = value
      return {
        value: rest,
        item: { ...item, taken: "none" as const, why: "over the context limit; named so that it can be read" },
      }
    }
    used.bytes += item.bytes
    used.tokens += item.tokens
    return { value, item: { ...item, why: "named for this pass" } }
  })
}

const total = (items: readonly ManifestItem[], key: "bytes" | "tokens") =>
  items.reduce((sum, item) => sum + (item.taken === "none" ? 0 : item[key]), 0)

function conversation(weighed: Weighed<ContextMessage>[], max: { bytes: number; tokens: number }, now: number) {
  const messages = weighed.map(({ value }) => value)
  const items = new Map(weighed.map(({ value, item }) => [value.id, item]))
  const by = (key: "bytes" | "tokens") => (message: ContextMessage) => items.get(message.id)?.[key] ?? 0
  const within = select(messages, { max_tokens: max.tokens, now, count: by("tokens") })
  // The byte limit binds too: it is the user's, the token limit the model's.
  const kept = select(within, { max_tokens: max.bytes, now, count: by("bytes") })
  const ids = new Set(kept.map((message) => message.id))
  return {
    messages: kept,
    items: weighed.map(({ item }) =>
      ids.has(item.ref)
        ? { ...item, why: "recent" }
        : { ...item, taken: "none" as const, why: "older than what fits the context limit" },
    ),
  }
}

/** What goes along with a pass, and the account of what does not. */
export async function gather(deps: Deps, wanted: Wanted, preference: Effective): Promise<Gathered> {
  const limit = { bytes: preference.max_context_size_bytes, tokens: CONTEXT_TOKENS }
  const [history, todos, found] = await Promise.all([
    preference.pass_context ? (wanted.history?.() ?? deps.host.messages(wanted.session_id)) : [],
    preference.pass_context ? deps.host.todos(wanted.session_id) : [],
    preference.pass_files && wanted.files.length > 0 ? deps.host.files(wanted.files, wanted.directory) : [],
  ])
  const texts = {
    messages: history.map((value) => ({ value, text: messageText(value) })),
    files: found.map((value) => ({ value, text: fileText(value) })),
  }
  // A token is at least one byte. Where all bytes together fit the token limit nothing needs counting, and the
  // tokenizer, which is slow to load, stays out.
  const bytes = [...texts.messages, ...texts.files].reduce((sum, { text }) => sum + size(text), 0)
  const exact = bytes > limit.tokens
  const count: Counter = exact ? await deps.tokens() : (_text, length) => length

  const weigh = weigher(deps, count)
  const files = fit(
    texts.files.map(({ value, text }) => weigh(value, text, { kind: "file", ref: value.path })),
    limit,
  )
  const fileItems = files.map(({ item }) => item)
  const talk = conversation(
    texts.messages.map(({ value, text }) => weigh(value, text, { kind: "message", ref: value.id })),
    { bytes: limit.bytes - total(fileItems, "bytes"), tokens: limit.tokens - total(fileItems, "tokens") },
    wanted.now,
  )
  const todoItems = todos.map((todo, index) => weigh(todo, todo.content, { kind: "todo", ref: String(index + 1) }).item)
  const list = manifest([...fileItems, ...talk.items, ...todoItems], limit, exact)
  return {
    manifest: list,
    bytes: list.bytes,
    context: {
      session_id: wanted.session_id,
      directory: wanted.directory,
      files: files.map(({ value }) => value),
      messages: talk.messages,
      tool_results: toolResults(talk.messages),
      todos,
      objective: wanted.objective,
      ...(wanted.background ? { background: wanted.background } : {}),
    },
  }
}
