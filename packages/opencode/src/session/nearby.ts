import type { Nearby } from "../pass-over/service/port-host"
import { git } from "./git"

const MOST = 20
const PATIENCE_MS = 2_000

/** What git says; nothing where there is no repository, or where it takes too long to be waited for. */
const said = (cwd: string, args: readonly string[]) => git({ cwd }, args, { timeout_ms: PATIENCE_MS }).catch(() => "")

/** "XY path", and for a rename the old path in the next field. */
function changed(status: string): string[] {
  const fields = status.split("\0")
  const paths: string[] = []
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at] ?? ""
    if (field.length < 4) continue
    if (field[0] === "R" || field[0] === "C") at += 1
    if (!field.startsWith("D") && field[1] !== "D") paths.push(field.slice(3))
  }
  return paths
}

const PLAIN = /^[\w@.-]+$/

/** Files of a project by name, and what was changed in it and not committed; ignored ones are neither. */
export async function nearby(ask: { names: readonly string[]; changed: boolean }, directory: string): Promise<Nearby> {
  const patterns = ask.names.filter((name) => PLAIN.test(name)).map((name) => `:(glob)**/${name}`)
  const [status, listed] = await Promise.all([
    ask.changed
      ? said(directory, ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", "."])
      : "",
    patterns.length > 0 ? said(directory, ["ls-files", "-z", "-co", "--exclude-standard", "--", ...patterns]) : "",
  ])
  const prefix = status === "" ? "" : (await said(directory, ["rev-parse", "--show-prefix"])).trim()
  const local = changed(status).flatMap((path) => (path.startsWith(prefix) ? [path.slice(prefix.length)] : []))
  return { named: listed.split("\0").filter(Boolean).slice(0, MOST), changed: local.slice(0, MOST) }
}
