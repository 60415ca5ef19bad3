import { useQuery, useQueryClient } from "@tanstack/solid-query"
import { createComputed, createSignal, For, onCleanup, onMount, Show } from "solid-js"
import { createStore, reconcile } from "solid-js/store"
import type { Verdict } from "../../../opencode/src/pass-over/domain/change/review"
import type { Change } from "../../../opencode/src/server/schema-decide"
import { api } from "../lib/api"
import { WORDS } from "../lib/words"
import { FileChange, type Hand } from "./pass-over-change-file"
import {
  accept,
  all,
  chosen,
  decline,
  declined,
  deed,
  standing,
  stopKey,
  stops,
  type Layout,
  type Stop,
} from "./pass-over-change-view"
import { Ask } from "./speak"
import { Empty, Failed, Loading } from "./state"

function useDeeds(id: () => string) {
  const client = useQueryClient()
  const [error, setError] = createSignal<unknown>()
  const [busy, setBusy] = createSignal(false)
  /** What became of what was sent back. */
  const [sent, setSent] = createSignal<string>()
  const done = async (work: () => Promise<unknown>) => {
    setBusy(true)
    setError(undefined)
    try {
      await work()
    } catch (caught) {
      setError(caught)
    } finally {
      await client.invalidateQueries({ queryKey: ["pass", id()] })
      setBusy(false)
    }
  }
  const param = () => ({ id: id() })
  return {
    error,
    busy,
    sent,
    review: ({ change_id }: Change, verdicts: Verdict[]) =>
      done(() => {
        setSent(undefined)
        return api[":id"].review.$post({ param: param(), json: { change_id, verdicts } })
      }),
    apply: ({ change_id, approval }: Change) =>
      done(() => api[":id"].apply.$post({ param: param(), json: { change_id, approval: approval ?? "" } })),
    sendBack: ({ change_id }: Change) =>
      done(async () => {
        const answer = await api[":id"]["send-back"].$post({ param: param(), json: { change_id } })
        setSent((await answer.json()).text)
      }),
    undo: () => done(() => api[":id"].undo.$post({ param: param(), json: {} })),
  }
}

type Deeds = ReturnType<typeof useDeeds>

const KEY = "pass-over-diff"
const [layout, setLayout] = createSignal<Layout>(localStorage.getItem(KEY) === "split" ? "split" : "unified")

function turn() {
  const next = layout() === "split" ? "unified" : "split"
  localStorage.setItem(KEY, next)
  setLayout(next)
}

function Verification(props: { change: Change }) {
  return (
    <Show when={standing(props.change)?.verification}>
      {(check) => (
        <div class="verification" data-failed={check().exit_code !== 0}>
          <p class="meta">
            <code>{check().command}</code> {WORDS.changes.exit(check().exit_code)}
          </p>
          <Show when={check().output.trim()}>{(output) => <pre tabindex="0">{output()}</pre>}</Show>
        </div>
      )}
    </Show>
  )
}

function Decide(props: { change: Change; deeds: Deeds }) {
  return (
    <div class="actions decide">
      <Show
        when={standing(props.change)}
        fallback={
          <>
            <button
              type="button"
              class="button"
              disabled={props.deeds.busy()}
              onClick={() => void props.deeds.review(props.change, all(props.change))}
            >
              {WORDS.changes.accept_all}
            </button>
            <Show when={declined(props.change) > 0}>
              <button
                type="button"
                class="button"
                disabled={props.deeds.busy() || props.deeds.sent() !== undefined}
                onClick={() => void props.deeds.sendBack(props.change)}
              >
                {props.deeds.sent() === undefined ? WORDS.changes.send_back : WORDS.changes.sent_back}
              </button>
            </Show>
            <button
              type="button"
              class="button primary"
              disabled={props.deeds.busy() || props.change.approval === null || chosen(props.change) === 0}
              onClick={() => void props.deeds.apply(props.change)}
            >
              {WORDS.changes.apply(chosen(props.change))}
            </button>
          </>
        }
      >
        {(application) => (
          <>
            <p class="said">{WORDS.changes.applied(application().actor)}</p>
            <button type="button" class="button" disabled={props.deeds.busy()} onClick={() => void props.deeds.undo()}>
              {WORDS.changes.undo}
            </button>
          </>
        )}
      </Show>
    </div>
  )
}

/** Where the hand is in a change, moved by J and K and by whatever has the focus. */
function useHand(change: () => Change, deeds: Deeds) {
  const [current, setCurrent] = createSignal<string>()
  const [declining, setDeclining] = createSignal<Stop>()
  const places = () => stops(change().files)
  const here = () => places().find((stop) => stopKey(stop) === current())
  const over = () => standing(change()) !== undefined
  const move = (by: number) => {
    const index = places().findIndex((stop) => stopKey(stop) === current())
    const next = places()[index < 0 ? 0 : Math.min(Math.max(0, index + by), places().length - 1)]
    if (next) setCurrent(stopKey(next))
  }
  const say = (stop: Stop) => void deeds.review(change(), [accept(stop)])
  const press = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey } = event
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select, dialog") !== null
    const what = deed({ key, ctrlKey, metaKey, altKey, typing })
    if (what === undefined) return
    event.preventDefault()
    if (what === "layout") return turn()
    if (what === "next" || what === "previous") return move(what === "next" ? 1 : -1)
    const stop = here()
    if (!stop || over() || deeds.busy()) return
    if (what === "accept") return say(stop)
    setDeclining(stop)
  }
  onMount(() => addEventListener("keydown", press))
  onCleanup(() => removeEventListener("keydown", press))
  const hand: Hand = {
    get layout() {
      return layout()
    },
    get busy() {
      return deeds.busy()
    },
    get over() {
      return over()
    },
    at: (stop) => stopKey(stop) === current(),
    go: (stop) => setCurrent(stopKey(stop)),
    accept: say,
    decline: setDeclining,
  }
  return { hand, declining, close: () => setDeclining(undefined) }
}

const FEW = 5

function OneChange(props: { change: Change; id: string }) {
  const deeds = useDeeds(() => props.id)
  const { hand, declining, close } = useHand(() => props.change, deeds)
  return (
    <section>
      <div class="section-head">
        <h2 class="section-title">
          {WORDS.changes.title(props.change.files.length, WORDS.changes.origin[props.change.origin])}
        </h2>
        <button type="button" class="button small" aria-pressed={layout() === "split"} onClick={turn}>
          {WORDS.changes.split} <kbd aria-hidden="true">V</kbd>
        </button>
      </div>
      <p class="hint">{WORDS.changes.keys}</p>
      <For each={props.change.notes}>{(note) => <p class="hint said">{note}</p>}</For>
      <For each={props.change.files}>
        {(file) => <FileChange file={file} open={props.change.files.length <= FEW} hand={hand} />}
      </For>
      <Show when={props.change.problem}>{(problem) => <p class="hint said">{problem()}</p>}</Show>
      <Show when={deeds.error()}>{(caught) => <Failed error={caught()} />}</Show>
      <Show when={deeds.sent()}>
        {(text) => (
          <p class="hint said" role="status">
            {text()}
          </p>
        )}
      </Show>
      <Decide change={props.change} deeds={deeds} />
      <Verification change={props.change} />
      <Show when={declining()}>
        {(stop) => (
          <Ask
            close={close}
            title={WORDS.changes.decline_title}
            text={WORDS.changes.decline_text}
            label={WORDS.changes.decline_reason}
            yes={WORDS.changes.decline}
            no={WORDS.now.close}
            needed={false}
            send={(reason) => deeds.review(props.change, [decline(stop(), reason)])}
          />
        )}
      </Show>
    </section>
  )
}

/** What a pass changed or proposes, file by file and hunk by hunk: taken, left, applied as it is shown, undone. */
export function PassChanges(props: { id: string }) {
  const changes = useQuery(() => ({
    queryKey: ["pass", props.id, "changes"],
    queryFn: async () => (await api[":id"].changes.$get({ param: { id: props.id } })).json(),
  }))
  // What changes about a file changes in its place: the focus stays where the hand is.
  const [shown, setShown] = createStore<{ items: Change[] }>({ items: [] })
  createComputed(() => setShown("items", reconcile(changes.data?.items ?? [], { key: null, merge: true })))
  return (
    <Show when={!changes.isPending} fallback={<Loading />}>
      <Show when={!changes.isError || changes.data} fallback={<Failed error={changes.error} />}>
        <Show when={shown.items.length > 0} fallback={<Empty title={WORDS.changes.none} />}>
          <For each={shown.items}>{(change) => <OneChange change={change} id={props.id} />}</For>
        </Show>
      </Show>
    </Show>
  )
}
