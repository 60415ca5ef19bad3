import type { FileState } from "../../domain/change/change"
import { PassOverError, PassOverErrorCode } from "../../domain/errors"
import type { BlobPiece } from "../port-change"
import type { ChangeDeps } from "./deps"

/** A file's content is kept in pieces of this size, so that none of it has to be in memory at once. */
export const PIECE_BYTES = 1024 * 1024
// Small contents go together into one transaction.
const BATCH_BYTES = 8 * PIECE_BYTES
const BATCH_FILES = 500

type Keeping = Pick<ChangeDeps, "store" | "clock" | "hasher">

export type Content = { hash: string; content: Uint8Array }

const piecesOf = ({ hash, content }: Content): BlobPiece[] =>
  Array.from({ length: Math.max(1, Math.ceil(content.length / PIECE_BYTES)) }, (_, position) => ({
    hash,
    position,
    content: content.subarray(position * PIECE_BYTES, (position + 1) * PIECE_BYTES),
  }))

async function putBatch({ store, clock }: Keeping, batch: readonly Content[]) {
  const pieces = batch.map(piecesOf)
  await store.putPieces(pieces.flat())
  await store.closeBlobs(
    batch.map(({ hash, content }, index) => ({ hash, bytes: content.length, pieces: pieces[index]?.length ?? 0 })),
    clock.now(),
  )
}

/** Keeps contents that are in memory. Those that are there already cost a look. */
export async function keep(deps: Keeping, contents: readonly Content[]) {
  const known = new Set(
    await deps.store.hasBlobs(
      contents.map(({ hash }) => hash),
      deps.clock.now(),
    ),
  )
  let batch: Content[] = []
  let bytes = 0
  for (const one of contents) {
    if (known.has(one.hash)) continue
    known.add(one.hash)
    batch.push(one)
    bytes += one.content.length
    if (bytes < BATCH_BYTES && batch.length < BATCH_FILES) continue
    await putBatch(deps, batch)
    batch = []
    bytes = 0
  }
  if (batch.length > 0) await putBatch(deps, batch)
}

/** Cuts a stream into pieces of one size; what a source happens to give at once says nothing. */
async function* even(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = []
  let bytes = 0
  for await (const piece of source) {
    let at = 0
    while (at < piece.length) {
      const part = piece.subarray(at, at + PIECE_BYTES - bytes)
      held.push(part)
      bytes += part.length
      at += part.length
      if (bytes < PIECE_BYTES) continue
      yield joined(held, bytes)
      held = []
      bytes = 0
    }
  }
  if (bytes > 0) yield joined(held, bytes)
}

export function joined(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** Keeps a content that comes as a stream and whose hash was read before. False where it turned out to be another. */
export async function keepStream(
  deps: Keeping,
  state: Pick<FileState, "hash">,
  source: AsyncIterable<Uint8Array>,
): Promise<boolean> {
  if ((await deps.store.hasBlobs([state.hash], deps.clock.now())).length > 0) return true
  const hasher = deps.hasher()
  let [pieces, bytes] = [0, 0]
  for await (const content of even(source)) {
    hasher.update(content)
    bytes += content.length
    await deps.store.putPieces([{ hash: state.hash, position: pieces, content }])
    pieces += 1
  }
  if (hasher.digest() !== state.hash) {
    await deps.store.dropPieces(state.hash)
    return false
  }
  if (pieces === 0) await deps.store.putPieces([{ hash: state.hash, position: 0, content: new Uint8Array() }])
  await deps.store.closeBlobs([{ hash: state.hash, bytes, pieces: Math.max(1, pieces) }], deps.clock.now())
  return true
}

const missing = (hash: string) =>
  new PassOverError(PassOverErrorCode.NOT_FOUND, `The content ${hash.slice(0, 12)} is not kept any more.`, {
    suggestedAction: "It was removed with old records; the change can only be read, not applied or undone.",
  })

/** A kept content, piece by piece. */
export async function* stream(deps: Pick<ChangeDeps, "store">, hash: string): AsyncGenerator<Uint8Array> {
  const blob = await deps.store.blob(hash)
  if (!blob) throw missing(hash)
  for (let position = 0; position < blob.pieces; position += 1) {
    const piece = await deps.store.piece(hash, position)
    if (!piece) throw missing(hash)
    yield piece
  }
}

/** A kept content as one; nothing where it is longer than `most`. */
export async function whole(
  deps: Pick<ChangeDeps, "store">,
  hash: string,
  most = Infinity,
): Promise<Uint8Array | undefined> {
  const blob = await deps.store.blob(hash)
  if (!blob) throw missing(hash)
  if (blob.bytes > most) return
  const pieces: Uint8Array[] = []
  for await (const piece of stream(deps, hash)) pieces.push(piece)
  return joined(pieces, blob.bytes)
}
