import { CIRCLES, watchCircles, type CircleOptions, type Turn } from "../../../src/pass-over/domain/circle"
import { createDraw, noise } from "./circle-draw"
import { HONEST } from "./circle-honest"
import { LOOPS } from "./circle-loops"

export type Session = { kind: string; loop: boolean; steps: Turn[][] }

/** Sessions of every kind, the same for the same seed. */
export function* corpus(seed: number, each: number): Generator<Session> {
  const kinds = [
    ...Object.entries(LOOPS).map(([kind, make]) => ({ kind, make, loop: true })),
    ...Object.entries(HONEST).map(([kind, make]) => ({ kind, make, loop: false })),
  ]
  for (const [row, { kind, make, loop }] of kinds.entries()) {
    for (let index = 0; index < each; index += 1) {
      const draw = createDraw(seed * 1_000_003 + row * 10_007 + index)
      const before = Array.from({ length: draw.pick([0, 0, 3, 12]) }, () => [noise(draw)])
      yield { kind, loop, steps: [...before, ...make(draw)] }
    }
  }
}

/** What a watch makes of a session: after how many turns the child is told and ended, if it is. */
export function judge({ steps }: Session, options: CircleOptions = CIRCLES) {
  const circles = watchCircles(options)
  const found: { told?: number; ended?: number; what?: string } = {}
  let turns = 0
  for (const step of steps) {
    for (const turn of step) {
      turns += 1
      const circle = circles.next(turn)
      if (!circle) continue
      if (found.told === undefined) {
        circles.tell()
        found.told = turns
        found.what = circle.what
      }
      if (circle.over) found.ended ??= turns
    }
    circles.step()
  }
  return found
}

export type Row = { kind: string; loop: boolean; sessions: number; told: number; ended: number }

/** How a watch does on a corpus, kind by kind. */
export function score(seed: number, each: number, options: CircleOptions = CIRCLES) {
  const rows = new Map<string, Row>()
  for (const session of corpus(seed, each)) {
    const { kind, loop } = session
    const row = rows.get(kind) ?? { kind, loop, sessions: 0, told: 0, ended: 0 }
    const found = judge(session, options)
    row.sessions += 1
    if (found.told !== undefined) row.told += 1
    if (found.ended !== undefined) row.ended += 1
    rows.set(kind, row)
  }
  const list = [...rows.values()]
  const sum = (loop: boolean, of: "told" | "ended" | "sessions") =>
    list.filter((row) => row.loop === loop).reduce((total, row) => total + row[of], 0)
  return {
    rows: list,
    precision: sum(true, "told") / (sum(true, "told") + sum(false, "told")),
    recall: sum(true, "told") / sum(true, "sessions"),
    ended: sum(true, "ended") / sum(true, "sessions"),
    ended_wrongly: sum(false, "ended") / sum(false, "sessions"),
    told_wrongly: sum(false, "told") / sum(false, "sessions"),
  }
}
