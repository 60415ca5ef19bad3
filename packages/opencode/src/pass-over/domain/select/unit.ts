import { scan } from "./words"

/** A line or a sentence of a text, and what leaving it out would save and lose. */
export type Unit = { text: string; words: number; marks: number; tokens: number; worth: number; fixed: boolean }

const LONG_LINE = 160
const SENTENCE = /(?<=[.!?;])\s+(?=\S)/

const wordsOf = (text: string) => (text.trim() === "" ? 0 : text.trim().split(/\s+/).length)

/** Words as a reader of marks counts them: "a.b/c" is three. */
const marksOf = (text: string) => text.match(/\w+/g)?.length ?? 0

function worth(text: string, query: ReadonlySet<number>): { worth: number; tokens: number } {
  const { terms, specific, tokens } = scan(text)
  let sum = 0
  for (let at = 0; at < terms.length; at += 1) {
    sum += query.has(terms[at] ?? 0) ? 3 : (specific[at] ?? 0) + 0.2
  }
  return { worth: terms.length === 0 ? 0 : sum / terms.length, tokens: Math.max(1, tokens) }
}

const unit = (text: string, query: ReadonlySet<number>, fixed: boolean): Unit => ({
  text,
  words: wordsOf(text),
  marks: marksOf(text),
  ...worth(text, query),
  fixed,
})

export type Line = { units: Unit[]; code: boolean }

/** The lines of a text, long ones in sentences. Code stays as it is: half a program is worse than none. */
export function linesOf(text: string, query: ReadonlySet<number>): Line[] {
  let code = false
  return text.split("\n").map((line) => {
    const fence = line.trimStart().startsWith("```")
    const inside = code || fence
    if (fence) code = !code
    const pieces = !inside && line.length > LONG_LINE ? line.split(SENTENCE) : [line]
    return { units: pieces.map((piece) => unit(piece, query, inside)), code: inside }
  })
}
