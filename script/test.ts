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
import { runSuite, type Run, type Suite, type Tally } from "./test/suite"
import { suites } from "./test/suites"

const root = join(import.meta.dir, "..")
const scratch = mkdtempSync(join(tmpdir(), "pass-over-test-"))

const CORE = "src/pass-over/"

// Much of it is waiting: for a process to start, for a browser, for a child that hangs on purpose.
const LANES = 2

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

const step = (each: (typeof GATE)[number]): Job<Run> => ({ name: each.name, run: async () => runStep(each) })
const suite = (each: Suite): Job<Run> => ({ name: each.name, run: (screen) => runSuite(each, root, scratch, screen) })

/** What cannot even be run has failed, and keeps nothing else from being run and counted. */
const safe = ({ name, run }: Job<Run>): Job<Run> => ({
  name,
  run: (screen) =>
    run(screen).catch((error: unknown): Run => {
      return {
        tally: { passed: 0, failed: 1, skipped: 0 },
        failures: [`── ${name}\nIt could not be run: ${String(error)}`],
      }
    }),
})
const all = (jobs: readonly Job<Run>[], lanes: number) => inLanes(jobs.map(safe), lanes, process.stdout, told)

provide()
await all(GATE.map(step), 1)
await all(suites(root, scratch).map(suite), LANES)
await all([{ name: "what the tests of the core go through", run: coverage }], 1)
rmSync(scratch, { recursive: true, force: true })

if (failures.length > 0) console.log(`\nWhat failed:\n\n${failures.join("\n\n")}`)
const skipped = tally.skipped > 0 ? `, ${tally.skipped} skipped` : ""
console.log(`\n${tally.passed} passed, ${tally.failed} failed${skipped}`)
process.exit(tally.failed === 0 ? 0 : 1)
