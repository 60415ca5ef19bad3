import { and, count, eq, inArray, lt, notInArray, sql } from "drizzle-orm"
import { PassOverError, PassOverErrorCode } from "../domain/errors"
import type { PassID } from "../domain/id"
import type { ChangeStore } from "../service/port-change"
import { createSeal } from "./blob-key"
import { ApplyTable, BlobPieceTable, BlobTable, ChangeFileTable, ChangeTable } from "./change.sql"
import type { Base } from "./statement"

type Blobs = Pick<
  ChangeStore,
  "hasBlobs" | "putPieces" | "closeBlobs" | "blob" | "piece" | "dropPieces" | "sweepBlobs" | "pruneBlobs" | "leftBlobs"
>

// What one statement may name at once.
const MOST = 500

const inGroups = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / MOST) }, (_, group) => items.slice(group * MOST, (group + 1) * MOST))

const nameOf = (hash: string, position: number) => `${hash}:${position}`

const damaged = (hash: string, cause: unknown) =>
  new PassOverError(PassOverErrorCode.RESOURCE_EXHAUSTED, `The stored content ${hash.slice(0, 12)} cannot be read.`, {
    recoverable: false,
    suggestedAction: "The database or its key file is damaged; restore both from a backup.",
    cause,
  })

const torn = (hash: string) =>
  new PassOverError(
    PassOverErrorCode.STALE_REVISION,
    `The content ${hash.slice(0, 12)} was cleaned away while it came.`,
    {
      suggestedAction: "Try again.",
    },
  )

/** Hashes that something still refers to, were these passes gone. Applications name them in their operations. */
function referred({ db }: Base, without: readonly PassID[] = []): Set<string> {
  const files = db
    .select({ old: ChangeFileTable.old_hash, new: ChangeFileTable.new_hash, of: ChangeTable.pass_over_id })
    .from(ChangeFileTable)
    .innerJoin(ChangeTable, eq(ChangeTable.change_id, ChangeFileTable.change_id))
    .all()
  const ops = db.select({ ops: ApplyTable.ops, of: ApplyTable.pass_over_id }).from(ApplyTable).all()
  const gone = new Set(without)
  const all = [
    ...files.flatMap((row) => (gone.has(row.of) ? [] : [row.old, row.new])),
    ...ops.flatMap((row) =>
      gone.has(row.of) ? [] : row.ops.flatMap(({ before, after }) => [before?.hash, after?.hash]),
    ),
  ]
  return new Set(all.filter((hash) => typeof hash === "string"))
}

/** Contents of before a moment that nothing refers to, were these passes gone. */
function left(base: Base, before: number, without?: readonly PassID[]): string[] {
  const kept = referred(base, without)
  const old = base.db.select({ hash: BlobTable.hash }).from(BlobTable).where(lt(BlobTable.time_created, before)).all()
  return old.map((row) => row.hash).filter((hash) => !kept.has(hash))
}

function sweepers(base: Base): Pick<Blobs, "sweepBlobs" | "pruneBlobs" | "leftBlobs"> {
  const { db, write } = base
  return {
    // Not while somebody writes a long one: pieces come before the row that makes them whole.
    sweepBlobs: () =>
      write(() => {
        const torn = db
          .delete(BlobPieceTable)
          .where(notInArray(BlobPieceTable.hash, db.select({ hash: BlobTable.hash }).from(BlobTable)))
          .returning({ hash: BlobPieceTable.hash })
          .all()
        return torn.length
      }),

    leftBlobs: async ({ before, without }) => left(base, before, without).length,

    pruneBlobs: (before) =>
      write(() => {
        const gone = left(base, before)
        for (const group of inGroups(gone)) {
          db.delete(BlobTable).where(inArray(BlobTable.hash, group)).run()
          db.delete(BlobPieceTable).where(inArray(BlobPieceTable.hash, group)).run()
        }
        return gone.length
      }),
  }
}

/** The contents of files, each once by its hash, compressed and sealed piece by piece. */
export function createBlobs(base: Base, path: string): Blobs {
  const { db, write } = base
  const seal = createSeal(path)
  // Asked for every file of a change: putting the question together takes longer than its answer.
  const known = db
    .select()
    .from(BlobTable)
    .where(eq(BlobTable.hash, sql.placeholder("hash")))
    .prepare()
  const sealed = db
    .select({ sealed: BlobPieceTable.sealed })
    .from(BlobPieceTable)
    .where(
      and(eq(BlobPieceTable.hash, sql.placeholder("hash")), eq(BlobPieceTable.position, sql.placeholder("position"))),
    )
    .prepare()
  return {
    ...sweepers(base),

    hasBlobs: async (hashes) =>
      inGroups([...new Set(hashes)]).flatMap((group) =>
        db
          .select({ hash: BlobTable.hash })
          .from(BlobTable)
          .where(inArray(BlobTable.hash, group))
          .all()
          .map((row) => row.hash),
      ),

    putPieces: async (pieces) => {
      // Sealed before the lock is taken: compressing is the slow part.
      const rows = pieces.map(({ hash, position, content }) => ({
        hash,
        position,
        sealed: seal.seal(Bun.zstdCompressSync(content), nameOf(hash, position)),
      }))
      await write(() => {
        for (const row of rows) db.insert(BlobPieceTable).values(row).onConflictDoNothing().run()
      })
    },

    closeBlobs: (blobs, at) =>
      write(() => {
        for (const blob of blobs) {
          const there = db.select({ n: count() }).from(BlobPieceTable).where(eq(BlobPieceTable.hash, blob.hash)).get()
          if ((there?.n ?? 0) < blob.pieces) throw torn(blob.hash)
          db.insert(BlobTable)
            .values({ ...blob, time_created: at })
            // Whoever needs it now counts as its latest user, so that pruning leaves it alone.
            .onConflictDoUpdate({ target: BlobTable.hash, set: { time_created: at } })
            .run()
        }
      }),

    blob: async (hash) => {
      const row = known.get({ hash })
      return row && { hash: row.hash, bytes: row.bytes, pieces: row.pieces }
    },

    piece: async (hash, position) => {
      const row = sealed.get({ hash, position })
      if (!row) return
      try {
        return Bun.zstdDecompressSync(seal.open(row.sealed, nameOf(hash, position)))
      } catch (error) {
        if (error instanceof PassOverError) throw error
        throw damaged(hash, error)
      }
    },

    dropPieces: (hash) =>
      write(() => {
        const whole = db.select({ hash: BlobTable.hash }).from(BlobTable).where(eq(BlobTable.hash, hash)).get()
        if (!whole) db.delete(BlobPieceTable).where(eq(BlobPieceTable.hash, hash)).run()
      }),
  }
}
