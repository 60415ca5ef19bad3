import { AuditLine } from "../domain/audit-log"

const NAMES = Object.keys(AuditLine.shape) as (keyof AuditLine)[]
const FLAGS: readonly string[] = ["returned", "applied"]
const OBJECTS: readonly string[] = ["policy_overrides", "detail"]

export const AUDIT_NAMES: readonly string[] = NAMES
export const AUDIT_COLUMNS = NAMES.map((name) => `"${name}"`).join(", ")

function decode(name: string, value: unknown): unknown {
  if (FLAGS.includes(name)) return value === 1 || value === true
  if (!OBJECTS.includes(name) || typeof value !== "string") return value ?? null
  try {
    return JSON.parse(value)
  } catch {
    // Somebody wrote into the database by hand; verification says so, and reading goes on.
    return { unreadable: value }
  }
}

/** A row as SQLite gives it, without Drizzle: for what goes over many. */
export const readLine = (row: Record<string, unknown>): AuditLine =>
  Object.fromEntries(NAMES.map((name) => [name, decode(name, row[name])])) as AuditLine

const encode = (value: unknown) => {
  if (typeof value === "boolean") return value ? 1 : 0
  if (typeof value === "object" && value !== null) return JSON.stringify(value)
  return (value ?? null) as string | number | null
}

export const writeLine = (line: AuditLine) => NAMES.map((name) => encode(line[name]))
