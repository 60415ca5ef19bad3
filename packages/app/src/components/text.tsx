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

/** A paragraph of what others wrote, read in its own direction. */
export function Said(props: { text: string; class?: string }) {
  return (
    <p class={`said ${props.class ?? ""}`.trim()} dir="auto">
      <Text text={props.text} />
    </p>
  )
}

/** Who passes work to whom. A name is what a model has written, too: each keeps its reading direction to itself. */
export function Pair(props: { from: string; to: string }) {
  return (
    <>
      <bdi>
        <Text text={props.from} />
      </bdi>
      {" → "}
      <bdi>
        <Text text={props.to} />
      </bdi>
    </>
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
