import { isPlainObject } from "remeda"
import type { z } from "zod"

type Path = readonly PropertyKey[]

/** A value without what stands at a place in it; of a list the whole goes, because its other places would move. */
function without(value: unknown, [name, ...more]: Path): unknown {
  if (name === undefined || !isPlainObject(value)) return undefined
  const kept = Object.entries(value).flatMap(([key, held]): [string, unknown][] => {
    if (key !== name) return [[key, held]]
    const inner = more.length === 0 ? undefined : without(held, more)
    return inner === undefined ? [] : [[key, inner]]
  })
  return Object.fromEntries(kept)
}

const places = (issue: z.core.$ZodIssue): Path[] =>
  issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path]

/** What is left of a value when everything is taken out that its schema complains about. Pure. */
export const withoutFaults = (input: unknown, issues: readonly z.core.$ZodIssue[]): unknown =>
  issues.flatMap(places).reduce<unknown>(without, input)
