/** What of the core its tests go through, put together from the reports of several processes. */

export type Covered = { lines: number; hit: number }

/** How much of the core has to be gone through, in percent of its lines. */
export const LEAST = 80

/** Each file below a folder with its lines, and whether any process has run them. */
export function coveredIn(reports: readonly string[], below: string): Map<string, Covered> {
  const files = new Map<string, Map<number, boolean>>()
  for (const report of reports) {
    let lines: Map<number, boolean> | undefined
    for (const row of report.split("\n")) {
      const [, file] = /^SF:(.*)$/.exec(row) ?? []
      if (file !== undefined) {
        lines = file.includes(below) ? (files.get(file) ?? new Map()) : undefined
        if (lines) files.set(file, lines)
      }
      const [, line, count] = /^DA:(\d+),(\d+)/.exec(row) ?? []
      if (line !== undefined) lines?.set(Number(line), count !== "0" || lines.get(Number(line)) === true)
    }
  }
  return new Map(
    [...files].map(([file, lines]) => [file, { lines: lines.size, hit: [...lines.values()].filter(Boolean).length }]),
  )
}

const percent = ({ lines, hit }: Covered) => (lines === 0 ? 0 : (100 * hit) / lines)

export type Coverage = { percent: number; files: number; told: string }

export function coverageOf(reports: readonly string[], below: string): Coverage {
  const files = coveredIn(reports, below)
  const all = [...files.values()].reduce((sum, { lines, hit }) => ({ lines: sum.lines + lines, hit: sum.hit + hit }), {
    lines: 0,
    hit: 0,
  })
  const least = [...files]
    .toSorted(([, a], [, b]) => percent(a) - percent(b))
    .slice(0, 5)
    .map(([file, covered]) => `  ${percent(covered).toFixed(0).padStart(3)} % ${file}`)
  const told = `${percent(all).toFixed(1)} % of ${all.lines} lines in ${files.size} files; the least:\n${least.join("\n")}`
  return { percent: percent(all), files: files.size, told }
}
