import { onMount, type JSX } from "solid-js"

/** The browser's own dialog: it holds the focus, closes on Escape and gives the focus back. */
export function Dialog(props: { title: string; close: () => void; children: JSX.Element }) {
  const parts: { dialog?: HTMLDialogElement } = {}
  onMount(() => parts.dialog?.showModal())
  return (
    <dialog
      ref={(element) => (parts.dialog = element)}
      class="dialog"
      aria-labelledby="dialog-title"
      onClose={() => props.close()}
    >
      <h2 id="dialog-title">{props.title}</h2>
      {props.children}
    </dialog>
  )
}
