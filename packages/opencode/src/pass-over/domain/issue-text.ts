import type { z } from "zod"

const KINDS: Record<string, string> = {
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  string: "text in quotes",
  array: "a list in [ ]",
  object: "an object in { }",
  record: "an object in { }",
}

/** What a schema expects, in words for the person who wrote the value. */
export const kindOf = (expected: string) => KINDS[expected] ?? expected

/** By how much a value is too large, too long or too small. */
export function bound(issue: z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall): string {
  const limit = issue.code === "too_big" ? `at most ${issue.maximum}` : `at least ${issue.minimum}`
  if (issue.origin === "string")
    return issue.code === "too_small" ? "must not be empty" : `may have ${limit} characters`
  if (issue.origin === "array") return `may have ${limit} entries`
  if (issue.code === "too_small" && !issue.inclusive) return `must be more than ${issue.minimum}`
  return `must be ${limit}`
}

/** A fault that a schema finds, as a sentence without its subject. */
export function issueText(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_type") {
    const wanted = issue.expected === "string" ? "text" : kindOf(issue.expected)
    return issue.message.endsWith("received undefined") ? `is missing; ${wanted} is wanted` : `must be ${wanted}`
  }
  // A schema that has words of its own knows better.
  if (issue.code === "invalid_value" && issue.message.startsWith("Invalid"))
    return `must be one of ${issue.values.map(String).join(", ")}`
  const [inner] = issue.code === "invalid_union" ? (issue.errors[0] ?? []) : []
  if (inner) return issueText(inner)
  return issue.code === "too_big" || issue.code === "too_small" ? bound(issue) : issue.message
}
