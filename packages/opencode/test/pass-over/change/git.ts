import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Edit } from "../../../src/pass-over/domain/change/edit"
import type { Tree } from "./generate"

const root = mkdtempSync(join(tmpdir(), "pass-over-git-"))
let serial = 0

// Nobody's configuration, and no repository around the folder, or git would read paths from its top.
const env = {
  PATH: process.env.PATH ?? "",
  HOME: root,
  GIT_CEILING_DIRECTORIES: tmpdir(),
  GIT_CONFIG_NOSYSTEM: "1",
  LC_ALL: "C",
}

export function git(cwd: string, args: readonly string[], stdin = "") {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", "-c", "core.quotePath=false", ...args], {
    cwd,
    env,
    stdin: Buffer.from(stdin),
  })
  return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
}

export const scratch = () => {
  const folder = join(root, String(++serial))
  mkdirSync(folder)
  return folder
}

export const clear = () => rmSync(root, { recursive: true, force: true })

export function write(folder: string, tree: Tree) {
  for (const [path, { content, executable }] of tree) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content, { mode: executable ? 0o755 : 0o644 })
  }
}

export function read(folder: string): Tree {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(
    files
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        const executable = (statSync(path).mode & 0o100) !== 0
        return [path.slice(folder.length + 1), { content: readFileSync(path, "utf8"), executable }] as const
      })
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}

/** The edits that git itself finds between two texts, without the taste that `git diff` adds. */
export function gitEdits(before: string, after: string): Edit[] {
  const folder = scratch()
  writeFileSync(join(folder, "a"), before)
  writeFileSync(join(folder, "b"), after)
  const { stdout } = git(folder, ["diff", "--no-index", "--no-indent-heuristic", "--text", "-U0", "a", "b"])
  const found: { start: number; end: number; lines: string[] }[] = []
  for (const row of stdout.split(/(?<=\n)/)) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@/.exec(row)
    if (hunk) {
      const count = Number(hunk[2] ?? 1)
      const start = count === 0 ? Number(hunk[1]) : Number(hunk[1]) - 1
      found.push({ start, end: start + count, lines: [] })
      continue
    }
    const last = found.at(-1)
    if (!last) continue
    if (row.startsWith("+")) last.lines.push(row.slice(1))
    if (row.startsWith("\\") && last.lines.length > 0 && mine)
      last.lines.push((last.lines.pop() ?? "").replace(/\n$/, ""))
    mine = row.startsWith("+")
  }
  return found
}

// Whether the line before was one that was added: only then is the missing line end the new text's.
let mine = false
