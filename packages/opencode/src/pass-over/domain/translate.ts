const AFTER = "(?=$|[^\\w.-]|\\.(?!\\w))"

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/** The names of a place, as a text may have them. */
export type Names = string | readonly string[]

/**
 * A text in which one directory takes the place of others. A name that only begins the same is another name, and what
 * has its new name already keeps it, also where that lies below one of the others.
 */
export function translate(text: string, from: Names, to: string): string {
  const names = (typeof from === "string" ? [from] : from).filter((name) => name !== to)
  if (!names.some((name) => text.includes(name))) return text
  const longestFirst = [to, ...names].toSorted((a, b) => b.length - a.length)
  return text.replaceAll(new RegExp(`(?:${longestFirst.map(escaped).join("|")})${AFTER}`, "g"), () => to)
}

/** The same for every text in a value, whatever its form. Keys stay as they are. */
export function translateAll<T>(value: T, from: Names, to: string): T {
  if (typeof value === "string") return translate(value, from, to) as T
  if (Array.isArray(value)) return value.map((item: unknown) => translateAll(item, from, to)) as T
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, translateAll(item, from, to)])) as T
}
