/**
 * Runs every test of the project and says how it went. The last line is `N passed, N failed`, with `, N skipped` where
 * there are any, and nothing else on it.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { GATE } from "./gate"

const MOST_MS = 12 * 60_000

type Tally = { passed: number; failed: number; skipped: number }
type Suite = { name: string; cwd: string; args: string[] }

const root = join(import.meta.dir, "..")
const scratch = mkdtempSync(join(tmpdir(), "pass-over-test-"))

const SUITES: readonly Suite[] = [
  {
    name: "the core, the store and the edges",
    cwd: "packages/opencode",
    args: ["--path-ignore-patterns", "**/integration/**"],
  },
  { name: "the rehearsal", cwd: "packages/rehearsal", args: [] },
  { name: "the terminal's decisions", cwd: "packages/tui", args: [] },
  { name: "the panel's decisions", cwd: "packages/app", args: ["./test/view"] },
  // Each in a process of its own: a browser, a server and an opencode are enough for one.
  { name: "the panel in Chromium", cwd: "packages/app", args: ["./test/browser/panel.test.ts"] },
  { name: "the panel and the real opencode", cwd: "packages/app", args: ["./test/browser/real.test.ts"] },
  { name: "the panel and hostile text", cwd: "packages/app", args: ["./test/browser/hostile.test.ts"] },
  { name: "the real opencode", cwd: "packages/opencode", args: ["test/pass-over/integration"] },
]

const add = (a: Tally, b: Tally): Tally => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
})

const number = (text: string, name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(text)?.[1] ?? 0)

/** What a suite's report says. A suite that died before it wrote one, or that ran nothing, has failed. */
function read(report: string, ok: boolean): Tally {
  const text = (() => {
    try {
      return readFileSync(report, "utf8")
    } catch {
      return ""
    }
  })()
  const head = /<testsuites[^>]*>/.exec(text)?.[0] ?? ""
  const [all, failed, skipped] = [number(head, "tests"), number(head, "failures"), number(head, "skipped")]
  if (all === 0 || (!ok && failed === 0))
    return { passed: Math.max(0, all - failed - skipped), failed: failed + 1, skipped }
  return { passed: all - failed - skipped, failed, skipped }
}

async function run(suite: Suite): Promise<Tally> {
  console.log(`\n── ${suite.name}`)
  const report = join(scratch, `${suite.name.replaceAll(/\W+/g, "-")}.xml`)
  const child = Bun.spawn(
    [process.execPath, "test", ...suite.args, "--reporter=junit", `--reporter-outfile=${report}`],
    // A suite that hangs has failed: it must not take the others with it.
    { cwd: join(root, suite.cwd), stdio: ["ignore", "inherit", "inherit"], timeout: MOST_MS, killSignal: "SIGKILL" },
  )
  const code = await child.exited
  return read(report, code === 0)
}

let tally: Tally = { passed: 0, failed: 0, skipped: 0 }
for (const step of GATE) {
  console.log(`\n── ${step.name}`)
  const code = await Bun.spawn(step.command, { cwd: root, stdio: ["ignore", "inherit", "inherit"] }).exited
  tally = add(tally, { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0 })
}
for (const suite of SUITES) tally = add(tally, await run(suite))
rmSync(scratch, { recursive: true, force: true })

const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : ""
console.log(`\n${tally.passed} passed, ${tally.failed} failed${skipped}`)
process.exit(tally.failed === 0 ? 0 : 1)
