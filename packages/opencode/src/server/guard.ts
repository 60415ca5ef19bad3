import { HttpError } from "./failure"
import { identify, type Identity, type PanelKeys } from "./secret"

/** Routes that may be asked without the secret, because they hand out nothing that is not public or proven otherwise. */
export type Open = (method: string, path: string) => boolean

export type Rules = {
  port: () => number
  secret: () => string
  panels: Pick<PanelKeys, "holds">
  now: () => number
  open: Open
}

const JSON_TYPE = /^application\/json(?:\s*;\s*charset=utf-8)?$/i

const hosts = (port: number) => [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]

/** One spelling for each path: what a router, a file system or a proxy might read in two ways is none. */
export function canonical(path: string): boolean {
  if (path === "/") return true
  if (!path.startsWith("/")) return false
  return path
    .slice(1)
    .split("/")
    .every((segment) => {
      try {
        const read = decodeURIComponent(segment)
        return !/^\.{0,2}$|[/\\\p{Cc}]/u.test(read) && encodeURIComponent(read) === segment
      } catch {
        return false
      }
    })
}

function place(request: Request, port: number): void {
  const known = hosts(port)
  const host = request.headers.get("host")
  if (host === null || !known.includes(host)) throw new HttpError("FORBIDDEN", "This host name is not ours.")
  const origin = request.headers.get("origin")
  if (origin !== null && origin !== `http://${host}`) {
    throw new HttpError("FORBIDDEN", "Only our own pages may ask from a browser.")
  }
  const site = request.headers.get("sec-fetch-site")
  if (site !== null && site !== "same-origin" && site !== "none") {
    throw new HttpError("FORBIDDEN", "Only our own pages may ask from a browser.")
  }
}

function form(request: Request, path: string): void {
  if (!canonical(path)) throw new HttpError("NO_SUCH_ROUTE", "This path is not spelled as we spell it.")
  const type = request.headers.get("content-type")
  const bodied = request.method === "POST" || request.method === "PUT"
  if (bodied ? !JSON_TYPE.test(type ?? "") : type !== null && !JSON_TYPE.test(type)) {
    throw new HttpError("NOT_JSON", "Only JSON is read here.", "Send `Content-Type: application/json`.")
  }
}

// The path as it comes from the socket, where the server has tidied it up already, or from a program, where nobody has:
// `new URL` would, and what looks harmless only afterwards must not pass.
const rawPath = (request: Request) => /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(request.url)?.[1] || "/"

/**
 * Everything that is checked before a route is looked for. Whoever passes may ask; who comes without the secret passes
 * only to the open routes.
 */
export function admit(request: Request, rules: Rules): Identity | "nobody" {
  const path = rawPath(request)
  place(request, rules.port())
  form(request, path)
  const who = identify(rules, request.headers.get("authorization"), rules.now())
  if (who) return who
  if (rules.open(request.method, path)) return "nobody"
  throw new HttpError("UNAUTHENTICATED", "The secret is missing or not the right one.")
}
