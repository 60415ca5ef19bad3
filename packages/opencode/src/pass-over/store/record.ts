import { canonical, GENESIS, type AuditLine } from "../domain/audit-log"
import type { AuditNote, PassEvent } from "../domain/pass"
import { storable } from "./row"
import type { Statements } from "./statement"

export const sha256 = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex")

type Known = { seq: number; hash: string }

/** A note at the end of the chain of its session. */
export function append(run: Statements, note: AuditNote, directory: string, more?: Record<string, unknown>): AuditLine {
  const entry = storable({ ...note, detail: more ? { ...note.detail, ...more } : note.detail })
  const last: Known | undefined =
    run.select.lastLine.get({ session_id: entry.session_id }) ??
    // Of a session whose lines were all pruned, the last one is still known.
    run.select.anchor.get({ session_id: entry.session_id })
  const line = { ...entry, seq: (last?.seq ?? 0) + 1 }
  const prev = last?.hash ?? GENESIS
  const whole = { ...line, prev, hash: sha256(canonical(line, prev)) }
  run.insert.audit({ ...whole, directory })
  return whole
}

/**
 * Writes down what happened: the audit line at the end of its session's chain, and the event. Only ever called inside
 * the transaction that makes it happen, so that neither can exist without the other. `more` goes with the line alone.
 */
export function record(run: Statements, note: AuditNote, event: PassEvent, more?: Record<string, unknown>) {
  append(run, note, event.directory, more)
  announce(run, event)
}

export const announce = (run: Statements, event: PassEvent) => run.insert.event(event)
