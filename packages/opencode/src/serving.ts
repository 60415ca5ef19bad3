import { existsSync } from "node:fs"
import { join } from "node:path"
import { databasePath } from "./paths"
import { folderOf } from "./server/address"
import { detach, reachServer } from "./server/client"

// In the package the command line lies beside what is bundled, in the sources in its folder.
const CLI = [join(import.meta.dir, "cli.js"), join(import.meta.dir, "cli/main.ts")]

/** Sees to it that the user's server is there. Asking for it is what keeps it from ending by itself. */
export async function serve(): Promise<boolean> {
  const cli = CLI.find((path) => existsSync(path))
  if (cli === undefined) return false
  const start = () => detach([process.execPath, cli, "serve"])
  return (await reachServer({ folder: folderOf(databasePath()), start })) !== undefined
}
