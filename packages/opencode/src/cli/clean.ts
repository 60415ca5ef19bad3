import { visible } from "../pass-over/domain/hidden"

// What models, files and web pages said is shown in a terminal here: none of it may move the cursor, change colours,
// set a title or turn the direction of reading.
// A joiner is what holds some emoji together; the other invisible characters have no use here.
const HIDDEN = /(?![\n\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Text of somebody else for the terminal; line breaks stay. */
export const clean = (text: string): string =>
  Bun.stripANSI(text.replaceAll("\r\n", "\n").replaceAll("\t", "  ")).replaceAll(HIDDEN, "")

/** A patch, in which what is hidden is what one has to see: "<U+202E>". */
export function cleanPatch(patch: string): string {
  const ends = patch.split("\n").filter((line) => /^[-+ ](?!-- |\+\+ )/.test(line))
  const mixed = new Set(ends.map((line) => line.endsWith("\r"))).size > 1
  return clean(visible(mixed ? patch.replaceAll("\r\n", `${visible("\r")}\n`) : patch))
}

/** Text of somebody else on one line. */
export const oneLine = (text: string): string => clean(text).replaceAll(/\s+/g, " ").trim()

const escaped = (character: string) =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("")

/** JSON, or lines of it, without anything that a terminal would act on. */
export const safeText = (json: string): string => json.replaceAll(HIDDEN, escaped)

/** JSON that is safe to show in a terminal and means the same. */
export const safeJson = (value: unknown): string => safeText(JSON.stringify(value, undefined, 2) ?? "null")
