import { contextText, fileText, messageText } from "../domain/brief"
import { byteLength as size } from "../domain/bytes"
import type { ContextMessage, WorkContext } from "../domain/context"
import { toolResults } from "../domain/extract"
import { manifest, type Manifest, type ManifestItem } from "../domain/manifest"
import { openErrors } from "../domain/open-error"
import type { Effective } from "../domain/preference"
import { scan } from "../domain/select/words"
import { redactDeep } from "../domain/secret"
import { fitFiles, type FileItem, type Weigh } from "./context-file"
import { find, type Read, type Wanted } from "./context-find"
import { conversation, type Talk } from "./context-talk"
import { retell } from "./context-digest"
import type { Tokens } from "./port"
import type { Host } from "./port-host"

/** What of the context's bytes may become prompt. The rest of `max_context_size_bytes` is for files that are read. */
export const CONTEXT_TOKENS = 50_000

// Tokens are counted as o200k has them. Other models make more of the same text, so something is kept free for them.
const MARGIN = 0.8
const COUNTED = /(?:^|\/)(?:gpt-|o[1-9]|chatgpt|codex)/i

/** The budget in o200k tokens for the model that will read it; null where it is not known. */
export const budgetFor = (model: string | null | undefined) =>
  model && COUNTED.test(model) ? CONTEXT_TOKENS : Math.floor(CONTEXT_TOKENS * MARGIN)

// The headings between the sections and the line about the manifest.
const HEADINGS = 120
// Of a budget that messages share with files, files get at most this.
const FILES = 0.7

export type Gathered = { context: WorkContext; manifest: Manifest; bytes: number }

/** A ranking of messages by somebody who reads them, a model for one: by id, 0 is useless and 1 is needed. */
export type Rank = (objective: string, messages: readonly ContextMessage[]) => Promise<ReadonlyMap<string, number>>

export type GatherDeps = { host: Host; tokens: Tokens; hash: (text: string) => string; rank?: Rank | undefined }

type Limit = { bytes: number; tokens: number }

const estimate = (text: string) => ({ bytes: size(text), tokens: scan(text.slice(0, 20_000)).tokens })

/** Todos and errors are few and short; what of either would take more than a tenth of the budget is left out. */
function small(found: Read, limit: Limit, weigh: Weigh) {
  const fit = <T>(list: readonly T[], kind: ManifestItem["kind"], text: (one: T) => string) => {
    const room = { bytes: limit.bytes / 10, tokens: limit.tokens / 10 }
    return list.map((value, index) => {
      const weight = weigh(text(value))
      const fits = weight.tokens <= room.tokens && weight.bytes <= room.bytes
      room.tokens -= fits ? weight.tokens : 0
      room.bytes -= fits ? weight.bytes : 0
      const base = { kind, ref: String(index + 1), ...weight }
      const item: ManifestItem = fits
        ? { ...base, taken: "whole", why: kind === "error" ? "not resolved yet" : "the state of the work" }
        : { ...base, taken: "none", why: "over the context limit" }
      return { value, item }
    })
  }
  return {
    errors: fit(found.errors, "error", (one) => `- ${one.type}: ${one.message} (${one.context ?? ""})`),
    todos: fit(found.todos, "todo", (one) => `- [${one.status}] ${one.content}`),
  }
}

const total = (items: readonly ManifestItem[], key: "bytes" | "tokens") =>
  items.reduce((sum, item) => sum + (item.taken === "none" ? 0 : item[key]), 0)

type Counting = { weigh: Weigh; count: (text: string) => number; exact: boolean }

type Parts = Pick<Read, "withheld" | "results"> & { files: FileItem[]; talk: Talk; extras: ReturnType<typeof small> }

function assemble(
  wanted: Wanted,
  limit: Limit,
  { files, talk, extras, withheld, results }: Parts,
  exact: boolean,
): Gathered {
  const kept = <T>(list: readonly { value: T; item: ManifestItem }[]) =>
    list.filter(({ item }) => item.taken !== "none").map(({ value }) => value)
  const items = [
    ...files.map(({ item }) => item),
    ...talk.items.map((item) => (results.has(item.ref) ? { ...item, kind: "tool_result" as const } : item)),
    ...[...extras.todos, ...extras.errors].map(({ item }) => item),
    ...withheld,
  ]
  const list = manifest(items, limit, exact)
  const errors = kept(extras.errors)
  return {
    manifest: list,
    bytes: list.bytes,
    context: {
      session_id: wanted.session_id,
      directory: wanted.directory,
      files: files.flatMap(({ value, unnamed }) => (unnamed ? [] : [value])),
      messages: talk.messages,
      tool_results: toolResults(talk.messages),
      todos: kept(extras.todos),
      ...(errors.length > 0 ? { errors } : {}),
      objective: wanted.objective,
      ...(wanted.background ? { background: wanted.background } : {}),
    },
  }
}

const SIGNS = 24

/** The same message is weighed for the choice and for the manifest; counting it twice would cost as much again. */
function once(count: (text: string) => number): (text: string) => number {
  const known = new Map<string, number>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const tokens = count(text)
    known.set(text, tokens)
    return tokens
  }
}

/** All bytes together, or as many as show that they do not fit. */
function weight(found: Read, enough: number): number {
  let bytes = HEADINGS * 4
  for (const { content } of found.todos) bytes += size(content) + SIGNS
  for (const { message, context = "" } of found.errors) bytes += size(message) + size(context) + SIGNS
  for (const { value } of found.files) if (bytes <= enough) bytes += size(fileText(value)) + SIGNS
  for (const message of found.history) if (bytes <= enough) bytes += size(messageText(message)) + SIGNS
  return bytes
}

/** A token is at least one byte: where all bytes together fit, nothing needs counting and the tokenizer stays out. */
async function counting(deps: GatherDeps, found: Read, limit: Limit): Promise<Counting> {
  const exact = weight(found, limit.tokens) > limit.tokens
  const count = exact ? once(await deps.tokens()) : size
  return {
    exact,
    count,
    weigh: (text) => ({ bytes: size(text), tokens: count(text), sha256: deps.hash(text) }),
  }
}

/** What goes along with a pass, and the account of what does not. */
export async function gather(deps: GatherDeps, wanted: Wanted, preference: Effective): Promise<Gathered> {
  const limit = { bytes: preference.max_context_size_bytes, tokens: budgetFor(wanted.model) }
  // Before anything is cut, counted or hashed: half of a secret is not recognised any more.
  const read = redactDeep(await find(deps.host, wanted, preference))
  const found = { ...read, errors: [...openErrors(read.history), ...read.errors] }
  const counted = await counting(deps, found, limit)
  const { weigh, count, exact } = counted
  const query = new Set(scan(wanted.objective).terms)
  const extras = small(found, limit, weigh)
  const few = [...extras.todos, ...extras.errors].map(({ item }) => item)
  const room = {
    bytes: limit.bytes - total(few, "bytes"),
    tokens: limit.tokens - total(few, "tokens") - (exact ? HEADINGS : 0),
  }
  const share = exact && found.history.length > 0 ? FILES : 1
  const files = fitFiles(
    found.files,
    { bytes: room.bytes, tokens: Math.floor(room.tokens * share) },
    { weigh, query, estimate },
  )
  const ranked = exact ? await deps.rank?.(wanted.objective, found.history) : undefined
  const talkOf = (tokens: number) =>
    conversation(
      found.history,
      {
        ...wanted,
        named: found.files.map(({ value }) => value.path),
        ranked,
        max: { tokens, bytes: room.bytes - files.used.bytes },
      },
      preference,
      counted,
    )
  const gathered = (tokens: number) =>
    assemble(wanted, limit, { ...found, files: files.files, talk: talkOf(Math.max(0, tokens)), extras }, exact)
  const first = room.tokens - files.used.tokens
  const made = settle(gathered, first, limit, exact ? count : undefined)
  return exact && preference.context_digest === "model" ? retell(deps, made, found.history, { limit, count }) : made
}

/** Counts the whole as the child will read it; what is over comes off the conversation. */
function settle(
  gathered: (tokens: number) => Gathered,
  room: number,
  limit: Limit,
  count: ((text: string) => number) | undefined,
): Gathered {
  const made = gathered(room)
  if (!count) return made
  const over = count(contextText(made.context, made.manifest)) - limit.tokens
  if (over <= 0 || made.context.messages.length === 0) return made
  return settle(gathered, Math.min(room, made.manifest.tokens) - over - HEADINGS, limit, count)
}
