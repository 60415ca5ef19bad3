/**
 * Runs every test of the project and says how it went. What failed is shown once more at the end. The last line is
 * `N passed, N failed`, with `, N skipped` where there are any, and nothing else on it.
 */
import { Glob } from "bun"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { GATE } from "./gate"
import { coverageOf, LEAST } from "./test/coverage"
import { inLanes, type Done, type Job } from "./test/lanes"
import { provide } from "./test/provide"
import { deal, type Deal } from "./test/share"
import { runSuite, type Run, type Suite, type Tally } from "./test/suite"

const root = join(import.meta.dir, "..")
const scratch = mkdtempSync(join(tmpdir(), "pass-over-test-"))

// Much of it is waiting: for a process to start, for a browser, for a child that hangs on purpose.
const LANES = 2

const CORE = "src/pass-over/"

/** What a run of tests goes through is written down, because not one of them sees all of it. */
const counted = (suite: Suite, index: number): Suite => ({
  ...suite,
  args: [...suite.args, "--coverage", "--coverage-reporter=lcov", `--coverage-dir=${join(scratch, `lcov-${index}`)}`],
})

const shared = (name: string, shares: number, of: Deal): Suite[] =>
  deal(root, of, shares).map((args, index, { length }) => ({
    name: `${name} (${index + 1} of ${length})`,
    cwd: of.cwd,
    args,
  }))

const plugin = { cwd: "packages/opencode" }
const REAL = "test/pass-over/integration"
const HALF = ["test/pass-over/engine", "test/cli", "test/server"]
const panel = (name: string, file: string) => ({ name, cwd: "packages/app", args: [`./test/browser/${file}.test.ts`] })

const UNITS: readonly Suite[] = [
  // A process that has loaded everything there is spends its time on its memory.
  ...shared("the core, the store and the edges", 3, { ...plugin, among: ["test"], without: [REAL, ...HALF] }),
  ...shared("the engine, the command line and the API", 2, { ...plugin, among: HALF }),
]

// What fails fastest and means most comes first; the short ones come last, so that no lane waits for the other for long.
const SUITES: readonly Suite[] = [
  { name: "the scripts", cwd: ".", args: ["./script"] },
  { name: "the terminal's decisions", cwd: "packages/tui", args: [] },
  { name: "the panel's decisions", cwd: "packages/app", args: ["./test/view"] },
  ...UNITS.map(counted),
  ...shared("the real opencode", 6, { ...plugin, among: [REAL] }),
  { name: "the rehearsal", cwd: "packages/rehearsal", args: [] },
  // Each in a process of its own: a browser, a server and an opencode are enough for one.
  panel("the panel in Chromium", "panel"),
  panel("the hand in the panel", "hand"),
  panel("the panel and the real opencode", "real"),
  panel("the panel and hostile text", "hostile"),
  panel("changes in the panel", "changes"),
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

/** The core has to be gone through by its own tests; what only the real opencode reaches comes on top. */
async function coverage(): Promise<Run> {
  const paths = [...new Glob("lcov-*/lcov.info").scanSync({ cwd: scratch, absolute: true })]
  const reports = await Promise.all(paths.map((path) => Bun.file(path).text()))
  const { percent, told } = coverageOf(reports, CORE)
  console.log(told)
  if (percent >= LEAST) return { tally: { passed: 1, failed: 0, skipped: 0 }, failures: [] }
  const why = `── what the tests of the core go through\nIt has to be ${LEAST} % of its lines, and is ${told}`
  return { tally: { passed: 0, failed: 1, skipped: 0 }, failures: [why] }
}

let tally: Tally = { passed: 0, failed: 0, skipped: 0 }
const failures: string[] = []

const told = {
  begin: (name: string) => console.log(`\n── ${name}`),
  end({ result, seconds }: Done<Run>) {
    tally = add(tally, result.tally)
    failures.push(...result.failures)
    console.log(`── ${seconds.toFixed(0)} s`)
  },
}

const step = (each: (typeof GATE)[number]): Job<Run> => ({ name: each.name, run: () => runStep(each) })
const suite = (each: Suite): Job<Run> => ({ name: each.name, run: (screen) => runSuite(each, root, scratch, screen) })

provide()
await inLanes(GATE.map(step), 1, process.stdout, told)
await inLanes(SUITES.map(suite), LANES, process.stdout, told)
await inLanes([{ name: "what the tests of the core go through", run: coverage }], 1, process.stdout, told)
rmSync(scratch, { recursive: true, force: true })

if (failures.length > 0) console.log(`\nWhat failed:\n\n${failures.join("\n\n")}`)
const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : ""
console.log(`\n${tally.passed} passed, ${tally.failed} failed${skipped}`)
process.exit(tally.failed === 0 ? 0 : 1)
