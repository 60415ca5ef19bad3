import type { Candidate } from "./candidate"
import type { Lexicon } from "./lexicon"
import type { Kind, Weights } from "./weights"

/** What a message is worth to the child, and why, in words for a person. */
export type Scored = Candidate & { value: number; reasons: string[] }

export type Question = {
  objective: string
  /** Paths in question, as they were asked for. */
  files: readonly string[]
  weights: Weights
  /** A ranking by somebody who has read the messages: 0 is useless, 1 is what is needed. */
  ranked: ReadonlyMap<string, number>
}

const KIND = {
  user: "the user's own words",
  talk: "said by an agent",
  code: "code of an agent",
  plan: "a plan",
  handoff: "an instruction to another agent",
  answer: "an answer",
  dump: "long output",
  bookkeeping: "bookkeeping",
  environment: "output of a command",
  nod: "a short remark",
} as const satisfies Record<Kind, string>

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** Agents whose names the objective spells out. */
function named(list: readonly Candidate[], objective: string): ReadonlySet<string> {
  const names = new Set(list.flatMap(({ message }) => (message.agent_name ? [message.agent_name] : [])))
  // Agents that everything is by are not news, and words such as "assistant" are not names.
  return new Set(
    [...names].filter(
      (name) => name.length > 3 && new RegExp(`(?<![\\w-])${escaped(name)}(?![\\w-])`, "i").test(objective),
    ),
  )
}

const base = (path: string) => path.slice(path.lastIndexOf("/") + 1)

// Every message is searched for these names, so they are few: those that the objective names come first.
const MOST_FILES = 12

const looked = ({ files, objective }: Question) =>
  [...new Set(files.map(base))]
    .filter((name) => name.length > 2)
    .toSorted((a, b) => Number(objective.includes(b)) - Number(objective.includes(a)))
    .slice(0, MOST_FILES)

// A message of a few words is rarely the one that matters, one of sixty may be; longer ones carry a little more.
const size = (words: number) => Math.min(1, (words + 4) / 40) ** 0.4 * Math.max(1, words / 60) ** 0.2

/** The nearest message before this one in which an agent did something. */
const actor = (list: readonly Candidate[], index: number) => {
  for (let at = index - 1; at >= 0 && at >= index - 4; at -= 1) {
    const kind = list[at]?.kind
    if (kind !== undefined && kind !== "environment" && kind !== "nod" && kind !== "bookkeeping") return at
  }
  return -1
}

/** What later messages say of earlier ones: this one led to an error, that one was taken back. */
function consequences(list: readonly Candidate[]) {
  const causes = new Set<number>()
  const corrected = new Set<number>()
  for (const { index, kind, cues } of list) {
    const before = actor(list, index)
    if (before < 0) continue
    if (kind === "environment" && cues.has("error")) causes.add(before)
    if (kind !== "environment" && cues.has("correction")) corrected.add(before)
  }
  return { causes, corrected }
}

// The objective goes along in any case.
const SAID_ALREADY = 0.8

type Factor = [factor: number, reason: string]

function factors(one: Candidate, lexicon: Lexicon, weights: Weights): Factor[] {
  const { index, cues, kind } = one
  const at = (values: Float64Array) => values[index] ?? 0
  const acted = kind !== "environment" && kind !== "nod"
  const found: (Factor | false)[] = [
    [1 + weights.objective * at(lexicon.relevance), at(lexicon.relevance) > 0.25 ? "speaks of the objective" : ""],
    [1 + weights.origin * at(lexicon.origin), at(lexicon.origin) > 0.25 ? "what later messages build on" : ""],
    acted && cues.has("assumption") && [weights.assumption, "rests on an assumption"],
    acted && cues.has("decision") && [weights.decision, "a decision"],
    kind === "environment" && cues.has("error") && [weights.error, "an error"],
    [1 - SAID_ALREADY * at(lexicon.asked) ** 2, at(lexicon.asked) > 0.7 ? "stands in the objective already" : ""],
    [1 - (1 - weights.repeated) * at(lexicon.repeated) ** 2, at(lexicon.repeated) > 0.6 ? "mostly said before" : ""],
  ]
  return found.filter((factor) => factor !== false)
}

/** What each message is worth. The same log and objective give the same values. */
export function score(list: readonly Candidate[], lexicon: Lexicon, question: Question): Scored[] {
  const { weights, ranked } = question
  const { causes, corrected } = consequences(list)
  const agents = named(list, question.objective)
  const files = looked(question)
  const latest = list.length - 3
  return list.map((one) => {
    const { index, kind, message } = one
    const file = files.find((name) => one.text.includes(name))
    const rank = ranked.get(message.id)
    const early = Math.exp((-weights.early * index) / Math.max(1, list.length - 1))
    const all: Factor[] = [
      [weights.kind[kind], KIND[kind]],
      [size(one.length), ""],
      ...(list.length > 1 ? ([[early, ""]] as Factor[]) : []),
      ...factors(one, lexicon, weights),
      ...(file === undefined ? [] : ([[weights.file, `names ${file}`]] as Factor[])),
      ...(agents.has(message.agent_name ?? "")
        ? ([[weights.named, `${message.agent_name} is named in the objective`]] as Factor[])
        : []),
      ...(causes.has(index) ? ([[weights.cause, "led to an error"]] as Factor[]) : []),
      ...(corrected.has(index) ? ([[weights.corrected, "corrected later"]] as Factor[]) : []),
      ...(index >= latest ? ([[weights.latest, "recent"]] as Factor[]) : []),
      ...(rank === undefined ? [] : ([[0.25 + 3 * rank, "ranked by a model"]] as Factor[])),
    ]
    return {
      ...one,
      value: all.reduce((product, [factor]) => product * factor, 1),
      reasons: all.flatMap(([, reason]) => (reason ? [reason] : [])),
    }
  })
}
