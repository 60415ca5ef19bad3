import { expect, test } from "bun:test"
import { readdirSync, writeFileSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const LITTER = `
import { test } from "bun:test"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
test("litters", () => void mkdtempSync(join(tmpdir(), "litter-")))
`

/** What a run of tests that clean nothing up leaves in the temporary folder. */
async function left(...options: string[]) {
  const [project, temporary] = await Promise.all(["project-", "tmp-"].map((name) => mkdtemp(join(tmpdir(), name))))
  writeFileSync(join(project ?? "", "litter.test.ts"), LITTER)
  const child = Bun.spawn([process.execPath, "test", ...options], {
    cwd: project ?? "",
    env: { ...process.env, TMPDIR: temporary ?? "" },
    stdio: ["ignore", "ignore", "ignore"],
  })
  expect(await child.exited).toBe(0)
  return readdirSync(temporary ?? "")
}

test("a run of tests leaves nothing in the temporary folder", async () => {
  expect(await left("--preload", join(import.meta.dir, "temporary.ts"))).toEqual([])
  expect(await left()).toEqual([expect.stringMatching(/^litter-/)])
})

test("every package's tests have it before them", async () => {
  const root = join(import.meta.dir, "../..")
  const files = ["bunfig.toml", ...readdirSync(join(root, "packages")).map((name) => `packages/${name}/bunfig.toml`)]
  for (const file of files) {
    const { test: settings } = Bun.TOML.parse(await Bun.file(join(root, file)).text()) as {
      test: { preload: string[] }
    }
    expect(settings.preload.map((path) => join(root, file, "..", path))).toEqual([
      join(import.meta.dir, "temporary.ts"),
    ])
  }
})
