import type { Tokens } from "../pass-over/service/port"

// Byte-pair merging is quadratic in the length of what the tokenizer takes as one piece: 50 KB of one letter, or of
// blanks, take seconds. A piece is of letters, of marks, of blanks, or of what may follow marks; runs of each are cut.
const RUN = 256
const KINDS = ["[\\p{L}\\p{M}]", "[^\\s\\p{L}\\p{N}]", "\\s", "[\\r\\n/]"]
const LONG_RUN = new RegExp(KINDS.map((kind) => `${kind}{${RUN}}(?=${kind})`).join("|"), "gu")

/** Token counts of o200k. The tokenizer brings 2 MB of ranks and 100 MB of memory, so it is loaded when first needed. */
export const tokens: Tokens = async () => {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base")
  return (text) => {
    let cuts = 0
    const calm = text.replaceAll(LONG_RUN, (run) => {
      cuts += 1
      return `${run}${/\s$/.test(run) ? "x" : " "}`
    })
    // Merging is greedy: a cut may even save a token. A text must never count for less than it is.
    // Text that looks like a control token is text.
    return countTokens(calm, { allowedSpecial: new Set(), disallowedSpecial: new Set() }) + cuts
  }
}
