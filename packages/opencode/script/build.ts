/** Bundles the plugin: opencode loads one small file, and what is rarely needed in a chunk of its own. */
import { rmSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dir, "..")
const dist = join(root, "dist")

export async function build() {
  rmSync(dist, { recursive: true, force: true })
  const result = await Bun.build({
    entrypoints: [join(root, "src/index.ts")],
    outdir: dist,
    naming: { entry: "server.[ext]", chunk: "chunk-[hash].[ext]" },
    target: "bun",
    splitting: true,
    minify: true,
  })
  if (!result.success) throw new AggregateError(result.logs, "the bundle could not be built")
  return result.outputs.map(({ path, size }) => ({ path, size }))
}

if (import.meta.main) for (const { path, size } of await build()) console.log(`${path.slice(root.length + 1)} ${size}`)
