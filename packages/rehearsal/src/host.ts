import { Database } from "bun:sqlite"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** The opencode that sandboxes run. */
export type Host = {
  binary: string
  version: string
  /**
   * opencode's database, migrated and empty. Every sandbox starts with it, because several opencodes that create it
   * at the same time fail: the migration is not guarded against a second process.
   */
  database: Uint8Array
}

const found: { host?: Promise<Host> } = {}

/** `REHEARSAL_OPENCODE`, else the first binary of the installed `opencode-ai` that runs. Asked once per process. */
export function findHost(): Promise<Host> {
  found.host ??= find()
  return found.host
}

async function find(): Promise<Host> {
  const named = process.env["REHEARSAL_OPENCODE"]
  const candidates = named ? [named] : installed()
  for (const binary of candidates) {
    const database = await createDatabase(binary)
    if (database) return { binary, database, version: named ? await versionOf(named) : installedVersion() }
  }
  const tried = candidates.map((path) => `  ${path}`).join("\n") || "  nothing is installed"
  throw new Error(
    `No opencode runs on this machine. Install "opencode-ai", or set REHEARSAL_OPENCODE. Tried:\n${tried}`,
  )
}

const require = createRequire(import.meta.url)

/**
 * `opencode-ai` puts its binary in place with an install script. Where scripts were not run, the package of the
 * platform has it all the same. Those packages are dependencies of opencode-ai, so they are looked up from there.
 */
function installed() {
  const manifest = require.resolve("opencode-ai/package.json")
  const windows = process.platform === "win32"
  const base = `opencode-${windows ? "windows" : process.platform}-${process.arch}`
  const names = [base, `${base}-baseline`, `${base}-musl`, `${base}-baseline-musl`]
  const platform = names.flatMap((name) => {
    try {
      const found = createRequire(manifest).resolve(`${name}/package.json`)
      return [join(dirname(found), "bin", windows ? "opencode.exe" : "opencode")]
    } catch {
      return []
    }
  })
  return [...platform, join(dirname(manifest), "bin", "opencode.exe")].filter((path) => existsSync(path))
}

const installedVersion = (): string => require("opencode-ai/package.json").version

const versionOf = async (binary: string) => (await Bun.$`${binary} --version`.text()).trim()

/** Undefined when the binary does not run: one built for newer processors than this one dies only when started. */
async function createDatabase(binary: string): Promise<Uint8Array | undefined> {
  const root = mkdtempSync(join(tmpdir(), "rehearsal-host-"))
  const rooms = ["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "TMPDIR"]
  const env = { ...Object.fromEntries(rooms.map((name) => [name, root])), OPENCODE_DISABLE_MODELS_FETCH: "1" }
  try {
    const child = Bun.spawn([binary, "db", "path"], {
      env,
      cwd: root,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    })
    const path = (await new Response(child.stdout).text()).trim()
    if ((await child.exited) !== 0) return undefined
    // Folds the write-ahead log in, so that there is one file to copy.
    const database = new Database(path)
    database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    return new Uint8Array(readFileSync(path))
  } catch {
    return undefined
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
