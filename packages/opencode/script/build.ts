/** Bundles the plugin, its terminal half, the command line and the library: what several of them need is there once. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildPanel } from "../../app/script/build"
import { buildTui } from "../../tui/script/build"

const root = join(import.meta.dir, "..")
const dist = join(root, "dist")

const all = (path: string) => `export * from ${JSON.stringify(path)}\n`
const only = (path: string) => `export { default } from ${JSON.stringify(path)}\n`
const run = (path: string) => `import ${JSON.stringify(path)}\n`

/** What the package brings, and what it is made from. */
export const ENTRIES: Record<string, { from: string; as: (path: string) => string }> = {
  server: { from: "src/index.ts", as: only },
  thread: { from: "src/thread/far.ts", as: run },
  cli: { from: "src/cli/main.ts", as: run },
  index: { from: "src/lib.ts", as: all },
  api: { from: "src/api.ts", as: all },
  core: { from: "src/core.ts", as: all },
  config: { from: "src/config.ts", as: all },
  context: { from: "src/context.ts", as: all },
  audit: { from: "src/audit-log.ts", as: all },
}

/** One bundle with many doors: a file for each, because entries that import one another cannot be named freely. */
async function bundle(outdir: string) {
  const doors = mkdtempSync(join(tmpdir(), "pass-over-entries-"))
  try {
    for (const [name, { from, as }] of Object.entries(ENTRIES)) {
      writeFileSync(join(doors, `${name}.ts`), as(join(root, from)))
    }
    const result = await Bun.build({
      entrypoints: Object.keys(ENTRIES).map((name) => join(doors, `${name}.ts`)),
      outdir,
      naming: { entry: "[name].[ext]", chunk: "chunk-[hash].[ext]" },
      target: "bun",
      splitting: true,
      minify: true,
    })
    if (!result.success) throw new AggregateError(result.logs, "the bundle could not be built")
    return result.outputs.map(({ path, size }) => ({ path, size }))
  } finally {
    rmSync(doors, { recursive: true, force: true })
  }
}

export async function build(outdir = dist) {
  rmSync(outdir, { recursive: true, force: true })
  // One after the other: the bundler does not like company.
  const built = [...(await bundle(outdir)), ...(await buildTui(outdir))]
  const panel = await buildPanel(join(outdir, "panel"))
  for (const name of new Bun.Glob("**/*").scanSync(panel)) {
    built.push({ path: join(panel, name), size: Bun.file(join(panel, name)).size })
  }
  return built
}

if (import.meta.main) for (const { path, size } of await build(process.argv[2])) console.log(`${path} ${size}`)
