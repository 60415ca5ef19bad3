/** Opens the panel on what the last `npm start` has written down. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { KEPT } from "./start/sample"

const cli = join(import.meta.dir, "../packages/opencode/dist/cli.js")
if (!existsSync(KEPT) || !existsSync(cli)) {
  console.error("There is nothing to show yet: run npm start first.")
  process.exit(1)
}
const child = Bun.spawn([process.execPath, cli, "open", ...process.argv.slice(2)], {
  env: { ...process.env, PASS_OVER_DB: KEPT },
  stdio: ["ignore", "inherit", "inherit"],
})
process.exit(await child.exited)
