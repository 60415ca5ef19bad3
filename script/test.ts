/**
 * Runs every test of the project and says how it went. What failed is shown once more at the end. The last line is
 * `N passed, N failed`, with `, N skipped` where there are any, and nothing else on it.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { GATE } from "./gate"
import { provide } from "./test/provide"
import { runSuite, type Run, type Suite, type Tally } from "./test/suite"

const root = join(import.meta.dir, "..")
const scratch = mkdtempSync(join(tmpdir(), "pass-over-test-"))

const without = (...patterns: string[]) => patterns.flatMap((pattern) => ["--path-ignore-patterns", pattern])

// Two halves that take equally long, side by side: much of it is waiting.
const HALF = ["test/pass-over/engine", "test/cli", "test/server"]
const UNITS: readonly Suite[] = [
  {
    name: "the core, the store and the edges",
    cwd: "packages/opencode",
    args: without("**/integration/**", ...HALF.map((path) => `${path}/**`)),
  },
  { name: "the engine, the command line and the API", cwd: "packages/opencode", args: HALF },
]

const SUITES: readonly Suite[] = [
  { name: "the rehearsal", cwd: "packages/rehearsal", args: [] },
  { name: "the terminal's decisions", cwd: "packages/tui", args: [] },
  { name: "the panel's decisions", cwd: "packages/app", args: ["./test/view"] },
  // Each in a process of its own: a browser, a server and an opencode are enough for one.
  { name: "the panel in Chromium", cwd: "packages/app", args: ["./test/browser/panel.test.ts"] },
  { name: "changes in the panel", cwd: "packages/app", args: ["./test/browser/changes.test.ts"] },
  { name: "the hand in the panel", cwd: "packages/app", args: ["./test/browser/hand.test.ts"] },
  { name: "the panel and the real opencode", cwd: "packages/app", args: ["./test/browser/real.test.ts"] },
  { name: "the panel and hostile text", cwd: "packages/app", args: ["./test/browser/hostile.test.ts"] },
  { name: "the real opencode", cwd: "packages/opencode", args: ["test/pass-over/integration"] },
]

const add = (a: Tally, b: Tally): Tally => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
})

async function runStep({ name, command }: (typeof GATE)[number]): Promise<Run> {
  const code = await Bun.spawn(command, { cwd: root, stdio: ["ignore", "inherit", "inherit"] }).exited
  if (code === 0) return { tally: { passed: 1, failed: 0, skipped: 0 }, failures: [] }
  return { tally: { passed: 0, failed: 1, skipped: 0 }, failures: [`── ${name}\nSee above: ${command.join(" ")}`] }
}

let tally: Tally = { passed: 0, failed: 0, skipped: 0 }
const failures: string[] = []

async function take(name: string, run: () => Promise<Run>) {
  const began = performance.now()
  console.log(`\n── ${name}`)
  const done = await run()
  tally = add(tally, done.tally)
  failures.push(...done.failures)
  console.log(`── ${((performance.now() - began) / 1000).toFixed(0)} s`)
}

/** Runs suites at the same time, and shows each by itself. */
async function together(suites: readonly Suite[]) {
  const running = suites.map((suite, index) => {
    const shown: Uint8Array[] = []
    // The first is seen as it goes.
    const screen = index === 0 ? process.stdout : { write: (chunk: Uint8Array) => shown.push(chunk) }
    const run = runSuite(suite, root, scratch, screen)
    return { name: suite.name, shown, run }
  })
  for (const { name, shown, run } of running) {
    await take(name, async () => {
      const done = await run
      for (const chunk of shown) process.stdout.write(chunk)
      return done
    })
  }
}

provide()
for (const step of GATE) await take(step.name, () => runStep(step))
await take("the scripts", () => runSuite({ name: "the scripts", cwd: ".", args: ["./script"] }, root, scratch))
await together(UNITS)
for (const suite of SUITES) await take(suite.name, () => runSuite(suite, root, scratch))
rmSync(scratch, { recursive: true, force: true })

if (failures.length > 0) console.log(`\nWhat failed:\n\n${failures.join("\n\n")}`)
const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : ""
console.log(`\n${tally.passed} passed, ${tally.failed} failed${skipped}`)
process.exit(tally.failed === 0 ? 0 : 1)
