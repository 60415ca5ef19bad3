/**
 * How well circles are told from honest work that looks like them, kind by kind.
 *
 *   bun script/circle.ts [seed] [sessions of each kind]
 */
import { score } from "../test/pass-over/support/circle-corpus"

const [seed = 2, each = 300] = process.argv.slice(2).map(Number)
const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`.padStart(8)

const result = score(seed, each)
for (const loop of [true, false]) {
  console.log(`\n${(loop ? "Planted loops" : "Honest work").padEnd(38)}    told   ended`)
  for (const row of result.rows.filter((row) => row.loop === loop)) {
    console.log(`${row.kind.padEnd(36)}${share(row.told, row.sessions)}${share(row.ended, row.sessions)}`)
  }
}
console.log(`\nseed ${seed}, ${each} of each kind
precision ${result.precision.toFixed(4)}   recall ${result.recall.toFixed(4)}
loops that are ended ${share(result.ended, 1)}   honest work that is told ${share(result.told_wrongly, 1)}, ended ${share(result.ended_wrongly, 1)}`)
