const AFTER = "(?=$|[^\\w.-]|\\.(?!\\w))"

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/** A text in which one directory takes the place of another. A name that only begins the same is another name. */
export function translate(text: string, from: string, to: string): string {
  if (from === to || !text.includes(from)) return text
  return text.replaceAll(new RegExp(escaped(from) + AFTER, "g"), () => to)
}

/** The same for every text in a value, whatever its form. Keys stay as they are. */
export function translateAll<T>(value: T, from: string, to: string): T {
  if (typeof value === "string") return translate(value, from, to) as T
  if (Array.isArray(value)) return value.map((item: unknown) => translateAll(item, from, to)) as T
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, translateAll(item, from, to)])) as T
}
