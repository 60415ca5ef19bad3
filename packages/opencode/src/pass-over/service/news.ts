/** Says that something may have changed; whoever waits for a change looks for himself. */
export type News = { on(heard: () => void): () => void; tell(): void }

export function createNews(): News {
  const listening = new Set<() => void>()
  return {
    on(heard) {
      listening.add(heard)
      return () => void listening.delete(heard)
    },
    tell: () => {
      for (const heard of listening) heard()
    },
  }
}
