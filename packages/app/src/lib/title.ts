import { createEffect, createSignal, onCleanup } from "solid-js"

const [title, setTitle] = createSignal<string>()

/** What the page in hand is about, where it is about something of its own. */
export { title }

export function useTitle(of: () => string | undefined) {
  createEffect(() => setTitle(of()))
  onCleanup(() => setTitle(undefined))
}
