import { clip } from "./clip"
import { readAnswer, readCall, type Answer, type Call } from "./circle-call"
import { compare, share } from "./circle-words"

/**
 * Whether a child goes in circles. Repetition is judged by call and answer together: the same call with the same
 * answer, or near to it. The call alone says nothing: paging, polling with progress, a test after each edit and
 * batches repeat their calls and are honest work.
 *
 * Turns that did the same are kept as one deed. Each time it is done again it weighs more, and less so where the child
 * has changed something in between or waits on purpose; work that is new makes it fade. So nothing has to be known of
 * the form of a circle: one call, two in turn or a row of many all come out as deeds that weigh too much.
 */

/** One tool call with its answer. */
export type Turn = {
  tool: string
  input: string
  output: string
  failed: boolean
  /** Where the host has one: it may tell of the same call more than once. */
  id?: string | undefined
  call_id?: string | undefined
  /** When it began. */
  at?: number | undefined
}

export type CircleOptions = {
  /** The weight at which the child is told. */
  tell: number
  /** How much more of the same it may bring together after it was told. */
  more: number
  /** What doing it again weighs after a change, after a small change at the same place, and for a call that waits. */
  changed: number
  nudged: number
  waited: number
  /** What a complaint weighs that has moved to another line. */
  moved: number
  /** What is left of a weight after each turn of new work. */
  fade: number
  /** How many different deeds are remembered. */
  deeds: number
}

export const CIRCLES: CircleOptions = {
  tell: 4,
  more: 4,
  changed: 0.5,
  nudged: 0.75,
  waited: 0.5,
  moved: 0.4,
  fade: 0.933,
  deeds: 48,
}

type Deed = {
  tool: string
  call: Call
  answer: Answer
  what: string
  times: number
  weight: number
  /** What of it came after the child had heard that it goes in circles. */
  since_told: number
  /** The counts of steps, turns, new work and changes when it was last done. */
  at: Counts
}

/** What the child has changed since a deed was last done. */
type Since = "nothing" | "nudged" | "changed"

type Counts = { step: number; turn: number; novel: number; change: number; nudge: number }

/** An answer of so few words fits many questions: "Wrote file successfully.", "No files found". */
const TELLING = 6
const LIKE_CALL = 0.6
const LIKE_ANSWER = 0.7

/**
 * Whether two answers are the same. After a change only the same words will do: what differs may be its effect. Where
 * no more than a small change lies between them, a complaint is the same one also when it has moved to another line.
 */
function sameAnswer(a: Answer, b: Answer, since: Since): "same" | "moved" | undefined {
  if (a.failed !== b.failed) return
  if (a.key === b.key) return "same"
  const difference = compare(a.bag, b.bag, "news")
  const { left, right, news, moved } = difference
  if (left + right === 0) return a.bag.length > 0 ? "same" : undefined
  if (news || since === "changed" || share(difference) < LIKE_ANSWER) return
  if (moved) return a.complains ? "moved" : undefined
  // One word in the place of another is a new state more often than it is new wording.
  return left === 1 && right === 1 ? undefined : "same"
}

/** Whether one call asks for what the other asks for, where their answers are the same. */
function sameCall(a: Deed, b: Deed): boolean {
  if (a.tool !== b.tool) return false
  if (a.call.key === b.call.key) return true
  if (!b.answer.failed && b.answer.bag.length < TELLING) return false
  const objects = compare(a.call.objects, b.call.objects, "news")
  // Another file, another offset, another pattern is another object.
  if (objects.news || objects.moved || (objects.left > 0 && objects.right > 0)) return false
  if (objects.left + objects.right > 0) return a.call.prose.length + b.call.prose.length === 0 && objects.shared > 0
  return a.call.command || share(compare(a.call.prose, b.call.prose, "end")) >= LIKE_CALL
}

const SHOWN = 120

// Copied letter by letter, because a slice holds the whole text that it was cut from in memory.
const short = (text: string) => {
  const line = text
    .slice(0, SHOWN + 1)
    .split("")
    .join("")
    .replaceAll(/\s+/g, " ")
  return clip(line, SHOWN)
}

export type Circle = {
  /** How often it was done, this time included. */
  times: number
  /** What goes round: one call, or the first few of several in their order. */
  what: string
  /** The child was told and has gone on for long enough. */
  over: boolean
}

export type Circles = {
  next(turn: Turn): Circle | undefined
  /** A step of the child is over: it has seen its answers, and what it was told before them. */
  step(): void
  /** The child is being told; it hears it when its step is over. */
  tell(): void
}

const NAMED = 3

const same = (a: Int32Array, b: Int32Array) => a.length === b.length && a.every((word, index) => word === b[index])

/** A change that is near to one made before is a small one: the same place again, a little different. */
function nudges(latest: Deed, deeds: readonly Deed[]): boolean {
  return deeds.some(
    ({ tool, call }) =>
      call.changes &&
      tool === latest.tool &&
      same(call.objects, latest.call.objects) &&
      share(compare(call.prose, latest.call.prose, "end")) >= LIKE_CALL,
  )
}

/** Looks at one turn after another. Each is read once, a part of it that is bounded; what lies too far back is forgotten. */
export function watchCircles(options: CircleOptions = CIRCLES): Circles {
  let deeds: Deed[] = []
  const now: Counts = { step: 0, turn: 0, novel: 0, change: 0, nudge: 0 }
  const told = { at: Infinity }

  function count(latest: Deed) {
    if (latest.call.changes && !latest.answer.failed) now[nudges(latest, deeds) ? "nudge" : "change"] += 1
    if (!(latest.call.changes && nudges(latest, deeds))) now.novel += 1
  }

  function since({ at }: Deed): Since {
    if (at.change !== now.change) return "changed"
    return at.nudge === now.nudge ? "nothing" : "nudged"
  }

  function weigh(deed: Deed, answer: "same" | "moved"): number {
    // Asked for twice in one step: the second time it did not know the first answer yet.
    if (deed.at.step === now.step) return 0
    const changed = since(deed)
    // That all is still well after a change is worth knowing each time.
    if (changed !== "nothing" && !deed.answer.complains) return 0
    if (answer === "moved") return options.moved
    if (changed === "changed") return options.changed
    if (deed.call.waits) return options.waited
    return changed === "nudged" ? options.nudged : 1
  }

  /** The deeds that were done since this one was last done, and not for the first time. */
  const round = (deed: Deed, before: number) =>
    deeds
      .filter((other) => other !== deed && other.at.turn > before && other.times > 1)
      .slice(0, NAMED - 1)
      .map(({ what }) => what)

  function again(deed: Deed, answer: "same" | "moved"): Circle | undefined {
    const gain = weigh(deed, answer)
    const before = deed.at.turn
    deed.weight = deed.weight * options.fade ** (now.novel - deed.at.novel) + gain
    deed.times += 1
    deed.at = { ...now }
    deeds = [...deeds.filter((other) => other !== deed), deed]
    if (deed.weight < options.tell) return
    if (now.step > told.at) deed.since_told += gain
    return {
      times: deed.times,
      what: [deed.what, ...round(deed, before)].join(", then "),
      over: deed.since_told >= options.more,
    }
  }

  return {
    next(turn) {
      now.turn += 1
      const latest: Deed = {
        tool: turn.tool,
        call: readCall(turn.tool, turn.input),
        answer: readAnswer(turn.output, turn.failed),
        what: short(`${turn.tool} ${turn.input.slice(0, 2 * SHOWN)}`),
        times: 1,
        weight: 1,
        since_told: 0,
        at: { ...now },
      }
      for (const deed of deeds.toReversed()) {
        const answer = sameCall(deed, latest) && sameAnswer(deed.answer, latest.answer, since(deed))
        if (answer) return again(deed, answer)
      }
      count(latest)
      deeds = [...deeds, { ...latest, at: { ...now } }].slice(-options.deeds)
      return undefined
    },
    step: () => void (now.step += 1),
    tell: () => void (told.at = now.step),
  }
}
