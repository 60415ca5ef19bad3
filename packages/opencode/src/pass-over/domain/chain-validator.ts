import { PassOverErrorCode, refuse, toError, type PassOverError, type Refusal } from "./errors"

/** Agents in a chain, the first included: alice → scout → audit is the longest. */
export const MAX_CHAIN_DEPTH = 3

/** The same pair may be given the same objective this often in one session tree. */
export const MAX_REPETITIONS = 3

export type Hop = { from: string; to: string }

/** What is known of the passes above and beside the one that is asked for. */
export type Lineage = {
  /** The agents above the caller, the first one first; empty when the caller was started by the user. */
  above: readonly string[]
  /** How often this pair was already given this objective in this session tree. */
  repeated: number
  /** How much of the caller's own time is left; nothing for a caller that the user started. */
  remaining_ms?: number | undefined
  max_chain_depth?: number | undefined
}

export type Checked = { ok: true; ancestors: string[]; chain_depth: number } | { ok: false; refusal: Refusal }

const arrow = (agents: readonly string[]) => agents.join(" → ")

function cycle(hop: Hop, ancestors: readonly string[]): Refusal | undefined {
  const chain = arrow([...ancestors, hop.to])
  const detail = { chain: [...ancestors, hop.to] }
  if (hop.to === hop.from) {
    return refuse(PassOverErrorCode.CYCLE_DETECTED, `${hop.from} cannot pass work to itself (${chain}).`, { detail })
  }
  if (ancestors.at(-2) === hop.to) {
    return refuse(
      PassOverErrorCode.CYCLE_DETECTED,
      `Ping-pong: ${hop.to} passed this work to ${hop.from}, which now passes it back (${chain}).`,
      { detail, suggestion: `Return your result to ${hop.to} with pass_over_return; a return is not a pass.` },
    )
  }
  if (!ancestors.includes(hop.to)) return
  return refuse(PassOverErrorCode.CYCLE_DETECTED, `${hop.to} is already in this chain (${chain}).`, { detail })
}

/** What says that a pair was given an objective often enough. */
export const repetition = (hop: Hop, repeated: number): Refusal =>
  refuse(
    PassOverErrorCode.CYCLE_DETECTED,
    `Repetition: ${hop.from} has passed this same objective to ${hop.to} ${repeated} times already in this session.`,
    {
      detail: { repeated },
      suggestion: "Use the results that came back (pass_over_read), or ask for something else.",
    },
  )

/** Depth, circle, repetition and the caller's own deadline, each with a sentence of its own. */
export function check(hop: Hop, lineage: Lineage): Checked {
  const ancestors = [...lineage.above, hop.from]
  const limit = lineage.max_chain_depth ?? MAX_CHAIN_DEPTH
  // Depth comes first: at the end of a full chain every target is refused for the same reason.
  if (ancestors.length + 1 > limit) {
    return {
      ok: false,
      refusal: refuse(
        PassOverErrorCode.CHAIN_DEPTH_EXCEEDED,
        `The chain would be ${ancestors.length + 1} agents long and ${limit} are allowed (${arrow([...ancestors, hop.to])}).`,
        {
          detail: { chain: [...ancestors, hop.to], max_chain_depth: limit },
          suggestion: `Do this part yourself, or return what you have. How long a chain may be is for the user to say (pass-over config set '${hop.from}->${hop.to}' max_chain_depth <agents>).`,
        },
      ),
    }
  }
  const circle = cycle(hop, ancestors)
  if (circle) return { ok: false, refusal: circle }
  if (lineage.repeated >= MAX_REPETITIONS) return { ok: false, refusal: repetition(hop, lineage.repeated) }
  if (lineage.remaining_ms !== undefined && lineage.remaining_ms <= 0) {
    return {
      ok: false,
      refusal: refuse(
        PassOverErrorCode.SUBAGENT_TIMEOUT,
        `${hop.from}'s own time is up, so ${hop.to} would have none.`,
        { suggestion: "Return what you have now with pass_over_return." },
      ),
    }
  }
  return { ok: true, ancestors, chain_depth: ancestors.length }
}

/** The guide's entry (2.1): a verdict with the error to throw, for callers that hold a whole request. */
export function validatePassOverChain(
  request: { originating_agent_id: string; subagent_id: string },
  history: Partial<Lineage> = {},
): { valid: boolean; error?: PassOverError } {
  const checked = check(
    { from: request.originating_agent_id, to: request.subagent_id },
    { ...history, above: history.above ?? [], repeated: history.repeated ?? 0 },
  )
  return checked.ok ? { valid: true } : { valid: false, error: toError(checked.refusal) }
}

export * as ChainValidator from "./chain-validator"
