/** The gate before a commit: stops at the first thing that is wrong. */
import { join } from "node:path"
import { GATE } from "./gate"

const root = join(import.meta.dir, "..")
// What boots the real opencode, waits for or kills processes, or goes through thousands of cases takes its time; it
// belongs to npm test.
const LATER = [
  "**/integration/**",
  "**/proof/**",
  "**/*kill.test.ts",
  "**/contention.test.ts",
  "**/launcher.test.ts",
  "**/retention-property.test.ts",
  "**/{disk,git-judge,flow-shape}.test.ts",
  "**/node_modules/**",
  "packages/rehearsal/**",
  "packages/app/**",
  // The test of the sample project is meant to fail: its bug is what npm start is about.
  "docs/**",
]
const unit = (without: readonly string[], ...only: string[]) => [
  process.execPath,
  "test",
  "--only-failures",
  ...[...LATER, ...without].flatMap((pattern) => ["--path-ignore-patterns", pattern]),
  ...only,
]

// Side by side: much of it is waiting, and a process that has loaded everything there is spends its time on its memory.
const tests = (...names: string[]) => names.map((name) => `packages/opencode/test/${name}`)
const below = (paths: readonly string[]) => paths.map((path) => `${path}/**`)
const BUSY = tests("pass-over/engine", "cli", "server")
const CORE = tests("pass-over")
const UNITS = [
  { name: "unit tests of the engine, the command line and the API", command: unit([], ...BUSY) },
  { name: "unit tests of the core and the store", command: unit(below(BUSY), ...CORE) },
  { name: "unit tests of the rest", command: unit(below([...BUSY, ...CORE])) },
]

type Step = { name: string; command: string[] }

async function run({ name, command }: Step): Promise<boolean> {
  const began = performance.now()
  const code = await Bun.spawn(command, { cwd: root, stdio: ["ignore", "inherit", "inherit"] }).exited
  if (code !== 0) console.error(`${name}: failed`)
  if (code === 0) console.log(`${name}: ok (${((performance.now() - began) / 1000).toFixed(1)} s)`)
  return code === 0
}

for (const step of GATE) if (!(await run(step))) process.exit(1)
if ((await Promise.all(UNITS.map(run))).includes(false)) process.exit(1)
