import type { PassSummary } from "../../../opencode/src/server/schema"
import { WORDS } from "../lib/words"

export type Tone = "quiet" | "going" | "good" | "warn" | "bad" | "you"
/** A sign, a word and a tone: the first two say it all, so that no colour has to. */
export type Badge = { sign: string; word: string; tone: Tone }

const DECISION = {
  approved: { sign: "✓", tone: "good" },
  needs_modification: { sign: "✎", tone: "warn" },
  rejected: { sign: "✕", tone: "bad" },
  blocked: { sign: "⊘", tone: "bad" },
} as const

const OUTCOME = {
  completed: { sign: "✓", tone: "good" },
  partial: { sign: "◐", tone: "warn" },
  aborted: { sign: "■", tone: "quiet" },
  failed: { sign: "✕", tone: "bad" },
} as const

const SEVERITY = {
  error: { sign: "✕", tone: "bad" },
  warning: { sign: "!", tone: "warn" },
  info: { sign: "i", tone: "quiet" },
} as const

const ACTION: Record<string, { sign: string; tone: Tone }> = {
  requested: { sign: "→", tone: "quiet" },
  refused: { sign: "⊘", tone: "bad" },
  asked: { sign: "?", tone: "you" },
  answered: { sign: "!", tone: "you" },
  dispatched: { sign: "▸", tone: "going" },
  returned: { sign: "←", tone: "good" },
  timed_out: { sign: "◷", tone: "bad" },
  cancelled: { sign: "■", tone: "quiet" },
  processed: { sign: "✓", tone: "good" },
  reviewed: { sign: "✎", tone: "quiet" },
  applied: { sign: "⤓", tone: "good" },
  undone: { sign: "↶", tone: "warn" },
}

const VERDICT = {
  VERIFIED: { sign: "✓", tone: "good" },
  UNVERIFIED: { sign: "?", tone: "warn" },
  BLOCKED: { sign: "■", tone: "bad" },
} as const

export const severityBadge = (severity: keyof typeof SEVERITY): Badge => ({
  ...SEVERITY[severity],
  word: WORDS.severity[severity],
})

export const outcomeBadge = (outcome: keyof typeof OUTCOME): Badge => ({
  ...OUTCOME[outcome],
  word: WORDS.outcome[outcome],
})

/** What the evidence says of an outcome, whatever it says of itself. */
export const verdictBadge = (verdict: keyof typeof VERDICT): Badge => ({
  ...VERDICT[verdict],
  word: WORDS.verdict[verdict],
})

export const actionBadge = (action: string): Badge => ({
  ...(ACTION[action] ?? { sign: "·", tone: "quiet" as const }),
  word: WORDS.action[action] ?? action,
})

type Shown = Pick<PassSummary, "status" | "result" | "live">

/** Where a pass stands, in one word: what it decided if it did, else how it ended, else how far it is. */
export function passBadge({ status, result, live }: Shown): Badge {
  if (result?.status === "completed" && result.decision) {
    return { ...DECISION[result.decision], word: WORDS.decision[result.decision] }
  }
  if (status === "timed_out" || status === "cancelled") {
    const tone = status === "timed_out" ? "bad" : "quiet"
    return { sign: status === "timed_out" ? "◷" : "■", word: WORDS.status[status], tone }
  }
  if (result) return outcomeBadge(result.status)
  if (live && live.waits > 0) return { sign: "!", word: WORDS.now.waits_human, tone: "you" }
  if (status === "initial") return { sign: "…", word: WORDS.now.waits_turn, tone: "quiet" }
  return { sign: "▸", word: live ? WORDS.phase[live.phase] : WORDS.status[status], tone: "going" }
}
