import { useQuery } from "@tanstack/solid-query"
import { createComputed, createEffect, For, on, Show } from "solid-js"
import { createStore, reconcile } from "solid-js/store"
import type { Change } from "../../../opencode/src/server/schema-decide"
import { api } from "../lib/api"
import { WORDS } from "../lib/words"
import { useDeeds, type Deeds } from "./pass-over-change-deeds"
import { FileChange } from "./pass-over-change-file"
import { layout, turn, useHand, type Hand } from "./pass-over-change-hand"
import { all, chosen, decline, declined, replacement, standing } from "./pass-over-change-view"
import { Press } from "./press"
import { Ask } from "./speak"
import { Empty, Failed, Loading } from "./state"
import { Text } from "./text"

function Verification(props: { change: Change }) {
  return (
    <Show when={standing(props.change)?.verification}>
      {(check) => (
        <div class="verification" data-failed={check().exit_code !== 0}>
          <p class="meta">
            <code>
              <Text text={check().command} />
            </code>{" "}
            {WORDS.changes.exit(check().exit_code)}
          </p>
          <Show when={check().output.trim()}>
            {(output) => (
              <pre tabindex="0">
                <Text text={output()} />
              </pre>
            )}
          </Show>
        </div>
      )}
    </Show>
  )
}

/** How many lines nobody could have seen of what would be accepted with everything. */
const unseen = (change: Change, hand: Hand) =>
  all(change).reduce((sum, { path }) => sum + hand.unseen({ change_id: change.change_id, path, hunk: null }), 0)

function Undecided(props: { change: Change; deeds: Deeds; hand: Hand }) {
  const id = () => props.change.change_id
  const sent = () => props.deeds.sent(id())
  const left = () => unseen(props.change, props.hand)
  return (
    <>
      <Show when={left() > 0}>
        <p class="hint">{WORDS.changes.look_first_all(left())}</p>
      </Show>
      <Press
        class="button"
        idle={props.deeds.busy() || left() > 0}
        onClick={() => void props.deeds.review(id(), all(props.change))}
      >
        {WORDS.changes.accept_all}
      </Press>
      <Show when={declined(props.change) > 0}>
        <Press
          class="button"
          idle={props.deeds.busy() || sent() !== undefined}
          onClick={() => void props.deeds.sendBack(id())}
        >
          {sent() === undefined ? WORDS.changes.send_back : WORDS.changes.sent_back}
        </Press>
      </Show>
      <Press
        class="button primary"
        idle={props.deeds.busy() || props.change.approval === null || chosen(props.change) === 0}
        onClick={() => void props.deeds.apply(id(), props.change.approval ?? "")}
      >
        {WORDS.changes.apply(chosen(props.change))}
      </Press>
    </>
  )
}

function Decide(props: { change: Change; replaced: boolean; deeds: Deeds; hand: Hand }) {
  const parts: { place?: HTMLElement } = {}
  createEffect(
    on(
      () => standing(props.change)?.apply_id,
      () => {
        // The button that did it has gone, and the focus with it. It does not go to the one that undoes it at once. What
        // was done elsewhere takes nobody anywhere.
        if (props.deeds.busy() && document.activeElement === document.body) parts.place?.focus({ preventScroll: true })
      },
      { defer: true },
    ),
  )
  return (
    <div class="actions decide" ref={(element) => (parts.place = element)} tabindex="-1">
      <Show
        when={standing(props.change)}
        fallback={
          <Show when={!props.replaced}>
            <Undecided change={props.change} deeds={props.deeds} hand={props.hand} />
          </Show>
        }
      >
        {(application) => (
          <>
            <p class="said">{WORDS.changes.applied(application().actor)}</p>
            <Press
              class="button"
              idle={props.deeds.busy()}
              onClick={() => void props.deeds.undo(props.change.change_id)}
            >
              {WORDS.changes.undo}
            </Press>
          </>
        )}
      </Show>
    </div>
  )
}

function OneChange(props: { change: Change; replaced: boolean; deeds: Deeds; hand: Hand }) {
  const id = () => props.change.change_id
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
      <Show when={!props.replaced} fallback={<p class="notice">{WORDS.changes.replaced}</p>}>
        <p class="hint">{WORDS.changes.keys}</p>
      </Show>
      <For each={props.change.notes}>
        {(note) => (
          <p class="hint said">
            <Text text={note} />
          </p>
        )}
      </For>
      <For each={props.change.files}>{(file) => <FileChange file={file} change_id={id()} hand={props.hand} />}</For>
      <Show when={!props.replaced && props.change.problem}>
        {(problem) => (
          <p class="hint said">
            <Text text={problem()} />
          </p>
        )}
      </Show>
      <Show when={props.deeds.error(id())}>{(caught) => <Failed error={caught()} />}</Show>
      <Show when={props.deeds.sent(id())}>
        {(text) => (
          <p class="hint said" role="status">
            <Text text={text()} />
          </p>
        )}
      </Show>
      <Decide change={props.change} replaced={props.replaced} deeds={props.deeds} hand={props.hand} />
      <Verification change={props.change} />
    </section>
  )
}

function Declining(props: { hand: Hand; deeds: Deeds }) {
  return (
    <Show when={props.hand.declining()}>
      {(spot) => (
        <Ask
          close={props.hand.close}
          title={WORDS.changes.decline_title}
          text={WORDS.changes.decline_text}
          label={WORDS.changes.decline_reason}
          yes={WORDS.changes.decline}
          no={WORDS.now.close}
          needed={false}
          send={(reason) => {
            const { change_id, ...stop } = spot()
            return props.deeds.review(change_id, [decline(stop, reason)])
          }}
        />
      )}
    </Show>
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
  const deeds = useDeeds(() => props.id)
  const hand = useHand(() => shown.items, deeds)
  const replaced = (change: Change) => replacement(change, shown.items) !== undefined
  return (
    <Show when={!changes.isPending} fallback={<Loading />}>
      <Show when={!changes.isError || changes.data} fallback={<Failed error={changes.error} />}>
        <Show when={shown.items.length > 0} fallback={<Empty title={WORDS.changes.none} />}>
          <For each={shown.items}>
            {(change) => <OneChange change={change} replaced={replaced(change)} deeds={deeds} hand={hand} />}
          </For>
          <Declining hand={hand} deeds={deeds} />
        </Show>
      </Show>
    </Show>
  )
}
