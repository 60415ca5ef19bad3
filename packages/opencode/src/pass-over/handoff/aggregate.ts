import { z } from "zod"
import type { ParallelFindings } from "./phase"

/** When a parallel phase has passed. */
export const AggregationRule = z.union([
  z.enum(["all", "any", "majority"]),
  z.strictObject({ quorum: z.int().positive() }),
  /** The weights of those that passed add up to at least this much. */
  z.strictObject({ weighted: z.number().positive() }),
])
export type AggregationRule = z.infer<typeof AggregationRule>

export type Vote = { passed: boolean; weight?: number | undefined }

const weightOf = (votes: readonly Vote[]) => votes.reduce((sum, vote) => sum + (vote.weight ?? 1), 0)

/** "quorum 2", as `aggregation.rule` says it. */
export function ruleName(rule: AggregationRule): string {
  if (typeof rule === "string") return rule
  return "quorum" in rule ? `quorum ${rule.quorum}` : `weighted ${rule.weighted}`
}

/** Whether the votes that there are pass by the rule. Nobody's vote is nobody's yes: an empty phase has not passed. */
export function passes(rule: AggregationRule, votes: readonly Vote[]): boolean {
  const yes = votes.filter((vote) => vote.passed)
  if (votes.length === 0) return false
  if (rule === "all") return yes.length === votes.length
  if (rule === "any") return yes.length > 0
  if (rule === "majority") return yes.length * 2 > votes.length
  if ("quorum" in rule) return yes.length >= rule.quorum
  // Weights are people's numbers: 0.1 + 0.2 has to reach 0.3.
  return weightOf(yes) >= rule.weighted - 1e-9
}

/** Why a rule can never pass with these branches; nothing where it can. */
export function impossible(rule: AggregationRule, branches: readonly { weight?: number | undefined }[]) {
  if (typeof rule === "string") return undefined
  if ("quorum" in rule) {
    return rule.quorum > branches.length
      ? `a quorum of ${rule.quorum} cannot be reached by ${branches.length} branches`
      : undefined
  }
  const all = weightOf(branches.map(({ weight }) => ({ passed: true, weight })))
  return rule.weighted > all + 1e-9 ? `all weights together are ${all}, which is less than ${rule.weighted}` : undefined
}

/** The findings of a parallel phase, in the order of its branches. */
export function aggregate(
  rule: AggregationRule,
  results: readonly (ParallelFindings["results"][number] & { weight?: number | undefined })[],
): ParallelFindings {
  const passed = results.filter((result) => result.passed).length
  return {
    results: results.map(({ weight: _weight, ...result }) => result),
    aggregation: {
      total: results.length,
      passed,
      failed: results.length - passed,
      rule: ruleName(rule),
      overall_passed: passes(rule, results),
    },
  }
}
