/**
 * Puts the package together as it is published: everything bundled, nothing to install beside it. The sources have
 * another `package.json`, whose exports lead to themselves; this is the only way from one to the other.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { build } from "./build"
import { declare } from "./declare"

const root = join(import.meta.dir, "..")
const top = join(root, "../..")

type Manifest = Record<"name" | "version" | "description" | "license" | "type", string> & {
  bin: Record<string, string>
  exports: Record<string, string>
}

const entry = (name: string) => ({ types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` })

/** The exports of the sources, each by the file that its bundle is in. */
const EXPORTS = {
  ".": entry("index"),
  "./server": entry("server"),
  "./tui": entry("tui"),
  "./api": entry("api"),
  "./core": entry("core"),
  "./config": entry("config"),
  "./context": entry("context"),
  "./audit": entry("audit"),
}

export function manifest(version?: string) {
  const { name, description, license, type, bin, ...rest } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  ) as Manifest
  const missing = Object.keys(rest.exports).filter((path) => !(path in EXPORTS))
  if (missing.length > 0) throw new Error(`not built: ${missing.join(", ")}`)
  return {
    name,
    version: version ?? rest.version,
    description,
    keywords: ["opencode", "opencode-plugin", "agents", "subagents", "delegation", "code-review"],
    license,
    type,
    bin,
    types: EXPORTS["."].types,
    exports: { ...EXPORTS, "./schema/*": "./schema/*", "./package.json": "./package.json" },
    files: ["bin", "dist", "schema", "CHANGELOG.md"],
    engines: { node: ">=20", opencode: ">=1.18.0 <2.0.0" },
  }
}

/** Writes the package into a folder of its own, from which npm packs and publishes it. */
export async function pack(folder: string, options: { version?: string | undefined } = {}) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await build(join(folder, "dist"))
  await declare(join(folder, "dist"))
  for (const name of ["bin", "schema"]) cpSync(join(root, name), join(folder, name), { recursive: true })
  for (const name of ["README.md", "CHANGELOG.md", "LICENSE"]) cpSync(join(top, name), join(folder, name))
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest(options.version), undefined, 2)}\n`)
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? join(root, "pack"))
  await pack(folder, { version: process.argv[3] })
  console.log(folder)
}
