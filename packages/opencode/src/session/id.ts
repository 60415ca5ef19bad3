import { createHash } from "node:crypto"

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const TAIL = 14

let last = 0
let counter = 0

/** The host's own form of time in an id: later ids sort behind earlier ones, and it orders by id. */
function time(now: number): string {
  counter = now === last ? counter + 1 : 0
  last = now
  const value = (BigInt(now) * 0x1000n + BigInt(counter)) & 0xffffffffffffn
  return value.toString(16).padStart(12, "0")
}

const tail = (bytes: Uint8Array) => Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join("")

/** An id of the host's form for a part of ours. */
export const partID = (now = Date.now()) => `prt_${time(now)}${tail(crypto.getRandomValues(new Uint8Array(TAIL)))}`

/**
 * The id of the message that brings the result of a pass. Its end is the pass's alone, so that such a message can be
 * told from all others; its beginning is the present, because the host takes the latest message by id for the last.
 */
export const resultMessageID = (pass_over_id: string, now = Date.now()) =>
  `msg_${time(now)}${tail(createHash("sha256").update(pass_over_id).digest().subarray(0, TAIL))}`
