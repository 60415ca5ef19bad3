/**
 * The properties of the selection over many generated sessions: within budget by an exact count, not empty when
 * something fits, the same each time, readable, every message and file accounted for.
 *
 *   bun script/prove-context.ts [sessions]
 */
import { tokens } from "../packages/opencode/src/session/tokens"
import { contextProblems, selectionProblems } from "../packages/opencode/test/pass-over/support/select-property"

const sessions = Number(process.argv[2] ?? 10_000)
const count = await tokens()
const problems: string[] = []
for (let seed = 1; seed <= sessions; seed += 1) {
  problems.push(...selectionProblems(seed, count), ...(seed % 20 === 0 ? await contextProblems(seed, count) : []))
}
console.log(problems.slice(0, 20).join("\n") || `${sessions} sessions: nothing wrong`)
process.exit(problems.length === 0 ? 0 : 1)
