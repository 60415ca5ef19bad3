/** The part of an HTTP/1.1 request before its body. */
export type Head = {
  method: string
  path: string
  headers: Record<string, string>
  /** Where the body begins. */
  length: number
}

const END = Buffer.from("\r\n\r\n")

/** Undefined until all of it has come. */
export function parseHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf(END)
  if (end === -1) return undefined
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n")
  const [method = "", path = ""] = first.split(" ")
  const headers = lines.map((line) => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
  })
  return { method, path, headers: Object.fromEntries(headers), length: end + END.length }
}

const contentLength = (head: Head) => Number(head.headers["content-length"] ?? 0)

/** How many bytes there are at least, head and body. */
export const needed = (head: Head) => head.length + contentLength(head)

/** Undefined until all of it has come. */
export function readBody(head: Head, bytes: Buffer): string | undefined {
  if (bytes.length < needed(head)) return undefined
  const rest = bytes.subarray(head.length)
  if (head.headers["transfer-encoding"]?.toLowerCase() === "chunked") return readChunks(rest)
  return rest.toString("utf8", 0, contentLength(head))
}

function readChunks(bytes: Buffer): string | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ;) {
    const line = bytes.indexOf("\r\n", at)
    if (line === -1) return undefined
    const size = Number.parseInt(bytes.toString("latin1", at, line), 16)
    const from = line + 2
    // The last chunk, of size nothing, has its line end too.
    if (bytes.length < from + size + 2) return undefined
    if (size === 0) return Buffer.concat(parts).toString("utf8")
    parts.push(bytes.subarray(from, from + size))
    at = from + size + 2
  }
}
