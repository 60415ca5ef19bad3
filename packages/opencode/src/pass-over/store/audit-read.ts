import type { Database } from "bun:sqlite"
import { readFileSync } from "node:fs"
import type { Anchor, Found } from "../domain/audit-chain"
import { AuditLine, GENESIS } from "../domain/audit-log"
import { AUDIT_COLUMNS, readLine } from "./audit-row"
import { readSummary } from "./audit-summary"

export type AuditPlace = { client: Database; directory: string; folder: string }

export const NOTHING: Anchor = { seq: 0, hash: GENESIS }

function parse(text: string): AuditLine | undefined {
  try {
    return AuditLine.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** The whole lines of a file. What a crash left half written at its end is none, and is overwritten by the next one. */
export function readLog(path: string): Found[] {
  const texts = readFileSync(path, "utf8").split("\n")
  return texts.slice(0, -1).map((text, index) => ({ path, line: index + 1, entry: parse(text) }))
}

export const sessionsOf = ({ client, directory }: AuditPlace): string[] =>
  client
    .query<{ session_id: string }, [string, string]>(
      "select session_id from pass_over_audit where directory = ? union select session_id from pass_over_audit_anchors where directory = ?",
    )
    .all(directory, directory)
    .map((row) => row.session_id)

export const linesOf = ({ client }: AuditPlace, session_id: string): AuditLine[] =>
  client
    .query<Record<string, unknown>, [string]>(
      `select ${AUDIT_COLUMNS} from pass_over_audit where session_id = ? order by seq`,
    )
    .all(session_id)
    .map(readLine)

export function anchorOf({ client, folder }: AuditPlace, session_id: string): Anchor {
  const row = client
    .query<Anchor, [string]>("select seq, hash from pass_over_audit_anchors where session_id = ?")
    .get(session_id)
  return row ?? readSummary(folder).anchors[session_id] ?? NOTHING
}

/** How far the file of each session has come, for those of which any is known. */
export const written = ({ client }: AuditPlace): Map<string, number> =>
  new Map(
    client
      .query<{ session_id: string; seq: number }, []>("select session_id, seq from pass_over_audit_files")
      .all()
      .map(({ session_id, seq }) => [session_id, seq]),
  )

/** How far the file of one session has come. */
export const writtenOf = ({ client }: AuditPlace, session_id: string): number =>
  client.query<{ seq: number }, [string]>("select seq from pass_over_audit_files where session_id = ?").get(session_id)
    ?.seq ?? 0
