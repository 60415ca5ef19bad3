import type { Badge } from "./badge-view"

export function BadgeMark(props: { badge: Badge }) {
  return (
    <span class="badge" data-tone={props.badge.tone}>
      <span aria-hidden="true">{props.badge.sign}</span> {props.badge.word}
    </span>
  )
}
