import { createSignal, onCleanup } from "solid-js"

/** Whether the window is at least so wide, as it is dragged about. */
export function useWide(width: string) {
  const query = matchMedia(`(min-width: ${width})`)
  const [wide, setWide] = createSignal(query.matches)
  const changed = () => setWide(query.matches)
  query.addEventListener("change", changed)
  onCleanup(() => query.removeEventListener("change", changed))
  return wide
}
