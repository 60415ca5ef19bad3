import type { Tokens } from "../pass-over/service/port"

// Byte-pair merging is quadratic in the length of an unbroken run: 50 KB of one letter takes seconds. Runs are cut at
// this length, which changes counts on real code by a thousandth or two.
const RUN = 256
const LONG_RUN = new RegExp(`\\S{${RUN}}(?=\\S)`, "g")

const calm = (text: string) => text.replaceAll(LONG_RUN, "$& ")

/** Token counts of o200k. The tokenizer brings 2 MB of ranks and 100 MB of memory, so it is loaded when first needed. */
export const tokens: Tokens = async () => {
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base")
  // Text that looks like a control token is text.
  return (text) => countTokens(calm(text), { allowedSpecial: new Set(), disallowedSpecial: new Set() })
}
