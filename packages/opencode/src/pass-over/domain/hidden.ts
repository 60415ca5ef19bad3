// What a text holds is not always what is seen of it: invisible letters make two names look alike, and a change of the
// reading direction makes code read otherwise than it runs. Whoever decides about a text sees these by their numbers.

// A blank that is a letter counts too, and what has no picture of its own.
const UNSEEN = String.raw`(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufffc\ufffe\uffff]`

// A carriage return before its line break is how some files end their lines.
const ENDING = String.raw`\r(?=\n)`

const PICTURE = String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]?\p{Emoji_Modifier}?`
const EMOJI = [
  String.raw`${PICTURE}(?:\u200d${PICTURE})*`,
  String.raw`[#*0-9]\ufe0f?\u20e3`,
  // England, Scotland and Wales: the only flags that are spelled with tags. Any other tags are a hidden text.
  String.raw`\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}`,
].toReversed()

// In these scripts a joiner is spelling: it changes the letters on both sides of it.
const JOINED = ["Arabic", "Bengali", "Devanagari", "Gujarati", "Kannada", "Malayalam", "Mongolian", "Sinhala", "Tamil"]
  .map((script) => String.raw`\p{Script=${script}}`)
  .join("")
const JOINER = `(?<=[${JOINED}])[\\u200c\\u200d](?=[${JOINED}])`

const FOUND = new RegExp(`(?:${[...EMOJI, ENDING, JOINER].join("|")})|(${UNSEEN})`, "gu")
const ANY = new RegExp(UNSEEN, "u")

export type Piece = { text: string; hidden: boolean }

const nameOf = (letter: string) => `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`

/** A text as it is, and in between the names of what nobody would see of it: "U+202E". */
export function pieces(given: string): Piece[] {
  // Half a letter is shown as a letter that nobody knows; Bun's engine finds nothing in what stands behind one.
  const text = given.toWellFormed()
  if (!ANY.test(text)) return text === "" ? [] : [{ text, hidden: false }]
  const found: Piece[] = []
  let from = 0
  for (const { 1: letter, index } of text.matchAll(FOUND)) {
    if (letter === undefined) continue
    if (index > from) found.push({ text: text.slice(from, index), hidden: false })
    found.push({ text: nameOf(letter), hidden: true })
    from = index + letter.length
  }
  return from === text.length ? found : [...found, { text: text.slice(from), hidden: false }]
}

/** The same as one text: "<U+202E>". */
export const visible = (text: string): string =>
  pieces(text)
    .map(({ text, hidden }) => (hidden ? `<${text}>` : text))
    .join("")

export const hides = (text: string): boolean => pieces(text).some(({ hidden }) => hidden)
