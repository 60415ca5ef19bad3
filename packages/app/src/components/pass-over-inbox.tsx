import { useQuery, useQueryClient } from "@tanstack/solid-query"
import { createEffect, createSignal, For, Match, onCleanup, onMount, Show, Switch } from "solid-js"
import type { Gate, GateVerdict } from "../../../opencode/src/pass-over/domain/gate"
import { api } from "../lib/api"
import { moment, shortPath } from "../lib/format"
import { link } from "../lib/route"
import { useNow } from "../lib/tick"
import { WORDS } from "../lib/words"
import { deed, facts, moved, needsNote, otherwise } from "./pass-over-inbox-view"
import { Empty, Failed, Loading } from "./state"

const VERDICTS: readonly GateVerdict[] = ["approve", "reject", "question"]

type Answering = (gate: Gate, verdict: GateVerdict, note: string) => Promise<void>

type QuestionProps = { gate: Gate; now: number; current: boolean; focus: () => void; answer: Answering }

function About(props: { gate: Gate; now: number }) {
  return (
    <>
      <p class="said">{props.gate.question}</p>
      <dl class="facts">
        <For each={facts(props.gate)}>
          {(fact) => (
            <>
              <dt>{fact.name}</dt>
              <dd>{fact.value}</dd>
            </>
          )}
        </For>
        <dt>{WORDS.inbox.policy}</dt>
        <dd>{props.gate.policy}</dd>
      </dl>
      <p class="meta">
        <span>{WORDS.inbox.by(props.gate.asked_by)}</span>
        <span title={props.gate.directory}>{shortPath(props.gate.directory)}</span>
        <span>{moment(props.gate.time_created, props.now)}</span>
        <Show when={props.gate.pass_over_id}>
          {(id) => <a href={link("pass", { id: id(), tab: "request" })}>{WORDS.inbox.pass}</a>}
        </Show>
      </p>
    </>
  )
}

/** A note and an answer; what came of it when it did not go well. */
function useAnswer(props: QuestionProps, ask: () => void) {
  const [note, setNote] = createSignal("")
  const [error, setError] = createSignal<unknown>()
  const [busy, setBusy] = createSignal(false)
  const give = async (verdict: GateVerdict) => {
    if (needsNote(verdict, note())) return ask()
    setBusy(true)
    setError(undefined)
    try {
      await props.answer(props.gate, verdict, note())
    } catch (caught) {
      setError(caught)
    } finally {
      setBusy(false)
    }
  }
  return { note, setNote, error, busy, give }
}

function Question(props: QuestionProps) {
  const parts: { field?: HTMLTextAreaElement; card?: HTMLElement } = {}
  const { note, setNote, error, busy, give } = useAnswer(props, () => parts.field?.focus())
  createEffect(() => {
    const active = document.activeElement
    // Whoever presses a button in another question is there already; moving the page would take it from under the hand.
    if (props.current && active?.tagName !== "TEXTAREA" && !parts.card?.contains(active)) parts.card?.focus()
  })
  const keyed = (event: KeyboardEvent) => {
    const what = deed({ ...pick(event), typing: event.target instanceof HTMLTextAreaElement })
    if (what !== "approve" && what !== "reject" && what !== "question") return
    event.preventDefault()
    void give(what)
  }
  return (
    <li>
      <article
        ref={(element) => (parts.card = element)}
        class="card question"
        tabindex="0"
        data-current={props.current}
        aria-label={WORDS.inbox.kind[props.gate.kind]}
        onFocusIn={() => props.focus()}
        onKeyDown={keyed}
      >
        <header class="card-head">
          <h2>{WORDS.inbox.kind[props.gate.kind]}</h2>
          <span class="meta">{otherwise(props.gate, props.now)}</span>
        </header>
        <About gate={props.gate} now={props.now} />
        <label class="field">
          <span>{WORDS.inbox.note}</span>
          <textarea
            ref={(element) => (parts.field = element)}
            rows="2"
            value={note()}
            onInput={(event) => setNote(event.currentTarget.value)}
          />
        </label>
        <Show when={error()}>{(caught) => <Failed error={caught()} />}</Show>
        <div class="actions">
          <For each={VERDICTS}>
            {(verdict) => (
              <button
                type="button"
                class="button"
                classList={{ primary: verdict === "approve", quiet: verdict === "question" }}
                disabled={busy()}
                onClick={() => void give(verdict)}
              >
                {WORDS.inbox[verdict]} <kbd aria-hidden="true">{verdict[0]?.toUpperCase()}</kbd>
              </button>
            )}
          </For>
        </div>
      </article>
    </li>
  )
}

const pick = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) => ({ key, ctrlKey, metaKey, altKey })

function Answered() {
  const answered = useQuery(() => ({
    queryKey: ["inbox", "answered"],
    queryFn: async () =>
      (await api.inbox.$get({ query: { status: "approved,rejected,questioned,withdrawn", limit: "8" } })).json(),
  }))
  return (
    <Show when={(answered.data?.items.length ?? 0) > 0}>
      <section>
        <h2 class="section-title">{WORDS.inbox.answered}</h2>
        <ul class="lines">
          <For each={answered.data?.items}>
            {({ gate, told }) => (
              <li class="line plain">
                <span class="line-text">
                  <strong>{WORDS.inbox.kind[gate.kind]}</strong> {gate.question}
                </span>
                <span class="line-end">{told}</span>
              </li>
            )}
          </For>
        </ul>
      </section>
    </Show>
  )
}

export function Inbox() {
  const now = useNow()
  const client = useQueryClient()
  const [index, setIndex] = createSignal(0)
  const inbox = useQuery(() => ({
    queryKey: ["inbox", "pending"],
    queryFn: async () => (await api.inbox.$get({ query: { limit: "100" } })).json(),
  }))
  const gates = () => (inbox.data?.items ?? []).map((item) => item.gate)
  const move = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement
    const typing = ["TEXTAREA", "INPUT", "SELECT"].includes(target.tagName)
    const what = deed({ ...pick(event), typing })
    if (what !== "next" && what !== "previous") return
    event.preventDefault()
    setIndex((at) => moved(at, what === "next" ? 1 : -1, gates().length))
  }
  onMount(() => addEventListener("keydown", move))
  onCleanup(() => removeEventListener("keydown", move))
  const answer: Answering = async (gate, verdict, note) => {
    await api.inbox[":id"].$post({ param: { id: gate.gate_id }, json: { verdict, note } })
    setIndex((at) => moved(at, 0, gates().length - 1))
    await client.invalidateQueries({ queryKey: ["inbox"] })
  }
  return (
    <>
      <div class="page-head">
        <h1>{WORDS.inbox.title}</h1>
        <p class="page-note" role="status">
          {gates().length > 0 ? WORDS.inbox.waiting(gates().length) : ""}
        </p>
      </div>
      <Switch>
        <Match when={inbox.isError && !inbox.data}>
          <Failed error={inbox.error} retry={() => void inbox.refetch()} />
        </Match>
        <Match when={inbox.isPending}>
          <Loading />
        </Match>
        <Match when={gates().length === 0}>
          <Empty title={WORDS.inbox.none} text={WORDS.inbox.none_text} />
        </Match>
        <Match when={gates().length > 0}>
          <p class="hint">{WORDS.inbox.keys}</p>
          <ul class="stack">
            <For each={gates()}>
              {(gate, at) => (
                <Question
                  gate={gate}
                  now={now()}
                  current={at() === index()}
                  focus={() => setIndex(at())}
                  answer={answer}
                />
              )}
            </For>
          </ul>
        </Match>
      </Switch>
      <Answered />
    </>
  )
}
