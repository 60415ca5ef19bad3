import { expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { failuresIn, runSuite, tallyOf } from "./suite"

async function ran(source: string) {
  const folder = mkdtempSync(join(tmpdir(), "pass-over-suite-"))
  writeFileSync(join(folder, "some.test.ts"), source)
  try {
    return await runSuite({ name: "some", cwd: ".", args: [] }, folder, folder, { write: () => true })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const HEAD = `import { beforeAll, expect, test } from "bun:test"\n`

test("what failed is counted and told with its reason", async () => {
  const run = await ran(
    `${HEAD}test("good", () => {})\ntest("bad", () => expect(1).toBe(2))\ntest("good too", () => {})\n`,
  )
  expect(run.tally).toEqual({ passed: 2, failed: 1, skipped: 0 })
  expect(run.failures).toHaveLength(1)
  expect(run.failures[0]).toContain("(fail) bad")
  expect(run.failures[0]).toContain("Expected: 2")
  expect(run.failures[0]).not.toContain("good")
})

test("an attempt that was made again with success is no failure, and no test of its own", async () => {
  const again = `let times = 0\ntest("again", () => expect((times += 1)).toBe(2), { retry: 2 })\n`
  const run = await ran(`${HEAD}${again}test("good", () => {})\n`)
  expect(run).toEqual({ tally: { passed: 2, failed: 0, skipped: 0 }, failures: [] })
  const never = await ran(`${HEAD}test("never", () => expect(1).toBe(2), { retry: 1 })\n`)
  expect(never.tally.failed).toBeGreaterThan(0)
})

test("a suite whose preparation fails, or that dies, has failed and says why", async () => {
  const unprepared = await ran(`${HEAD}beforeAll(() => { throw new Error("no browser") })\ntest("one", () => {})\n`)
  expect(unprepared.tally.failed).toBeGreaterThan(0)
  expect(unprepared.failures.join("\n")).toContain("no browser")
  const died = await ran(`${HEAD}test("one", () => process.exit(3))\n`)
  expect(died.tally.failed).toBe(1)
  expect(died.failures).toHaveLength(1)
})

test("what a suite has started and left behind is not waited for", async () => {
  const began = performance.now()
  const sleeper = `Bun.spawn(["sleep", "12"], { stdio: ["ignore", "inherit", "inherit"] }).unref()`
  const run = await ran(`${HEAD}test("one", () => { ${sleeper} })\n`)
  expect(run.tally).toEqual({ passed: 1, failed: 0, skipped: 0 })
  expect(performance.now() - began).toBeLessThan(20_000)
}, 40_000)

test("what the runner says twice is told once", () => {
  const output = "some.test.ts:\nerror: no\n(fail) one\n(pass) two\n\n1 tests failed:\n(fail) one\n"
  expect(failuresIn(output)).toEqual(["some.test.ts:\nerror: no\n(fail) one"])
})

test("a suite without a report has failed", () => {
  expect(tallyOf("", true)).toEqual({ passed: 0, failed: 1, skipped: 0 })
})
