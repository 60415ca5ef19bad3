import { readFileSync, realpathSync, statSync } from "node:fs"
import { open } from "node:fs/promises"
import { isAbsolute, join, relative, resolve, sep } from "node:path"
import type { ContextFile } from "../pass-over/domain/context"
import { redact, secretFile } from "../pass-over/domain/secret"
import { once } from "remeda"
import { createIgnored, type Ignored } from "./ignored"
import { trackedIn } from "./shadow-tracked"

// Larger files go along by their beginning and their end; the child can read the piece that it needs.
const LARGE = 512 * 1024
const HEAD = 192 * 1024
const TAIL = 64 * 1024
const SNIFF = 8 * 1024
// A small file is read in less time than it takes to come back to it: each wait is a turn of a busy event loop.
const SMALL = 64 * 1024

const inside = (path: string, directory: string) => path === directory || path.startsWith(directory + sep)

/** Files without a zero byte near their beginning, and with next to nothing there that is no UTF-8, are text. */
function binary(head: Uint8Array): boolean {
  if (head.includes(0)) return true
  const text = new TextDecoder().decode(head)
  if (!text.includes("\ufffd")) return false
  const broken = text.split("\ufffd").length - 1
  return broken > 2 + head.length / 100
}

async function piece(path: string, from: number, length: number): Promise<Uint8Array> {
  const handle = await open(path, "r")
  try {
    const buffer = new Uint8Array(length)
    const { bytesRead } = await handle.read(buffer, 0, length, from)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

const whole = (path: string) => Bun.file(path).text()

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).replaceAll(/^\ufffd+|\ufffd+$/g, "")

// No secret is longer: a key in the middle of a cut would be half a key, which nobody recognises any more.
const OVERLAP = 32 * 1024

async function sparse(path: string, size: number): Promise<string> {
  const [from, to] = await Promise.all([
    piece(path, 0, HEAD + OVERLAP),
    piece(path, size - TAIL - OVERLAP, TAIL + OVERLAP),
  ])
  const [head, tail] = [redact(text(from)).text.slice(0, HEAD), redact(text(to)).text.slice(-TAIL)]
  return `${head.toWellFormed()}\n[…] (about ${size - HEAD - TAIL} bytes are not shown)\n${tail.toWellFormed()}`
}

/** Whether an ignored path is left out after all: what git tracks is the project's, whatever its ignore files say. */
type Skip = (path: string) => Promise<boolean>

function createSkip(directory: string): Skip {
  const ignored: Ignored = createIgnored(directory)
  const tracked = once(async () => new Set(await trackedIn(directory)))
  return async (path) => ignored(path) && !(await tracked()).has(path)
}

async function readFile(path: string, directory: string, skip: Skip | undefined): Promise<ContextFile | undefined> {
  const wanted = isAbsolute(path) ? path : join(directory, path)
  const [real, root] = [realpathSync(resolve(wanted)), realpathSync(directory)]
  const name = relative(root, real).split(sep).join("/")
  // A link must not make a secret look like something else.
  if (!inside(real, root) || secretFile(name) || secretFile(path)) return { path }
  const found = statSync(real)
  if (!found.isFile()) return { path: name }
  const metadata = { size_bytes: found.size, last_modified: Math.round(found.mtimeMs), is_binary: false }
  if (await skip?.(name)) return { path: name, metadata }
  const small = found.size <= SMALL ? readFileSync(real) : undefined
  const head = small?.subarray(0, SNIFF) ?? (await piece(real, 0, SNIFF))
  if (binary(head)) return { path: name, metadata: { ...metadata, is_binary: true } }
  const content = small ? small.toString("utf8") : await (found.size > LARGE ? sparse(real, found.size) : whole(real))
  return { path: name, metadata, content }
}

/**
 * The files of a project, in the order of the paths. One that is missing, outside, secret or binary is named without
 * content, and so is one that the project ignores unless it was asked for by name.
 */
export async function readFiles(
  paths: readonly string[],
  directory: string,
  found: readonly string[] = [],
): Promise<ContextFile[]> {
  const skips = createSkip(directory)
  const nobody = new Set(found)
  return Promise.all(
    paths.map(async (path) => {
      const skip = nobody.has(path) ? skips : undefined
      return (await readFile(path, directory, skip).catch(() => undefined)) ?? { path }
    }),
  )
}
