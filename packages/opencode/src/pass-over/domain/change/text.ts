/** How the bytes of a file are read as text. Latin-1 is the net below UTF-8: it gives every byte back as it was. */
export type Encoding = "utf8" | "latin1"

const SNIFF = 8_000

/** As git sees it: a NUL byte near the beginning makes a file binary. */
export const isBinary = (bytes: Uint8Array) => bytes.subarray(0, SNIFF).includes(0)

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

function latin1(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += SNIFF) pieces.push(String.fromCharCode(...bytes.subarray(at, at + SNIFF)))
  return pieces.join("")
}

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}

/** The sides of a change in one encoding, or nothing where one of them is binary. A side that is not there is empty. */
export function readSides(sides: readonly (Uint8Array | null)[]): { encoding: Encoding; texts: string[] } | undefined {
  const bytes = sides.map((side) => side ?? new Uint8Array())
  if (bytes.some(isBinary)) return
  const texts = bytes.map(utf8)
  if (texts.every((text) => text !== undefined)) return { encoding: "utf8", texts }
  return { encoding: "latin1", texts: bytes.map(latin1) }
}

export function writeText(text: string, encoding: Encoding): Uint8Array {
  if (encoding === "utf8") return encoder.encode(text)
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
}

/** Lines with their endings, so that joining them gives back the text to the byte. Only "\n" ends a line, as in git. */
export const lines = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
