export type Page = "now" | "inbox" | "flows" | "run" | "pass" | "audit" | "preferences"
export type Place = { page: Page; id?: string; tab?: string; query: Record<string, string> }

const PAGES: readonly Page[] = ["now", "inbox", "flows", "audit", "preferences"]

const known = (name: string): Page => PAGES.find((page) => page === name) ?? "now"

// What is no id would be asked for all the same, and some other page of the server would answer.
const PASS = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const RUN = /^run_[0-9a-f]{32}$/

/** Where an address leads. Whatever cannot be read leads to the first page. */
export function readPlace(hash: string): Place {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?")
  const query = Object.fromEntries(new URLSearchParams(search))
  const [name = "", id, tab] = path.split("/").map(decoded)
  if (name === "run" && id && RUN.test(id)) return { page: "run", id, query }
  if (name === "pass" && id && PASS.test(id)) return { page: "pass", id, ...(tab ? { tab } : {}), query }
  return { page: known(name), query }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ""
  }
}

export function writePlace({ page, id, tab, query }: Partial<Place> & { page: Page }): string {
  const path = [page, ...(id ? [id] : []), ...(id && tab ? [tab] : [])].map(encodeURIComponent).join("/")
  const search = new URLSearchParams(Object.entries(query ?? {}).filter(([, value]) => value !== "")).toString()
  return `#/${path}${search ? `?${search}` : ""}`
}

/** The ticket of a link that opens the panel. It stands where no server sees it. */
export const ticketIn = (hash: string) => /^#ticket=([\w-]{20,200})$/.exec(hash)?.[1]
