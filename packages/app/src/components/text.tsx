import { For, Show } from "solid-js"
import { hides, pieces } from "../../../opencode/src/pass-over/domain/hidden"
import { WORDS } from "../lib/words"

/** What others wrote, in which nothing is hidden: what could not be seen stands as its number. */
export function Text(props: { text: string }) {
  return (
    <For each={pieces(props.text)}>
      {(piece) => (piece.hidden ? <span class="hidden-char">{piece.text}</span> : <>{piece.text}</>)}
    </For>
  )
}

/** Says at the head of something long that there is something hidden in it. */
export function HiddenNotice(props: { texts: readonly string[] }) {
  return (
    <Show when={props.texts.some(hides)}>
      <p class="notice">
        {WORDS.changes.hidden} <span class="hidden-char">U+202E</span>.
      </p>
    </Show>
  )
}
