// A host that answers nothing at all must not keep an answer from its agent.
const PATIENCE_MS = 5_000
// An answer that is stored ends its call's views by itself; these are the calls between their answer and that.
const MOST_ANSWERED = 1_000

/** The views that are being written into tool calls. One that arrived after its call's answer would undo that. */
export type Views = {
  /** Writes a view, unless the call has its answer. */
  show(part_id: string, write: () => Promise<unknown>): Promise<void>
  /** From now on nothing is shown in this call; comes when what was on its way has arrived. */
  end(part_id: string): Promise<void>
}

export function createViews(): Views {
  const under_way = new Map<string, Set<Promise<unknown>>>()
  const answered = new Set<string>()

  function began(part_id: string, writing: Promise<unknown>) {
    const others = under_way.get(part_id) ?? new Set()
    under_way.set(part_id, others.add(writing))
  }

  function over(part_id: string, writing: Promise<unknown>) {
    const others = under_way.get(part_id)
    others?.delete(writing)
    if (others?.size === 0) under_way.delete(part_id)
  }

  return {
    async show(part_id, write) {
      if (answered.has(part_id)) return
      const writing = write()
      began(part_id, writing)
      try {
        await writing
      } finally {
        over(part_id, writing)
      }
    },
    async end(part_id) {
      answered.add(part_id)
      const [oldest] = answered
      if (answered.size > MOST_ANSWERED && oldest !== undefined) answered.delete(oldest)
      const writing = under_way.get(part_id)
      if (!writing) return
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, PATIENCE_MS)
      await Promise.race([Promise.allSettled(writing), late])
      clearTimeout(timer)
    },
  }
}
