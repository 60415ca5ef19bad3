import type { Scored } from "./score"

const HEADWORDS = 9
const AGENTS = 3

const plural = (count: number, one: string) => `${count} ${one}${count === 1 ? "" : "s"}`

/** The first words of a message, in one line that cannot look like anything else. */
function heading(one: Scored): string {
  const line = one.text.slice(one.text.indexOf("\n") + 1, one.text.indexOf("\n") + 400)
  const words = line
    .replaceAll(/[\s`#*_>|{}[\]"]+/g, " ")
    .trim()
    .split(" ")
  const text = words.slice(0, HEADWORDS).join(" ").slice(0, 80).toWellFormed()
  return words.length > HEADWORDS ? `${text}…` : text
}

function who(run: readonly Scored[]): string {
  const names = new Map<string, number>()
  for (const { message } of run) {
    const name = message.role === "user" ? "user" : (message.agent_name ?? "assistant")
    names.set(name, (names.get(name) ?? 0) + 1)
  }
  const sorted = [...names].toSorted((a, b) => b[1] - a[1])
  const shown = sorted.slice(0, AGENTS).map(([name, times]) => (times > 1 ? `${name} ×${times}` : name))
  return sorted.length > AGENTS ? `${shown.join(", ")} and others` : shown.join(", ")
}

export type DigestLine = { text: string; value: number; at: number; count: number }

/** One line for each run of messages that were left out. */
export function digestLines(list: readonly Scored[], taken: ReadonlyMap<number, unknown>): DigestLine[] {
  const runs: Scored[][] = []
  for (const one of list) {
    if (taken.has(one.index)) continue
    const run = runs.at(-1)
    const open = run?.at(-1)?.index === one.index - 1
    if (open && run) run.push(one)
    if (!open) runs.push([one])
  }
  return runs.map((run) => {
    const [first = run[0]] = run.toSorted((a, b) => b.value - a.value || a.index - b.index)
    const from = (run[0]?.index ?? 0) + 1
    const place = run.length === 1 ? `${from}` : `${from}–${from + run.length - 1}`
    return {
      text: `- ${place} (${who(run)}): ${first ? heading(first) : ""}`,
      value: run.reduce((sum, { value }) => sum + value, 0),
      at: from,
      count: run.length,
    }
  })
}

const title = (left: number, of: number) => `Left out here: ${left} of ${plural(of, "message")}.`

/** What was left out, in as many lines as fit; the runs that hold most come first to their place. */
export function digest(
  lines: readonly DigestLine[],
  of: number,
  room: number,
  count: (text: string) => number,
): string | undefined {
  const left = lines.reduce((sum, one) => sum + one.count, 0)
  const head = title(left, of)
  let used = count(head) + 1
  if (left === 0 || used > room) return undefined
  const kept: DigestLine[] = []
  for (const line of lines.toSorted((a, b) => b.value - a.value || a.at - b.at)) {
    // A line costs at least a token for every eight characters: what cannot fit is not counted.
    if (used + line.text.length / 8 > room) continue
    const price = count(line.text) + 1
    if (used + price > room) continue
    used += price
    kept.push(line)
    if (room - used < 12) break
  }
  return [head, ...kept.toSorted((a, b) => a.at - b.at).map(({ text }) => text)].join("\n")
}
