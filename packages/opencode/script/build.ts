/** Bundles the plugin, its terminal half and the command line: small files, and what is rarely needed in chunks of its own. */
import { rmSync } from "node:fs"
import { join } from "node:path"
import { buildPanel } from "../../app/script/build"
import { buildTui } from "../../tui/script/build"

const root = join(import.meta.dir, "..")
const dist = join(root, "dist")

/** What the package brings, and what it is made from. */
const ENTRIES = {
  server: "src/index.ts",
  cli: "src/cli/main.ts",
  context: "src/context.ts",
  config: "src/config.ts",
} as const

async function bundle(name: string, entry: string, outdir: string) {
  const result = await Bun.build({
    entrypoints: [join(root, entry)],
    outdir,
    naming: { entry: `${name}.[ext]`, chunk: "chunk-[hash].[ext]" },
    target: "bun",
    splitting: true,
    minify: true,
  })
  if (!result.success) throw new AggregateError(result.logs, "the bundle could not be built")
  return result.outputs.map(({ path, size }) => ({ path, size }))
}

export async function build(outdir = dist) {
  rmSync(outdir, { recursive: true, force: true })
  const built: { path: string; size: number }[] = []
  // One after the other: the bundler does not like company.
  for (const [name, entry] of Object.entries(ENTRIES)) built.push(...(await bundle(name, entry, outdir)))
  built.push(...(await buildTui(outdir)))
  const panel = await buildPanel(join(outdir, "panel"))
  for (const name of new Bun.Glob("**/*").scanSync(panel)) {
    built.push({ path: join(panel, name), size: Bun.file(join(panel, name)).size })
  }
  return built
}

if (import.meta.main) for (const { path, size } of await build(process.argv[2])) console.log(`${path} ${size}`)
