import { closestMatch } from "leven"

/** What somebody most likely meant by a word that we do not know; nothing where no word is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [begun, ...others] = known.filter((one) => one.startsWith(`${word}_`))
  if (begun !== undefined && others.length === 0) return begun
  return closestMatch(word, known, { maxDistance: Math.max(1, Math.floor(word.length / 3)) })
}
