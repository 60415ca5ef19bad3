import { canonical, GENESIS } from "../domain/audit-log"
import type { AuditNote, PassEvent } from "../domain/pass"
import { storable } from "./row"
import type { Statements } from "./statement"

export const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex")

/**
 * Writes down what happened: the audit line at the end of its session's chain, and the event. Only ever called inside
 * the transaction that makes it happen, so that neither can exist without the other.
 */
export function record(run: Statements, note: AuditNote, event: PassEvent) {
  const entry = storable(note)
  const last = run.select.lastLine.get({ session_id: entry.session_id })
  const line = { ...entry, seq: (last?.seq ?? 0) + 1 }
  const prev = last?.hash ?? GENESIS
  run.insert.audit({ ...line, directory: event.directory, prev, hash: sha256(canonical(line, prev)) })
  announce(run, event)
}

export const announce = (run: Statements, event: PassEvent) => run.insert.event(event)
