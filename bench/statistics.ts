/** Quantiles and ratios with intervals, for benchmarks that compare two things run in turns. */

export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const [low = 0, high = low] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return low + (high - low) * (at - Math.floor(at))
}

// A fixed seed, so that the same measurements give the same interval.
function random(seed: number) {
  return () => {
    seed = (seed * 1_664_525 + 1_013_904_223) >>> 0
    return seed / 2 ** 32
  }
}

export type Ratio = { ratio: number; low: number; high: number }

/** The ratio of a quantile, with the 95 % interval of a bootstrap over whole pairs. */
export function ratio(ours: readonly number[], theirs: readonly number[], q: number, rounds = 2_000): Ratio {
  const draw = random(42)
  const size = Math.min(ours.length, theirs.length)
  const samples = Array.from({ length: rounds }, () => {
    const picks = Array.from({ length: size }, () => Math.floor(draw() * size))
    return (
      quantile(
        picks.map((index) => ours[index] ?? 0),
        q,
      ) /
      quantile(
        picks.map((index) => theirs[index] ?? 0),
        q,
      )
    )
  })
  return {
    ratio: quantile(ours, q) / quantile(theirs, q),
    low: quantile(samples, 0.025),
    high: quantile(samples, 0.975),
  }
}

const fixed = (value: number) => value.toFixed(2)

export const describeRatio = ({ ratio: value, low, high }: Ratio) => `${fixed(value)}x [${fixed(low)}, ${fixed(high)}]`

export function compare(name: string, ours: readonly number[], theirs: readonly number[]): string {
  const line = (q: number) =>
    `p${q * 100} ${quantile(ours, q).toFixed(0)} / ${quantile(theirs, q).toFixed(0)} ms = ${describeRatio(ratio(ours, theirs, q))}`
  return `${name}: ${line(0.5)}   ${line(0.95)}   n=${ours.length}`
}
