import { createEffect, For } from "solid-js"

/** A choice that shows its value also when what it may be comes later than it, or comes anew; and never another one. */
export function Select(props: {
  id?: string
  named?: string
  value: string
  options: readonly string[]
  word: (option: string) => string
  change: (value: string) => void
}) {
  const parts: { select?: HTMLSelectElement } = {}
  const show = () => {
    if (parts.select && parts.select.value !== props.value) parts.select.value = props.value
  }
  createEffect(() => {
    if (props.options.length > 0) show()
  })
  return (
    <select
      ref={(element) => (parts.select = element)}
      id={props.id}
      aria-label={props.named}
      onChange={(event) => {
        props.change(event.currentTarget.value)
        // Whoever hears of it may not follow it, or ask first.
        show()
      }}
    >
      <For each={props.options}>{(option) => <option value={option}>{props.word(option)}</option>}</For>
    </select>
  )
}
