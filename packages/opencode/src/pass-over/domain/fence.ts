/**
 * Text that somebody else wrote, set apart so that it cannot look like ours. The nonce is drawn after the text was
 * written, so that the text cannot hold the closing line.
 */
export function fence(label: string, nonce: string, text: string): string {
  if (text.includes(nonce)) throw new RangeError("the nonce stands in the text; draw another")
  return [`<<${label} ${nonce}`, text, `${nonce} ${label}>>`].join("\n")
}

/** Draws nonces until one is not in the text; with 128 random bits the second draw never happens. */
export function freshNonce(text: string, draw: () => string): string {
  const nonce = draw()
  return text.includes(nonce) ? freshNonce(text, draw) : nonce
}

/** Reads back what `fence` set apart, for whoever knows where it begins. */
export function unfence(label: string, fenced: string): string | undefined {
  // Only "\n" ends a line here: foreign text may hold what else JavaScript takes for an end.
  const open = new RegExp(`(?:^|\n)<<${label} ([0-9a-f]+)(?=\n|$)`).exec(fenced)
  if (!open?.[1]) return
  const start = open.index + open[0].length + 1
  const end = fenced.indexOf(`\n${open[1]} ${label}>>`, start - 1)
  return end < 0 ? undefined : fenced.slice(start, Math.max(start, end))
}
