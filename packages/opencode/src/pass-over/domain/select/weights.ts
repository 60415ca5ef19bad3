import { z } from "zod"

/** What a message is, by its look. Nothing here depends on one product's agent names. */
export const Kind = z.enum([
  "user",
  "talk",
  "code",
  "plan",
  "handoff",
  "answer",
  "dump",
  "bookkeeping",
  "environment",
  "nod",
])
export type Kind = z.infer<typeof Kind>

/**
 * What the selection believes, in one place. `kind` is the chance that a reader needs this message, before its words
 * are looked at; the others are factors.
 */
export type Weights = {
  kind: Record<Kind, number>
  /** A message that says all that the objective asks about gets 1 + this. */
  objective: number
  /** Names a file in question. */
  file: number
  /** Comes from an agent that the objective names. */
  named: number
  /** Later messages take up what was first said here. */
  origin: number
  /** Rests on an assumption, an estimate, made-up data. */
  assumption: number
  decision: number
  /** Reports an error; the step that led to it. */
  error: number
  cause: number
  /** Was corrected or taken back later. */
  corrected: number
  /** Says again what was said before: what is left at a full copy. */
  repeated: number
  /** What comes early carries what comes later: the last message gets exp(-this) of what the first gets. */
  early: number
  /** The last messages say where things stand. */
  latest: number
}

/** Shares of the budget that are kept free for what does not go along whole. */
export const SHARE = { user: 0.15, views: 0.03, digest: 0.02 } as const

/** Below this budget nothing is kept free: every token goes to messages that can be read whole. */
export const ROOMY = 4_000

export const WEIGHTS: Weights = {
  kind: {
    user: 1.6,
    talk: 1,
    code: 1.1,
    plan: 0.9,
    handoff: 0.7,
    answer: 0.7,
    dump: 0.9,
    bookkeeping: 0.35,
    environment: 0.15,
    nod: 0.12,
  },
  objective: 0.6,
  file: 1.3,
  named: 1.8,
  origin: 0.6,
  assumption: 1.25,
  decision: 1.3,
  error: 2,
  cause: 1.25,
  corrected: 1.15,
  repeated: 0.35,
  early: 0.5,
  latest: 1.15,
}
