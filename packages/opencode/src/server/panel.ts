import type { Context } from "hono"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Env } from "./deps"

type File = {
  body: Uint8Array<ArrayBuffer>
  type: string
  packed: Uint8Array<ArrayBuffer> | undefined
  lasting: boolean
}

export type Panel = {
  file(path: string): File | undefined
  serve(c: Context<Env>): Response | Promise<Response>
}

const TYPES: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
  json: "application/json",
}

const PACKED = ["html", "js", "css", "svg"]

function list(folder: string, prefix = ""): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? list(join(folder, entry.name), `${prefix}${entry.name}/`) : [`${prefix}${entry.name}`],
  )
}

/** The files of the panel, all in memory: a request finds one of these names or nothing, and no path is ever resolved. */
export function loadPanel(folder: string): Panel {
  const files = new Map<string, File>()
  for (const name of list(folder)) {
    const kind = name.split(".").at(-1) ?? ""
    const type = TYPES[kind]
    if (type === undefined) continue
    const body = new Uint8Array(readFileSync(join(folder, name)))
    const packed = PACKED.includes(kind) ? Bun.gzipSync(body, { level: 9 }) : undefined
    files.set(`/${name}`, { body, type, packed, lasting: name.startsWith("assets/") })
  }
  const index = files.get("/index.html")
  if (index) files.set("/", index)
  return {
    file: (path) => files.get(path),
    serve(c) {
      const file = files.get(c.req.path)
      if (!file) return c.notFound()
      const zipped = file.packed !== undefined && /\bgzip\b/.test(c.req.header("accept-encoding") ?? "")
      c.header("content-type", file.type)
      c.header("vary", "accept-encoding")
      // Names of assets change with their content.
      c.header("cache-control", file.lasting ? "public, max-age=31536000, immutable" : "no-cache")
      if (zipped) c.header("content-encoding", "gzip")
      return c.body(zipped && file.packed ? file.packed : file.body)
    },
  }
}
