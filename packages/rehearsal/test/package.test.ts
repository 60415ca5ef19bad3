import { expect, test } from "bun:test"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { writeExamples } from "./example"

const NAME = "@pass-over/rehearsal"
const PACKAGE = join(import.meta.dir, "..")
const LOCK = join(PACKAGE, "../../bun.lock")

type Packed = { tarball: string; dependencies: Record<string, string> }
type Lock = { lockfileVersion: number; packages: Record<string, [id: string, ...rest: unknown[]]> }

async function run(cwd: string, command: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn(command, { cwd, env: { ...process.env, ...env }, stdout: "pipe", stderr: "pipe" })
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()])
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}:\n${out}${err}`)
  return { out, err }
}

async function pack(folder: string): Promise<Packed> {
  const packed = await run(PACKAGE, [process.execPath, "pm", "pack", "--quiet", "--destination", folder])
  const tarball = basename(packed.out.trim())
  const { out } = await run(folder, ["tar", "-xzOf", tarball, "package/package.json"])
  const { dependencies } = JSON.parse(out) as Pick<Packed, "dependencies">
  return { tarball, dependencies }
}

/**
 * Bun's cache, seen from a folder of our own. Bun knows a tarball by its path, so in the real one it would find what it
 * was given under this name before, and leave this one to whoever comes next.
 */
async function cacheFor(folder: string) {
  const { out } = await run(folder, [process.execPath, "pm", "cache"])
  const [real, own] = [out.trim(), join(folder, ".cache")]
  mkdirSync(own)
  const names = existsSync(real) ? readdirSync(real).filter((name) => !name.startsWith("@T@")) : []
  for (const name of names) symlinkSync(join(real, name), join(own, name))
  return own
}

/** With the versions of this repository's lock, which Bun has in its cache: it asks the network only for the others. */
async function install(folder: string, { tarball, dependencies }: Packed) {
  const { lockfileVersion, packages } = Bun.JSONC.parse(await Bun.file(LOCK).text()) as Lock
  const foreign = Object.entries(packages).filter(([, [id]]) => !id.includes("@workspace:"))
  const devDependencies = { [NAME]: tarball }
  const lock = {
    lockfileVersion,
    workspaces: { "": { devDependencies } },
    packages: { ...Object.fromEntries(foreign), [NAME]: [`${NAME}@${tarball}`, { dependencies }] },
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ devDependencies }))
  writeFileSync(join(folder, "bun.lock"), JSON.stringify(lock))
  await run(folder, [process.execPath, "install"], { BUN_INSTALL_CACHE_DIR: await cacheFor(folder) })
  return join(folder, "node_modules", NAME)
}

test("packed and installed in an empty folder, it runs its README's first example", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rehearsal-package-"))
  const packed = await pack(folder)
  for (const version of Object.values(packed.dependencies)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
  const installed = await install(folder, packed)
  expect(readdirSync(installed).toSorted()).toEqual(["LICENSE", "README.md", "package.json", "src"])
  await writeExamples(join(installed, "README.md"), folder, "protect.ts", "protect.test.ts")
  const { err } = await run(folder, [process.execPath, "test"])
  expect(err).toContain("1 pass")
}, 180_000)
