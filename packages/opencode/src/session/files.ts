import { realpath, stat } from "node:fs/promises"
import { isAbsolute, join, relative, resolve, sep } from "node:path"
import type { ContextFile } from "../pass-over/domain/context"

// Larger files are named, not shown: the child can read the piece that it needs.
const LARGE = 512 * 1024
const SNIFF = 8 * 1024

const inside = (path: string, directory: string) => path === directory || path.startsWith(directory + sep)

// The host asks before it lets anybody read these; we do not hand them on.
const secret = (path: string) => /(^|\/)\.env(\.|$)/.test(path) && !path.endsWith(".env.example")

async function readFile(path: string, directory: string): Promise<ContextFile | undefined> {
  const wanted = isAbsolute(path) ? path : join(directory, path)
  const [real, root] = await Promise.all([realpath(resolve(wanted)), realpath(directory)])
  const name = relative(root, real)
  if (!inside(real, root) || secret(name)) return { path }
  const found = await stat(real)
  if (!found.isFile()) return { path: name }
  const file = Bun.file(real)
  const head = new Uint8Array(await file.slice(0, SNIFF).arrayBuffer())
  const is_binary = head.includes(0)
  return {
    path: name,
    metadata: { size_bytes: found.size, last_modified: Math.round(found.mtimeMs), is_binary },
    ...(is_binary || found.size > LARGE ? {} : { content: await file.text() }),
  }
}

/** The named files of a project. One that is missing, outside, secret, large or binary is named without content. */
export async function readFiles(paths: readonly string[], directory: string): Promise<ContextFile[]> {
  const unique = [...new Set(paths)]
  return Promise.all(unique.map(async (path) => (await readFile(path, directory).catch(() => undefined)) ?? { path }))
}
