import { canonical, GENESIS, type AuditLine } from "../../../src/pass-over/domain/audit-log"
import { hash } from "./world"

/** The first place at which the audit chain of one session is broken, and how; nothing if it is whole. Oldest line first. */
export function brokenAt(lines: readonly AuditLine[]): string | undefined {
  let prev = GENESIS
  for (const [index, line] of lines.entries()) {
    if (line.seq !== index + 1) return `line ${index + 1} has seq ${line.seq}`
    if (line.prev !== prev) return `line ${line.seq} does not follow the one before it`
    if (line.hash !== hash(canonical(line, prev))) return `line ${line.seq} is not what was hashed`
    prev = line.hash
  }
  return undefined
}
