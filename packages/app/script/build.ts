/** Builds the panel into a folder that the server can serve. */
import { join } from "node:path"
import { build } from "vite"

const root = join(import.meta.dir, "..")

export async function buildPanel(outDir = join(root, "dist")) {
  await build({
    root,
    configFile: join(root, "vite.config.ts"),
    logLevel: "warn",
    build: { outDir, emptyOutDir: true },
  })
  return outDir
}

if (import.meta.main) console.log(await buildPanel(process.argv[2]))
