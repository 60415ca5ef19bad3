/** Which tests there are, and how they are run: some share a process, and some must not. */
import { join } from "node:path"
import { deal, type Deal } from "./share"
import type { Suite } from "./suite"

const plugin = { cwd: "packages/opencode" }
const REAL = "test/pass-over/integration"
const HALF = ["test/pass-over/engine", "test/cli", "test/server"]
const panel = (name: string, file: string) => ({ name, cwd: "packages/app", args: [`./test/browser/${file}.test.ts`] })

/** What a run of tests goes through is written down, because not one of them sees all of it. */
const counted =
  (scratch: string) =>
  (suite: Suite, index: number): Suite => ({
    ...suite,
    args: [...suite.args, "--coverage", "--coverage-reporter=lcov", `--coverage-dir=${join(scratch, `lcov-${index}`)}`],
  })

/** What fails fastest and means most comes first; the short ones come last, so that no lane waits for the other for long. */
export function suites(root: string, scratch: string): readonly Suite[] {
  const shared = (name: string, shares: number, of: Deal): Suite[] =>
    deal(root, of, shares).map((args, index, { length }) => ({
      name: `${name} (${index + 1} of ${length})`,
      cwd: of.cwd,
      args,
    }))
  // A process that has loaded everything there is spends its time on its memory.
  const units = [
    ...shared("the core, the store and the edges", 3, { ...plugin, among: ["test"], without: [REAL, ...HALF] }),
    ...shared("the engine, the command line and the API", 2, { ...plugin, among: HALF }),
  ]
  return [
    { name: "the scripts", cwd: ".", args: ["./script"] },
    { name: "the terminal's decisions", cwd: "packages/tui", args: ["./test"] },
    { name: "the panel's decisions", cwd: "packages/app", args: ["./test/view"] },
    ...units.map(counted(scratch)),
    ...shared("the real opencode", 6, { ...plugin, among: [REAL] }),
    { name: "the rehearsal", cwd: "packages/rehearsal", args: ["./test"] },
    // Each in a process of its own: a browser, a server and an opencode are enough for one.
    panel("the panel in Chromium", "panel"),
    panel("the hand in the panel", "hand"),
    panel("the panel and the real opencode", "real"),
    panel("the panel and hostile text", "hostile"),
    panel("changes in the panel", "changes"),
  ]
}
