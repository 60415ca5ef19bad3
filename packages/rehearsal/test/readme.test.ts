import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { writeExamples } from "./example"

const README = join(import.meta.dir, "../README.md")

test("the files in the README run as they are printed", async () => {
  // Within the package, where its own name leads to it.
  const directory = mkdtempSync(join(import.meta.dir, ".readme-"))
  try {
    const names = await writeExamples(README, directory)
    expect(names).toEqual(["protect.ts", "protect.test.ts", "shared.test.ts", "preload.ts"])
    const output = await testIn(directory)
    expect(output).toContain("3 pass")
    expect(output).toContain("0 fail")
  } finally {
    rmSync(directory, { recursive: true })
  }
}, 60_000)

function testIn(cwd: string) {
  const command = [process.execPath, "test", "--preload", "./preload.ts"]
  return Bun.spawn(command, { cwd, stdout: "ignore", stderr: "pipe" }).stderr.text()
}
