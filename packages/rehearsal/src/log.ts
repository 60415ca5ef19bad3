import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"

/** What the opencodes of a data directory have put into their log files, the file that was written to last at the end. */
export function readLog(data: string): string {
  const directory = join(data, "opencode/log")
  if (!existsSync(directory)) return ""
  const files = readdirSync(directory).map((name) => join(directory, name))
  const written = files.map((path) => ({ path, time: statSync(path).mtimeMs }))
  return written
    .toSorted((a, b) => a.time - b.time)
    .map(({ path }) => readFileSync(path, "utf8"))
    .join("")
}
