/** Asks until there is something to say about it. */
export async function until<T>(what: string, look: () => Promise<T | undefined>, patience_ms = 30_000): Promise<T> {
  const end = performance.now() + patience_ms
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`)
    await Bun.sleep(50)
  }
}
