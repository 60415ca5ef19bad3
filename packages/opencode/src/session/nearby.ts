import type { Nearby } from "../pass-over/service/port-host"

const MOST = 20
const PATIENCE_MS = 2_000
// A repository can name programs that git starts; none of them is wanted here.
const SAFE = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false"]

async function git(directory: string, args: readonly string[]): Promise<string> {
  const child = Bun.spawn(["git", "-C", directory, ...SAFE, ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    env: { ...process.env, GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" },
    timeout: PATIENCE_MS,
  })
  const output = await new Response(child.stdout).text()
  return (await child.exited) === 0 ? output : ""
}

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
      ? git(directory, ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", "."])
      : "",
    patterns.length > 0 ? git(directory, ["ls-files", "-z", "-co", "--exclude-standard", "--", ...patterns]) : "",
  ])
  const prefix = status === "" ? "" : (await git(directory, ["rev-parse", "--show-prefix"])).trim()
  const local = changed(status).flatMap((path) => (path.startsWith(prefix) ? [path.slice(prefix.length)] : []))
  return { named: listed.split("\0").filter(Boolean).slice(0, MOST), changed: local.slice(0, MOST) }
}
