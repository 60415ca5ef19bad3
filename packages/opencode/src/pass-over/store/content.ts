import { and, count, eq, sql } from "drizzle-orm"
import { once } from "remeda"
import type { FileModificationArtifact, WorkArtifact } from "../domain/artifact"
import { PassOverError, PassOverErrorCode } from "../domain/errors"
import type { PassID } from "../domain/id"
import type { Report } from "../domain/report"
import type { BlobPiece } from "../service/port-change"
import { createSeal } from "./blob-key"
import { BlobPieceTable, BlobTable, ContentTable } from "./change.sql"
import type { Base } from "./statement"
import { sha256Bytes } from "./tree/hash"

const PIECE_BYTES = 1024 * 1024

const nameOf = (hash: string, position: number) => `${hash}:${position}`

const damaged = (hash: string, cause: unknown) =>
  new PassOverError(PassOverErrorCode.RESOURCE_EXHAUSTED, `The stored content ${hash.slice(0, 12)} cannot be read.`, {
    recoverable: false,
    suggestedAction: "The database or its key file is damaged; restore both from a backup.",
    cause,
  })

const at = sql.placeholder

/** What is done for every content of a change of ten thousand files: putting a question together takes longer than its answer. */
function statements(db: Base["db"]) {
  const byHash = eq(BlobTable.hash, at("hash"))
  const ofPiece = and(eq(BlobPieceTable.hash, at("hash")), eq(BlobPieceTable.position, at("position")))
  const ofContent = eq(BlobPieceTable.hash, at("hash"))
  return {
    known: db.select().from(BlobTable).where(byHash).prepare(),
    piece: db.select({ sealed: BlobPieceTable.sealed }).from(BlobPieceTable).where(ofPiece).prepare(),
    pieces: db.select({ n: count() }).from(BlobPieceTable).where(ofContent).prepare(),
    drop: db.delete(BlobPieceTable).where(ofContent).prepare(),
    put: db
      .insert(BlobPieceTable)
      .values({ hash: at("hash"), position: at("position"), sealed: at("sealed") })
      .onConflictDoNothing()
      .prepare(),
    close: db
      .insert(BlobTable)
      .values({ hash: at("hash"), bytes: at("bytes"), pieces: at("pieces"), time_created: at("time_created") })
      // Whoever needs it now counts as its latest user, so that pruning leaves it alone.
      .onConflictDoUpdate({ target: BlobTable.hash, set: { time_created: sql`excluded.time_created` } })
      .prepare(),
    refer: db
      .insert(ContentTable)
      .values({ pass_over_id: at("pass_over_id"), hash: at("hash") })
      .onConflictDoNothing()
      .prepare(),
  }
}

export type SealedPiece = { hash: string; position: number; sealed: Buffer }

/** The pieces of contents as they lie in the database: compressed, sealed, and bound to their names. */
export type Vault = {
  run: () => ReturnType<typeof statements>
  seal(piece: BlobPiece): SealedPiece
  piece(hash: string, position: number): Uint8Array | undefined
}

export function createVault(db: Base["db"], path: string): Vault {
  const seal = createSeal(path)
  // Most processes never see a content.
  const run = once(() => statements(db))
  return {
    run,
    seal: ({ hash, position, content }) => ({
      hash,
      position,
      sealed: seal.seal(Bun.zstdCompressSync(content), nameOf(hash, position)),
    }),
    piece(hash, position) {
      const row = run().piece.get({ hash, position })
      if (!row) return
      try {
        return Bun.zstdDecompressSync(seal.open(row.sealed, nameOf(hash, position)))
      } catch (error) {
        if (error instanceof PassOverError) throw error
        throw damaged(hash, error)
      }
    },
  }
}

const FIELDS = ["old_content", "new_content", "edits"] as const

type Reported = Report["artifacts"][number]
type Modification = FileModificationArtifact | Extract<Reported, { type: "file_modification" }>
type Hashes = Partial<Record<(typeof FIELDS)[number], string>>

type Without<T> = T extends Modification ? T | (Omit<T, (typeof FIELDS)[number]> & { contents: Hashes }) : T

/** An artifact as its row holds it: the contents of files by their hashes. */
export type StoredArtifact = Without<WorkArtifact>

/** A staged return, in the same way. */
export type StoredReport = Omit<Report, "artifacts"> & { artifacts: Without<Reported>[] }

/** In the place of a content that cannot be read any more. Nothing is ever written from a text with such a mark. */
export const UNREADABLE = "[redacted:unreadable]"

export type Held<T> = {
  /** What the rows hold. */
  artifacts: Without<T>[]
  /** Puts the contents where they are kept, inside the transaction that writes the rows. */
  put(pass_over_id: PassID, at: number): void
}

/**
 * The contents of files in artifacts and staged returns. They lie with those of changes, once by their hash, and are
 * mostly there already; what reads an artifact gets it whole.
 */
export type Contents = {
  hold<T extends WorkArtifact | Reported>(artifacts: readonly T[]): Held<T>
  whole<T extends WorkArtifact | Reported>(stored: Without<T>): T
  /** A staged return with all that was in it. */
  report(stored: StoredReport): Report
}

type Fresh = { bytes: Uint8Array; sealed: SealedPiece[] | undefined }

const bytesOf = (text: string) => new TextEncoder().encode(text)
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

function sealAll(vault: Vault, hash: string, bytes: Uint8Array): SealedPiece[] {
  return Array.from({ length: Math.max(1, Math.ceil(bytes.length / PIECE_BYTES)) }, (_, position) =>
    vault.seal({ hash, position, content: bytes.subarray(position * PIECE_BYTES, (position + 1) * PIECE_BYTES) }),
  )
}

function putOne(vault: Vault, hash: string, { bytes, sealed }: Fresh, time_created: number) {
  const run = vault.run()
  if (run.known.get({ hash })) return
  // Whatever was left under this name by somebody who died over it is not known to be this content.
  run.drop.run({ hash })
  const pieces = sealed ?? sealAll(vault, hash, bytes)
  for (const piece of pieces) run.put.run(piece)
  run.close.run({ hash, bytes: bytes.length, pieces: pieces.length, time_created })
}

/** What of an artifact is content, as text. Half a letter has no bytes, so a text with one stays where it is. */
function textOf(artifact: Modification, field: (typeof FIELDS)[number]): string | undefined {
  if (field === "edits") return "edits" in artifact && artifact.edits ? JSON.stringify(artifact.edits) : undefined
  const text = artifact[field]
  return text === undefined || text === "" || !text.isWellFormed() ? undefined : text
}

function takenOut(artifact: Modification, keep: (text: string) => string) {
  const rest: Partial<Modification & Record<"edits", unknown>> = { ...artifact }
  const contents: Hashes = {}
  for (const field of FIELDS) {
    const text = textOf(artifact, field)
    if (text === undefined) continue
    contents[field] = keep(text)
    delete rest[field]
  }
  return { ...rest, contents }
}

function read(vault: Vault, hash: string): string {
  const blob = vault.run().known.get({ hash })
  if (!blob) return UNREADABLE
  try {
    const pieces = Array.from({ length: blob.pieces }, (_, position) => vault.piece(hash, position))
    return decoder.decode(Buffer.concat(pieces.map((piece) => piece ?? new Uint8Array())))
  } catch {
    // An outcome is more than its contents: without its key all the rest of it can still be read.
    return UNREADABLE
  }
}

function wholeOf<T extends WorkArtifact | Reported>(vault: Vault, stored: Without<T>): T {
  if (!("contents" in stored)) return stored as T
  const { contents, ...rest } = stored as { contents: Hashes }
  const { edits, ...texts } = contents
  const given = Object.entries(texts).map(([field, hash]) => [field, read(vault, hash)])
  const said = edits === undefined ? undefined : read(vault, edits)
  const changed = said === undefined ? {} : said === UNREADABLE ? { new_content: said } : { edits: JSON.parse(said) }
  return { ...rest, ...Object.fromEntries(given), ...changed } as T
}

export function createContents(vault: Vault): Contents {
  const whole = <T extends WorkArtifact | Reported>(stored: Without<T>): T => wholeOf(vault, stored)
  function keepIn(fresh: Map<string, Fresh>) {
    return (text: string) => {
      const bytes = bytesOf(text)
      const hash = sha256Bytes(bytes)
      if (fresh.has(hash)) return hash
      // Sealed before the lock is taken: compressing is the slow part.
      fresh.set(hash, { bytes, sealed: vault.run().known.get({ hash }) ? undefined : sealAll(vault, hash, bytes) })
      return hash
    }
  }

  return {
    hold<T extends WorkArtifact | Reported>(artifacts: readonly T[]): Held<T> {
      const plain = { artifacts: artifacts as readonly Without<T>[] as Without<T>[], put: () => {} }
      if (!artifacts.some(({ type }) => type === "file_modification")) return plain
      const fresh = new Map<string, Fresh>()
      try {
        const stored = artifacts.map((artifact) =>
          artifact.type === "file_modification" ? takenOut(artifact, keepIn(fresh)) : artifact,
        )
        const put = (pass_over_id: PassID, time: number) => {
          for (const [hash, one] of fresh) {
            putOne(vault, hash, one, time)
            vault.run().refer.run({ pass_over_id, hash })
          }
        }
        return { artifacts: stored as Without<T>[], put }
      } catch (error) {
        // Without a key nothing can be sealed, and a pass has to end all the same.
        if (error instanceof PassOverError) return plain
        throw error
      }
    },

    whole,

    report: (stored) => ({ ...stored, artifacts: stored.artifacts.map((artifact) => whole<Reported>(artifact)) }),
  }
}
