import { expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const README = join(import.meta.dir, "../README.md")

test("the files in the README run as they are printed", async () => {
  const text = await Bun.file(README).text()
  const files = [...text.matchAll(/```ts\n\/\/ (\S+)\n([^]*?)```/g)]
  expect(files.map((file) => file[1])).toEqual(["protect.ts", "protect.test.ts", "shared.test.ts", "preload.ts"])
  // Within the package, where its own name leads to it.
  const directory = mkdtempSync(join(import.meta.dir, ".readme-"))
  try {
    for (const [, name = "", content = ""] of files) writeFileSync(join(directory, name), content)
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
