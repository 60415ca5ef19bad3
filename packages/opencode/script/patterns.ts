/** Whether any text makes a pattern that looks for secrets slow: `bun script/patterns.ts`. It takes some twenty seconds. */
import { checkSync } from "recheck"
import { CONTEXTS } from "../src/pass-over/domain/secret-context"
import { TOKENS } from "../src/pass-over/domain/secret-rules"

const patterns = new Map([...TOKENS, ...CONTEXTS].map(({ pattern }) => [`${pattern}`, pattern]))
const unsafe = [...patterns.values()].flatMap((pattern) => {
  const { status } = checkSync(pattern.source, pattern.flags, { timeout: 30_000 })
  return status === "safe" ? [] : [`${status}: ${pattern.source}`]
})
console.log(`${patterns.size} patterns, ${unsafe.length} not safe`)
for (const line of unsafe) console.log(line)
process.exit(unsafe.length === 0 ? 0 : 1)
