import { createEffect, createMemo, createSignal, For, on, onCleanup } from "solid-js"
import { WORDS } from "../lib/words"
import type { Filters } from "./pass-over-audit-view"
import { Select } from "./select"

const ACTIONS = Object.keys(WORDS.action)
const OUTCOMES = ["completed", "partial", "failed", "aborted"] as const
const PERIODS = ["all", "hour", "day", "week", "month"] as const

const PAUSE_MS = 250

/** Nothing in particular, what there is, and what an address asks for although there is none of it. */
const orAny = (options: readonly string[], value: string) => [...new Set(["", ...options, value])]
const named =
  (any: string, words: Record<string, string> = {}) =>
  (option: string) =>
    option === "" ? any : (words[option] ?? option)

type Props = {
  filters: Filters
  from: readonly string[]
  to: readonly string[]
  change: (filters: Filters) => void
}

const CHOICES = [
  {
    name: "from",
    options: (props: Props) => orAny(props.from, props.filters.from),
    word: named(WORDS.audit.any_agent),
  },
  { name: "to", options: (props: Props) => orAny(props.to, props.filters.to), word: named(WORDS.audit.any_agent) },
  {
    name: "action",
    options: ({ filters }: Props) => orAny(ACTIONS, filters.action),
    word: named(WORDS.audit.any_action, WORDS.action),
  },
  {
    name: "outcome",
    options: ({ filters }: Props) => orAny(OUTCOMES, filters.outcome),
    word: named(WORDS.audit.any_outcome, WORDS.outcome),
  },
  { name: "since", options: () => PERIODS, word: named("", WORDS.audit.periods) },
] as const

const LABELS = { ...WORDS.audit, since: WORDS.audit.period }

export function AuditFilters(props: Props) {
  const [typed, setTyped] = createSignal(props.filters.text)
  let timer: ReturnType<typeof setTimeout> | undefined
  onCleanup(() => clearTimeout(timer))
  // Filters are also cleared by a button, and changed by going back.
  const asked = createMemo(() => props.filters.text)
  createEffect(on(asked, (text) => setTyped(text), { defer: true }))
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
      <For each={CHOICES}>
        {({ name, options, word }) => (
          <label class="field">
            <span>{LABELS[name]}</span>
            <Select value={props.filters[name]} options={options(props)} word={word} change={set(name)} />
          </label>
        )}
      </For>
    </form>
  )
}
