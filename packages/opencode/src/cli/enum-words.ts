import { nearest } from "../pass-over/domain/nearest"
import { usage } from "./command"

type Known<T extends string> = { options: readonly T[] }

/** Words of an enum, with commas between them. `more` are words of the option's own. */
export function enumWords<T extends string, M extends string = never>(
  given: string | undefined,
  flag: string,
  known: Known<T>,
  more: readonly M[] = [],
): (T | M)[] | undefined {
  const all = [...more, ...known.options]
  return given?.split(",").map((word) => {
    const found = all.find((one) => one.toLowerCase() === word.trim().toLowerCase())
    if (found !== undefined) return found
    const near = nearest(word.trim(), all)
    throw usage(`${flag} knows ${all.join(", ")}, not "${word}".`, near && `Did you mean ${near}?`)
  })
}
