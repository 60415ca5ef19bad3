/** What is new: somebody else has written, or a pass of ours has ended and its place is free. */
export type New = "elsewhere" | "place"

/** Says that something may have changed; whoever waits for a change looks for himself. */
export type News = { on(heard: (what: New) => void): () => void; tell(what: New): void }

export function createNews(): News {
  const listening = new Set<(what: New) => void>()
  return {
    on(heard) {
      listening.add(heard)
      return () => void listening.delete(heard)
    },
    tell: (what) => {
      for (const heard of listening) heard(what)
    },
  }
}
