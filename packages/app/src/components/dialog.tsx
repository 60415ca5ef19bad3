import { onCleanup, onMount, type JSX } from "solid-js"

/** The browser's own dialog: it holds the focus and closes on Escape. However it goes, the focus goes back to where it was. */
export function Dialog(props: { title: string; close: () => void; children: JSX.Element }) {
  const parts: { dialog?: HTMLDialogElement; before?: Element | null; over?: true } = {}
  onMount(() => {
    parts.before = document.activeElement
    parts.dialog?.showModal()
  })
  onCleanup(() => {
    parts.over = true
    // Nothing beside an open dialog takes the focus.
    parts.dialog?.close()
    if (parts.before instanceof HTMLElement && parts.before.isConnected) parts.before.focus()
  })
  return (
    <dialog
      ref={(element) => (parts.dialog = element)}
      class="dialog"
      aria-labelledby="dialog-title"
      onClose={() => parts.over || props.close()}
    >
      <h2 id="dialog-title">{props.title}</h2>
      {props.children}
    </dialog>
  )
}
