const KEY = Symbol.for("opencode-pass-over.seats")

type Seats = Map<string, { from: string }>

const isSeats = (held: unknown): held is Seats => held instanceof Map

function seats(): Seats {
  const held: unknown = Reflect.get(globalThis, KEY)
  if (isSeats(held)) return held
  const made: Seats = new Map()
  Reflect.set(globalThis, KEY, made)
  return made
}

/**
 * One Pass Over to a folder. opencode loads a plugin from each place that its lists name; of two, the tools would be those
 * of the last, and either might take up what is asked for from outside, which the other knows nothing of. Loaded anew
 * from its own place it takes its seat again.
 */
export function takeSeat(directory: string, from: string): { leave(): void } | { taken: string } {
  const all = seats()
  const other = all.get(directory)
  if (other && other.from !== from) return { taken: other.from }
  const mine = { from }
  all.set(directory, mine)
  return {
    leave() {
      if (all.get(directory) === mine) all.delete(directory)
    },
  }
}
