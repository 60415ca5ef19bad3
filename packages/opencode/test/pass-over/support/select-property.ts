import { createHash } from "node:crypto"
import { contextText, messageText } from "../../../src/pass-over/domain/brief"
import { SHIPPED, SYSTEM, type Effective } from "../../../src/pass-over/domain/preference"
import { choose, DIGEST_ID } from "../../../src/pass-over/domain/select/choose"
import { CONTEXT_TOKENS, gather } from "../../../src/pass-over/service/context"
import type { Host } from "../../../src/pass-over/service/port-host"
import { readable, runs } from "./agent-log"
import { session, type Session } from "./session"

type Count = (text: string) => number

const hash = (text: string) => createHash("sha256").update(text).digest("hex")

/** What is wrong with the selection out of a generated session; nothing, it is hoped. */
export function selectionProblems(seed: number, count: Count): string[] {
  const { messages, objective, max_tokens } = session(seed)
  const ask = { objective, max_tokens, count }
  const choice = choose(messages, ask)
  const problems: string[] = []
  const wrong = (bad: boolean, what: string) => void (bad && problems.push(`${what} (session ${seed})`))
  const text = choice.messages.map(messageText).join("\n")
  const shown = new Set(choice.messages.map(({ id }) => id))

  wrong(count(text) > max_tokens, `over budget: ${count(text)} of ${max_tokens}`)
  wrong(choice.messages.length > 0 && count(text) !== choice.tokens, "the tokens told are not those of the text")
  const some = messages.some((message) => count(messageText(message)) + 1 < max_tokens)
  wrong(some && choice.messages.length === 0, "empty although something fits")
  wrong(JSON.stringify(choose(messages, ask)) !== JSON.stringify(choice), "the same input chose something else")
  wrong(
    choice.items.map(({ ref }) => ref).join() !== messages.map(({ id }) => id).join(),
    "a message is not accounted for",
  )
  for (const { ref, taken, why } of choice.items) {
    wrong((taken !== "none") !== shown.has(ref), `${ref} is said to be ${taken}`)
    wrong(why === "", `${ref} has no reason`)
  }
  const order = choice.messages.filter(({ id }) => id !== DIGEST_ID).map(({ timestamp }) => timestamp)
  wrong(
    order.some((time, at) => time < (order[at - 1] ?? 0)),
    "out of order",
  )
  const within = runs(text)
  for (const { ref, why } of choice.items.filter(({ why }) => why.includes("condensed"))) {
    const original = messages.find(({ id }) => id === ref)
    const spoken = original?.parts.flatMap(({ text = "" }) => (/\S+(?:\s+\S+){4}/.test(text) ? [text] : [])) ?? []
    const share = Math.min(1, ...spoken.map((said) => readable(said, within)))
    wrong(share < 0.8, `${ref} cannot be read any more: ${share} (${why})`)
  }
  return problems
}

const host = ({ messages, files }: Session) =>
  ({ messages: async () => messages, todos: async () => [], files: async () => files }) as unknown as Host

const PREFERENCE = { ...SYSTEM, ...SHIPPED } as Effective

/** The same of all that goes along: conversation, files and what stands around them. */
export async function contextProblems(seed: number, count: Count): Promise<string[]> {
  const made = session(seed)
  const wanted = {
    session_id: "ses_1",
    directory: "/project",
    objective: made.objective,
    files: made.files.map(({ path }) => path),
    now: 1_000_000,
  }
  // Many times the same session, so that it is far over the budget.
  const copies = 1 + (seed % 12) * 4
  const messages = Array.from({ length: copies }, (_, copy) =>
    made.messages.map((message) => ({
      ...message,
      id: `${message.id}_${copy}`,
      parts: message.parts.map((part) => ({ ...part, text: part.text && `${copy} ${part.text}` })),
    })),
  ).flat() as Session["messages"]
  const max_context_size_bytes = seed % 5 === 0 ? 30_000 : PREFERENCE.max_context_size_bytes
  const deps = { host: host({ ...made, messages }), tokens: async () => count, hash }
  const gathered = await gather(deps, wanted, { ...PREFERENCE, max_context_size_bytes })
  const { context, manifest } = gathered
  const problems: string[] = []
  const wrong = (bad: boolean, what: string) => void (bad && problems.push(`${what} (session ${seed})`))
  const tokens = count(contextText(context, manifest))
  wrong(tokens > CONTEXT_TOKENS, `over budget: ${tokens}`)
  wrong(manifest.exact && tokens > manifest.max_tokens, `over its own budget: ${tokens} of ${manifest.max_tokens}`)
  wrong(manifest.bytes > max_context_size_bytes, `over the byte limit: ${manifest.bytes}`)
  const refs = (kind: string) => manifest.items.filter((item) => item.kind === kind).map(({ ref }) => ref)
  wrong(
    refs("message").toSorted().join() !==
      messages
        .map(({ id }) => id)
        .toSorted()
        .join(),
    "a message is not accounted for",
  )
  wrong(refs("file").join() !== made.files.map(({ path }) => path).join(), "a file is not accounted for")
  const fits = messages.some((message) => count(messageText(message)) < manifest.max_tokens / 4)
  wrong(
    fits && max_context_size_bytes > 30_000 && context.messages.length === 0,
    "nothing of the conversation went along",
  )
  return problems
}
