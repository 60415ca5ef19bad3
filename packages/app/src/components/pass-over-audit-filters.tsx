import { createSignal, For, onCleanup, type JSX } from "solid-js"
import { WORDS } from "../lib/words"
import type { Filters } from "./pass-over-audit-view"

const ACTIONS = Object.keys(WORDS.action)
const OUTCOMES = ["completed", "partial", "failed", "aborted"] as const
const PERIODS = ["all", "hour", "day", "week", "month"] as const

const PAUSE_MS = 250

function Choice(props: { label: string; value: string; change: (value: string) => void; children: JSX.Element }) {
  return (
    <label class="field">
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.change(event.currentTarget.value)}>
        {props.children}
      </select>
    </label>
  )
}

export function AuditFilters(props: {
  filters: Filters
  from: readonly string[]
  to: readonly string[]
  change: (filters: Filters) => void
}) {
  const [typed, setTyped] = createSignal(props.filters.text)
  let timer: ReturnType<typeof setTimeout> | undefined
  onCleanup(() => clearTimeout(timer))
  const type = (text: string) => {
    setTyped(text)
    clearTimeout(timer)
    timer = setTimeout(() => props.change({ ...props.filters, text }), PAUSE_MS)
  }
  const set = (name: keyof Filters) => (value: string) => props.change({ ...props.filters, [name]: value })
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <label class="field grow">
        <span>{WORDS.audit.search}</span>
        <input
          type="search"
          placeholder={WORDS.audit.search_hint}
          value={typed()}
          onInput={(event) => type(event.currentTarget.value)}
        />
      </label>
      <Choice label={WORDS.audit.from} value={props.filters.from} change={set("from")}>
        <option value="">{WORDS.audit.any_agent}</option>
        <For each={props.from}>{(name) => <option value={name}>{name}</option>}</For>
      </Choice>
      <Choice label={WORDS.audit.to} value={props.filters.to} change={set("to")}>
        <option value="">{WORDS.audit.any_agent}</option>
        <For each={props.to}>{(name) => <option value={name}>{name}</option>}</For>
      </Choice>
      <Choice label={WORDS.audit.action} value={props.filters.action} change={set("action")}>
        <option value="">{WORDS.audit.any_action}</option>
        <For each={ACTIONS}>{(name) => <option value={name}>{WORDS.action[name]}</option>}</For>
      </Choice>
      <Choice label={WORDS.audit.outcome} value={props.filters.outcome} change={set("outcome")}>
        <option value="">{WORDS.audit.any_outcome}</option>
        <For each={OUTCOMES}>{(name) => <option value={name}>{WORDS.outcome[name]}</option>}</For>
      </Choice>
      <Choice label={WORDS.audit.period} value={props.filters.since} change={set("since")}>
        <For each={PERIODS}>{(name) => <option value={name}>{WORDS.audit.periods[name]}</option>}</For>
      </Choice>
    </form>
  )
}
