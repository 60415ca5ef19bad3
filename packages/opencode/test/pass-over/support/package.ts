import { mkdtempSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const SCRIPT = join(import.meta.dir, "../../../script/pack.ts")

export type Packed = {
  version: string
  /** The tarball, as npm would publish it. */
  tarball: string
  bytes: number
  files: { path: string; size: number }[]
}

const npm = async (cwd: string, ...argv: string[]) => {
  const child = Bun.spawn([Bun.which("npm") ?? "npm", ...argv], { cwd, stdout: "pipe", stderr: "pipe" })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  if ((await child.exited) !== 0) throw new Error(`npm ${argv.join(" ")}: ${err}`)
  return out
}

/** Packages as they are published, one for each version, all from one build. */
export async function createPackages(...versions: string[]): Promise<Packed[]> {
  const root = mkdtempSync(join(tmpdir(), "pass-over-package-"))
  const folder = join(root, "package")
  // In a process of its own: the bundler does not work where the same modules are loaded already.
  const child = Bun.spawn([process.execPath, SCRIPT, folder], { stdout: "ignore", stderr: "pipe" })
  if ((await child.exited) !== 0) throw new Error(`the package could not be made: ${await child.stderr.text()}`)
  const packed: Packed[] = []
  for (const version of versions) {
    const file = Bun.file(join(folder, "package.json"))
    await Bun.write(file, JSON.stringify({ ...(await file.json()), version }))
    const out = await npm(folder, "pack", "--json", "--ignore-scripts", "--pack-destination", root)
    const [made] = JSON.parse(out) as { filename: string; size: number; files: { path: string; size: number }[] }[]
    if (!made) throw new Error(`npm packed nothing: ${readdirSync(root).join(", ")}`)
    packed.push({ version, tarball: join(root, made.filename), bytes: made.size, files: made.files })
  }
  return packed
}

export type Registry = Disposable & { url: string; publish(packed: Packed): Promise<void> }

/**
 * An npm registry with one package in it. Installed from a file, the package would lie below a path with a colon in it,
 * and opencode's terminal loads nothing from there.
 */
export function createRegistry(name: string): Registry {
  const versions = new Map<string, { packed: Packed; integrity: string }>()
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname, origin } = new URL(request.url)
      const [, tarball] = /^\/tarball\/(.+)$/.exec(pathname) ?? []
      const wanted = tarball === undefined ? undefined : versions.get(tarball)
      if (wanted) return new Response(Bun.file(wanted.packed.tarball))
      if (pathname !== `/${name}`) return new Response("{}", { status: 404 })
      const all = [...versions].map(([version, { integrity }]) => [
        version,
        { name, version, dist: { tarball: `${origin}/tarball/${version}`, integrity } },
      ])
      return Response.json({
        name,
        "dist-tags": { latest: [...versions.keys()].at(-1) },
        versions: Object.fromEntries(all),
      })
    },
  })
  return {
    url: `${server.url.origin}/`,
    async publish(packed) {
      const bytes = await Bun.file(packed.tarball).bytes()
      const integrity = `sha512-${new Bun.CryptoHasher("sha512").update(bytes).digest("base64")}`
      versions.set(packed.version, { packed, integrity })
    },
    [Symbol.dispose]: () => void server.stop(true),
  }
}
