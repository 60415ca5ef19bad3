/**
 * The proofs of "every pass ends once", all of them; `npm test` runs a part of each.
 *
 *   bun script/proof.ts [schedule|fault|kill|flow|change] …
 *
 * - schedule  10,000 schedules of everything that can end a pass, in the same millisecond
 * - fault     every fault of a provider at every position, 20 times each, and on the real opencode
 * - kill      kill -9 at 300 moments of the engine and at 20 of the real opencode
 * - flow      kill -9 at 200 moments of the flow `feature` on the engine and at 15 on the real opencode
 * - change    kill -9 at every call by which an apply, an undo or their recovery changes the disk;
 *             6,000 paths and 5,000 races for the way out of the project; git as the judge of 3,000 changes
 */
import { join } from "node:path"

const at = (path: string) => `./test/pass-over/${path}.test.ts`
const PROOFS: Record<string, string[]> = {
  schedule: [at("proof/schedule")],
  fault: [at("proof/fault"), at("integration/fault-real")],
  kill: [at("proof/kill"), at("integration/recovery")],
  flow: [at("engine/flow-kill"), at("integration/flow-kill")],
  change: [at("change/kill"), at("change/path"), at("change/git-judge")],
}

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in PROOFS))
if (unknown.length > 0) {
  console.error(`There is no proof "${unknown[0]}". Choose from: ${Object.keys(PROOFS).join(", ")}.`)
  process.exit(2)
}

const files = (asked.length > 0 ? asked : Object.keys(PROOFS)).flatMap((name) => PROOFS[name] ?? [])
const child = Bun.spawn([process.execPath, "test", ...files], {
  cwd: join(import.meta.dir, "../packages/opencode"),
  env: { ...process.env, PASS_OVER_PROOF: "all" },
  stdio: ["ignore", "inherit", "inherit"],
})
process.exit(await child.exited)
