const DAY_MS = 24 * 60 * 60 * 1000

/** The first moment that is kept: retention ends with whole months, so that a log file is there whole or not at all. */
export function keptFrom(now: number, retention_days: number): number {
  const oldest = new Date(now - retention_days * DAY_MS)
  return Date.UTC(oldest.getUTCFullYear(), oldest.getUTCMonth(), 1)
}
