/** `bun run db generate --name "…"`: drizzle-kit with the project's configuration, then the module that is made of it. */
import { join } from "node:path"

const root = join(import.meta.dir, "..")
const run = (command: string[]) =>
  Bun.spawnSync(command, { cwd: root, stdio: ["inherit", "inherit", "inherit"] }).exitCode

const code = run([process.execPath, "--bun", "drizzle-kit", ...process.argv.slice(2), "--config", "drizzle.config.ts"])
process.exit(code === 0 ? run([process.execPath, "script/generate.ts"]) : code)
