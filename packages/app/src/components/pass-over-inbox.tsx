import { useQuery, useQueryClient } from "@tanstack/solid-query"
import {
  createComputed,
  createEffect,
  createSignal,
  For,
  Match,
  on,
  onCleanup,
  onMount,
  Show,
  Switch,
  untrack,
} from "solid-js"
import { createStore, reconcile, unwrap } from "solid-js/store"
import type { GateVerdict } from "../../../opencode/src/pass-over/domain/gate"
import { api } from "../lib/api"
import { useInbox, waitMore } from "../lib/inbox"
import { useNow } from "../lib/tick"
import { WORDS } from "../lib/words"
import { cardID, pressed, Question } from "./pass-over-inbox-question"
import { deed, moved, settled, withKept, type Hand, type Item } from "./pass-over-inbox-view"
import { Empty, Failed, Loading } from "./state"
import { Text } from "./text"

const cardOf = (id: string) => document.getElementById(cardID(id))

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
                  <strong>{WORDS.inbox.kind[gate.kind]}</strong>{" "}
                  <bdi>
                    <Text text={gate.question} />
                  </bdi>
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

/** The questions, kept by id: what changes elsewhere on the page changes nothing about a note that is being written. */
function useQuestions() {
  const client = useQueryClient()
  const inbox = useInbox()
  const [shown, setShown] = createStore<{ items: Item[] }>({ items: [] })
  const [notes, setNotes] = createStore<Record<string, string>>({})
  const answered = new Set<string>()
  const writing = (id: string) =>
    !answered.has(id) &&
    ((notes[id] ?? "").trim() !== "" || cardOf(id)?.querySelector("textarea") === document.activeElement)
  const show = (items: Item[]) => setShown("items", reconcile(items, { key: "gate_id" }))
  createComputed(() => {
    const gates = inbox.data?.items.map((item) => item.gate)
    if (gates) untrack(() => show(withKept(unwrap(shown.items), gates, writing)))
  })
  const answer = async (id: string, verdict: GateVerdict) => {
    await api.inbox[":id"].$post({ param: { id }, json: { verdict, note: notes[id] ?? "" } })
    answered.add(id)
    // Nothing is in hand now: a key that comes late must not answer what nobody has looked at.
    const active = document.activeElement
    if (active === document.body || cardOf(id)?.contains(active))
      document.querySelector<HTMLElement>("#content")?.focus({ preventScroll: true })
    await client.invalidateQueries({ queryKey: ["inbox"] })
  }
  const dismiss = (id: string) => {
    setNotes(id, "")
    show(unwrap(shown.items).filter((item) => item.gate_id !== id))
  }
  return { inbox, items: () => shown.items, notes, setNotes, answer, dismiss }
}

/** Which question is in hand. It is moved by whoever works the page, and never by what happens elsewhere. */
function useHand(ids: () => string[], ready: () => boolean) {
  const [hand, setHand] = createSignal<Hand>()
  createComputed<string[]>((before) => {
    const list = ids()
    setHand((held) => held && settled(held, before, list))
    return list
  }, [])
  const take = (id: string) => setHand({ id, at: ids().indexOf(id) })
  const move = (event: KeyboardEvent) => {
    const typing = event.target instanceof Element && event.target.closest("textarea, input, select") !== null
    const what = deed({ ...pressed(event), typing })
    if (what !== "next" && what !== "previous") return
    event.preventDefault()
    const next = moved(ids(), hand(), what === "next" ? 1 : -1)
    if (next) cardOf(next.id)?.focus()
  }
  onMount(() => addEventListener("keydown", move))
  onCleanup(() => removeEventListener("keydown", move))
  // Whoever opens the page begins with the first question; once, and not if the hand is somewhere else by then.
  const from = document.activeElement
  let opened = false
  createEffect(
    on(ready, (there) => {
      if (!there || opened) return
      opened = true
      const active = document.activeElement
      const [first] = ids()
      if (first !== undefined && (active === from || active === document.body)) cardOf(first)?.focus()
    }),
  )
  return { hand, take }
}

export function Inbox() {
  const now = useNow()
  const { inbox, items, notes, setNotes, answer, dismiss } = useQuestions()
  const { hand, take } = useHand(
    () => items().map((item) => item.gate_id),
    () => inbox.data !== undefined,
  )
  const waiting = () => items().filter((item) => !item.gone).length
  return (
    <>
      <div class="page-head">
        <h1>{WORDS.inbox.title}</h1>
        <p class="page-note" role="status">
          {waiting() > 0 ? WORDS.inbox.waiting(waiting(), waitMore(inbox)) : ""}
        </p>
      </div>
      <Switch>
        <Match when={inbox.isError && !inbox.data}>
          <Failed error={inbox.error} retry={() => void inbox.refetch()} />
        </Match>
        <Match when={inbox.isPending}>
          <Loading />
        </Match>
        <Match when={items().length === 0}>
          <Empty title={WORDS.inbox.none} text={WORDS.inbox.none_text} />
        </Match>
        <Match when={items().length > 0}>
          <p class="hint">{WORDS.inbox.keys}</p>
          <ul class="stack">
            <For each={items()}>
              {(item) => (
                <Question
                  item={item}
                  note={notes[item.gate_id] ?? ""}
                  setNote={(note) => setNotes(item.gate_id, note)}
                  now={now()}
                  current={hand()?.id === item.gate_id}
                  take={() => take(item.gate_id)}
                  answer={(verdict) => answer(item.gate_id, verdict)}
                  dismiss={() => dismiss(item.gate_id)}
                />
              )}
            </For>
          </ul>
          <Show when={waitMore(inbox)}>
            <p class="hint">{WORDS.inbox.more}</p>
          </Show>
        </Match>
      </Switch>
      <Answered />
    </>
  )
}
