/**
 * What resolving the effective preference of a pair costs with 1,000 pairs in each of three places.
 *
 *   bun bench/preference.ts [rounds]
 */
import { resolve, type Written } from "../packages/opencode/src/pass-over/domain/config"
import { explain } from "../packages/opencode/src/pass-over/domain/explain"
import { quantile } from "./statistics"

const BAR_US = 50
const PAIRS = 1_000
const [rounds = 50_000] = process.argv.slice(2).map(Number)

const place = (origin: Written["origin"], timeout_ms: number): Written => ({
  origin,
  path: `${origin}.json`,
  preferences: {
    defaults: { timeout_ms, auto_apply: false },
    pairs: Object.fromEntries(
      Array.from({ length: PAIRS }, (_, index) => [
        `from${index}->to${index % 50}`,
        { timeout_ms: timeout_ms + index, auto_return: true, constraints: ["read_only"] },
      ]),
    ),
    subagents: { "*": { max_memory_mb: 512 }, to7: { can_modify_files: false } },
  },
})

const written = [place("stored", 1_000), place("project", 2_000), place("global", 3_000)]
const inline = { timeout_ms: 5_000 }

function measure(name: string, run: (from: string, to: string) => unknown): number {
  const samples = Array.from({ length: rounds }, (_, index) => {
    const [from, to] = [`from${index % PAIRS}`, `to${index % 50}`]
    const begun = Bun.nanoseconds()
    run(from, to)
    return (Bun.nanoseconds() - begun) / 1_000
  })
  const at = (q: number) => quantile(samples, q).toFixed(1)
  console.log(`${name}: p50 ${at(0.5)} µs, p95 ${at(0.95)} µs, p99 ${at(0.99)} µs (${PAIRS} pairs in 3 places)`)
  return quantile(samples, 0.5)
}

const median = measure("resolve", (from, to) => resolve(from, to, { written, inline }))
measure("explain", (from, to) => explain(from, to, { written, inline }))
if (median > BAR_US) {
  console.error(`resolve is slower than ${BAR_US} µs`)
  process.exit(1)
}
