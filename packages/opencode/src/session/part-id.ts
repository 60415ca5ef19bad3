const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

let last = 0
let counter = 0

/** An id of the host's own form, later than all that it made before: it sorts the parts of a message by id. */
export function partID(now = Date.now()): string {
  counter = now === last ? counter + 1 : 0
  last = now
  const time = (BigInt(now) * 0x1000n + BigInt(counter)) & 0xffffffffffffn
  const random = crypto.getRandomValues(new Uint8Array(14))
  const tail = Array.from(random, (byte) => ALPHABET[byte % ALPHABET.length]).join("")
  return `prt_${time.toString(16).padStart(12, "0")}${tail}`
}
