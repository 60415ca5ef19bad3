// What a host hands over ends as JSON in a database. Deeper or wider than this nothing honest is.
const DEEPEST = 40
const MOST = 20_000

type Path = { seen: Set<object>; left: number }

function container(value: object, path: Path): unknown {
  if (path.seen.has(value)) return "[circular]"
  if (path.seen.size >= DEEPEST) return "[too deep]"
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  path.seen.add(value)
  try {
    if (Array.isArray(value)) return value.slice(0, Math.max(0, path.left)).map((one) => walk(one, path))
    const entries: [string, unknown][] = []
    // Keys one by one: a getter may throw.
    for (const key of Object.keys(value)) {
      if (path.left <= 0) break
      entries.push([key, walk(read(value, key), path)])
    }
    return Object.fromEntries(entries)
  } finally {
    path.seen.delete(value)
  }
}

function read(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return "[unreadable]"
  }
}

function walk(value: unknown, path: Path): unknown {
  path.left -= 1
  if (typeof value === "object" && value !== null) return container(value, path)
  if (typeof value === "bigint" || typeof value === "symbol") return String(value)
  if (typeof value === "function") return "[function]"
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value
}

/** A value as JSON can hold it: circles, bytes, functions and depths without end become words for what they were. */
export const plain = (value: unknown): unknown => walk(value, { seen: new Set(), left: MOST })

/** The same of something that should be a record; what is none becomes an empty one. */
export const plainRecord = (value: unknown): Record<string, unknown> => {
  const made = plain(value)
  return typeof made === "object" && made !== null && !Array.isArray(made) ? (made as Record<string, unknown>) : {}
}
