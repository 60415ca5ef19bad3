/** Compiles the terminal plugin into one file. What the host brings (Solid and its terminal renderer) stays outside. */
import { transformAsync } from "@babel/core"
import type { BunPlugin } from "bun"
import { join } from "node:path"

const root = join(import.meta.dir, "..")

// The terminal renderer is a universal one: elements are made by calls and not from templates.
const solid: BunPlugin = {
  name: "solid for the terminal",
  setup(build) {
    build.onLoad({ filter: /\.tsx$/ }, async ({ path }) => {
      const compiled = await transformAsync(await Bun.file(path).text(), {
        filename: path,
        cwd: root,
        configFile: false,
        presets: [
          ["babel-preset-solid", { generate: "universal", moduleName: "@opentui/solid" }],
          "@babel/preset-typescript",
        ],
      })
      if (typeof compiled?.code !== "string") throw new Error(`${path} could not be compiled`)
      return { contents: compiled.code, loader: "js" }
    })
  },
}

export async function buildTui(outdir: string) {
  const result = await Bun.build({
    entrypoints: [join(root, "src/index.tsx")],
    outdir,
    naming: { entry: "tui.[ext]", chunk: "chunk-[hash].[ext]" },
    target: "bun",
    splitting: true,
    // The host finds the names of its own modules in the text, and only where a blank stands before them.
    minify: { whitespace: false, identifiers: false, syntax: true },
    external: ["solid-js", "@opentui/*"],
    plugins: [solid],
  })
  if (!result.success) throw new AggregateError(result.logs, "the terminal plugin could not be built")
  return result.outputs.map(({ path, size }) => ({ path, size }))
}

if (import.meta.main) {
  const outdir = process.argv[2] ?? join(root, "../opencode/dist")
  for (const { path, size } of await buildTui(outdir)) console.log(`${path} ${size}`)
}
