import { eq, inArray, lt, notInArray } from "drizzle-orm"
import { PassOverError, PassOverErrorCode } from "../domain/errors"
import type { PassID } from "../domain/id"
import type { ChangeStore } from "../service/port-change"
import { ApplyTable, BlobPieceTable, BlobTable, ChangeFileTable, ChangeTable, ContentTable } from "./change.sql"
import type { Vault } from "./content"
import type { Base } from "./statement"

type Blobs = Pick<
  ChangeStore,
  "hasBlobs" | "putPieces" | "closeBlobs" | "blob" | "piece" | "dropPieces" | "sweepBlobs" | "pruneBlobs" | "leftBlobs"
>

// What one statement may name at once.
const MOST = 500

// A content that somebody has just found is about to be referred to, and is not cleaned away before.
const FRESH_MS = 60 * 60 * 1000

const inGroups = <T>(items: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(items.length / MOST) }, (_, group) => items.slice(group * MOST, (group + 1) * MOST))

const torn = (hash: string) =>
  new PassOverError(
    PassOverErrorCode.STALE_REVISION,
    `The content ${hash.slice(0, 12)} was cleaned away while it came.`,
    {
      suggestedAction: "Try again.",
    },
  )

/** Hashes that something still refers to, were these passes gone. Applications name them in their operations, artifacts by their pass. */
function referred({ db }: Base, without: readonly PassID[] = []): Set<string> {
  const files = db
    .select({ old: ChangeFileTable.old_hash, new: ChangeFileTable.new_hash, of: ChangeTable.pass_over_id })
    .from(ChangeFileTable)
    .innerJoin(ChangeTable, eq(ChangeTable.change_id, ChangeFileTable.change_id))
    .all()
  const ops = db.select({ ops: ApplyTable.ops, of: ApplyTable.pass_over_id }).from(ApplyTable).all()
  const contents = db.select({ hash: ContentTable.hash, of: ContentTable.pass_over_id }).from(ContentTable).all()
  const gone = new Set(without)
  const all = [
    ...contents.flatMap((row) => (gone.has(row.of) ? [] : [row.hash])),
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
export function createBlobs(base: Base, vault: Vault): Blobs {
  const { db, write } = base
  return {
    ...sweepers(base),

    hasBlobs: async (hashes, at) => {
      const groups = inGroups([...new Set(hashes)])
      const found = groups.flatMap((group) =>
        db
          .select({ hash: BlobTable.hash, time: BlobTable.time_created })
          .from(BlobTable)
          .where(inArray(BlobTable.hash, group))
          .all(),
      )
      const stale = found.filter(({ time }) => time < at - FRESH_MS).map(({ hash }) => hash)
      const fresh = found.filter(({ time }) => time >= at - FRESH_MS).map(({ hash }) => hash)
      if (stale.length === 0) return fresh
      const kept = await write(() =>
        inGroups(stale).flatMap((group) =>
          db
            .update(BlobTable)
            .set({ time_created: at })
            .where(inArray(BlobTable.hash, group))
            .returning({ hash: BlobTable.hash })
            .all(),
        ),
      )
      return [...fresh, ...kept.map(({ hash }) => hash)]
    },

    putPieces: async (pieces) => {
      // Sealed before the lock is taken: compressing is the slow part.
      const rows = pieces.map((piece) => vault.seal(piece))
      await write(() => {
        for (const row of rows) vault.run().put.run(row)
      })
    },

    closeBlobs: (blobs, at) =>
      write(() => {
        for (const blob of blobs) {
          if ((vault.run().pieces.get({ hash: blob.hash })?.n ?? 0) < blob.pieces) throw torn(blob.hash)
          vault.run().close.run({ ...blob, time_created: at })
        }
      }),

    blob: async (hash) => {
      const row = vault.run().known.get({ hash })
      return row && { hash: row.hash, bytes: row.bytes, pieces: row.pieces }
    },

    piece: async (hash, position) => vault.piece(hash, position),

    dropPieces: (hash) =>
      write(() => {
        if (!vault.run().known.get({ hash })) vault.run().drop.run({ hash })
      }),
  }
}
