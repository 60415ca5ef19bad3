import { createSignal, For, Show } from "solid-js"
import type { Gate, GateVerdict } from "../../../opencode/src/pass-over/domain/gate"
import { moment, shortPath } from "../lib/format"
import { link } from "../lib/route"
import { WORDS } from "../lib/words"
import { deed, facts, needsNote, otherwise, type Item } from "./pass-over-inbox-view"
import { titleOf } from "./pass-over-pass-view"
import { Failed } from "./state"
import { Said, Text } from "./text"

const VERDICTS: readonly GateVerdict[] = ["approve", "reject", "question"]

export type QuestionProps = {
  item: Item
  note: string
  setNote: (note: string) => void
  now: number
  current: boolean
  take: () => void
  answer: (verdict: GateVerdict) => Promise<void>
  dismiss: () => void
}

export const cardID = (gate_id: string) => `question-${gate_id}`

export const pressed = ({ key, ctrlKey, metaKey, altKey, repeat }: KeyboardEvent) => ({
  key,
  ctrlKey,
  metaKey,
  altKey,
  repeat,
})

function About(props: { gate: Gate; now: number }) {
  return (
    <>
      <Said text={props.gate.question} />
      <dl class="facts">
        <For each={facts(props.gate)}>
          {(fact) => (
            <>
              <dt>
                <Text text={fact.name} />
              </dt>
              <dd dir="auto">
                <Text text={fact.value} />
              </dd>
            </>
          )}
        </For>
        <dt>{WORDS.inbox.policy}</dt>
        <dd>
          <Text text={props.gate.policy} />
        </dd>
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

/** An answer on its way, and what came of it when it did not go well. One is on its way at a time. */
function useAnswer(props: QuestionProps, ask: () => void) {
  const [error, setError] = createSignal<unknown>()
  const [busy, setBusy] = createSignal(false)
  const give = async (verdict: GateVerdict) => {
    if (busy() || props.item.gone) return
    if (needsNote(verdict, props.note)) return ask()
    setBusy(true)
    setError(undefined)
    try {
      await props.answer(verdict)
    } catch (caught) {
      setError(caught)
    } finally {
      setBusy(false)
    }
  }
  return { error, busy, give }
}

function Answers(props: { busy: boolean; give: (verdict: GateVerdict) => Promise<void> }) {
  return (
    <div class="actions">
      <For each={VERDICTS}>
        {(verdict) => (
          <button
            type="button"
            class="button"
            classList={{ primary: verdict === "approve", quiet: verdict === "question" }}
            // A button that is disabled loses the focus.
            aria-disabled={props.busy}
            onClick={() => void props.give(verdict)}
          >
            {WORDS.inbox[verdict]} <kbd aria-hidden="true">{verdict[0]?.toUpperCase()}</kbd>
          </button>
        )}
      </For>
    </div>
  )
}

function Gone(props: { dismiss: () => void }) {
  return (
    <>
      <p class="notice" role="status">
        {WORDS.inbox.gone}
      </p>
      <div class="actions">
        <button type="button" class="button" onClick={() => props.dismiss()}>
          {WORDS.now.close}
        </button>
      </div>
    </>
  )
}

export function Question(props: QuestionProps) {
  const parts: { field?: HTMLTextAreaElement } = {}
  const { error, busy, give } = useAnswer(props, () => parts.field?.focus())
  const keyed = (event: KeyboardEvent) => {
    const what = deed({ ...pressed(event), typing: event.target instanceof HTMLTextAreaElement })
    if (what !== "approve" && what !== "reject" && what !== "question") return
    event.preventDefault()
    void give(what)
  }
  return (
    <li>
      <article
        id={cardID(props.item.gate_id)}
        class="card question"
        tabindex="0"
        data-current={props.current}
        aria-label={`${WORDS.inbox.kind[props.item.gate.kind]} ${titleOf(props.item.gate.question)}`}
        onFocusIn={() => props.take()}
        onKeyDown={keyed}
      >
        <header class="card-head">
          <h2>{WORDS.inbox.kind[props.item.gate.kind]}</h2>
          <Show when={!props.item.gone}>
            <span class="meta">{otherwise(props.item.gate, props.now)}</span>
          </Show>
        </header>
        <About gate={props.item.gate} now={props.now} />
        <label class="field">
          <span>{WORDS.inbox.note}</span>
          <textarea
            ref={(element) => (parts.field = element)}
            rows="2"
            value={props.note}
            onInput={(event) => props.setNote(event.currentTarget.value)}
          />
        </label>
        <Show when={error()}>{(caught) => <Failed error={caught()} />}</Show>
        <Show when={props.item.gone} fallback={<Answers busy={busy()} give={give} />}>
          <Gone dismiss={props.dismiss} />
        </Show>
      </article>
    </li>
  )
}
