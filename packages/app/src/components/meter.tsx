import { Show } from "solid-js"
import type { Limit } from "./pass-over-status-view"

/** A limit in words, with a bar where there is an end to measure by. */
export function Meter(props: { limit: Limit; label: string }) {
  return (
    <span class="meter" data-short={props.limit.short}>
      <span class="meter-text">{props.limit.text}</span>
      <Show when={props.limit.used !== undefined}>
        <progress max="1" value={props.limit.used ?? 0} aria-label={props.label} />
      </Show>
    </span>
  )
}
