import { createSignal, onCleanup } from "solid-js"

const LAID_OUT_MS = 50

/** What a list begins at. The host can go there only once the list is laid out, so it is told a moment later. */
export function beginAt<T>(value: T | undefined) {
  const [at, setAt] = createSignal<T>()
  const timer = setTimeout(() => setAt(() => value), LAID_OUT_MS)
  onCleanup(() => clearTimeout(timer))
  return at
}
