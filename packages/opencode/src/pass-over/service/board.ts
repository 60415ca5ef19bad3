import { newTokens } from "../domain/run"
import { headline, money } from "../domain/envelope"
import { readable } from "../domain/time"
import type { Pass } from "../domain/pass"
import type { Clock, Outcome } from "./port"
import type { Host, Progress, ToolCall } from "./port-host"

type Row = { name: string; view?: Progress; over?: string }

const EVERY_MS = 1_000

const sum = (rows: readonly Row[], name: string) =>
  rows.reduce((total, { view }) => total + Number(view?.lines[name] ?? 0), 0)

/** What one tool call shows of the passes that it made: how many are back, who works at what. */
export function together(rows: readonly Row[]): Progress {
  const back = rows.filter(({ over }) => over !== undefined).length
  const elapsed = Math.max(0, ...rows.map(({ view }) => Number(view?.lines.elapsed_ms ?? 0)))
  const [tokens, cost] = [sum(rows, "tokens"), sum(rows, "cost")]
  const working = rows.flatMap(({ name, over }) => (over === undefined ? [name] : []))
  const told = rows.map(({ name, view, over }, at) => [`pass_${at + 1}`, over ?? view?.title ?? `${name} starting`])
  return {
    title: [`${back} of ${rows.length} back`, working.join(", "), ...(cost > 0 ? [money(cost)] : []), readable(elapsed)]
      .filter(Boolean)
      .join(" · "),
    lines: { back, passes: rows.length, tokens, cost, elapsed_ms: elapsed, ...Object.fromEntries(told) },
  }
}

/** Passes that were made by one tool call have one place on the host's screen. */
export function createBoard(host: Host, clock: Clock, names: readonly string[]) {
  const rows: Row[] = names.map((name) => ({ name }))
  let last = -Infinity
  let armed = false

  const show = (call: ToolCall) => {
    if (armed) return
    armed = true
    clock.after(Math.max(0, last + EVERY_MS - clock.mono()), () => {
      armed = false
      last = clock.mono()
      if (rows.every(({ over }) => over !== undefined)) return
      host.progress(call, together(rows)).catch(() => {})
    })
  }

  return {
    /** The host as the nth of them knows it. */
    of: (at: number): Host => ({
      ...host,
      progress: async (call, view) => {
        rows[at] = { ...rows[at], name: names[at] ?? "", view }
        show(call)
      },
    }),
    /** The nth was refused: with this line it stands beside those that run. */
    refused(at: number, line: string) {
      rows[at] = { name: names[at] ?? "", over: line }
    },
    /** The nth is back. */
    back(at: number, pass: Pass, { output, usage }: Outcome) {
      const lines = {
        tokens: newTokens(usage),
        cost: usage.cost,
        elapsed_ms: output.metadata.wall_time_ms,
      }
      const over = headline(output, usage.cost)
      rows[at] = { name: names[at] ?? "", over, view: { title: over, lines } }
      show(pass)
    },
  }
}
