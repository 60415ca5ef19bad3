import { createEffect, createMemo, For, Show, type JSX } from "solid-js"
import type { Change } from "../../../opencode/src/server/schema-decide"
import { WORDS } from "../lib/words"
import { decided, hunks, stopKey, type Layout, type Stop } from "./pass-over-change-view"
import { Diff } from "./pass-over-diff"

const SIGN = { accepted: "✓", part: "◐", declined: "✕", open: "○" } as const

/** Who goes through a change: where they are, and what they decide there. */
export type Hand = {
  layout: Layout
  busy: boolean
  /** Nothing is decided any more about what has been applied. */
  over: boolean
  at: (stop: Stop) => boolean
  go: (stop: Stop) => void
  accept: (stop: Stop) => void
  decline: (stop: Stop) => void
}

type File = Change["files"][number]

function Place(props: { file: File; hunk: number | null; hand: Hand; children: JSX.Element }) {
  const parts: { place?: HTMLElement } = {}
  const stop = () => ({ path: props.file.path, hunk: props.hunk })
  const word = () => decided(props.file, props.hunk)
  const name = () =>
    props.hunk === null ? WORDS.changes.whole(props.file.path) : WORDS.changes.part(props.hunk, props.file.path)
  createEffect(() => {
    if (!props.hand.at(stop()) || parts.place?.contains(document.activeElement)) return
    parts.place?.focus({ preventScroll: true })
    parts.place?.scrollIntoView({ block: "nearest" })
  })
  return (
    <div
      ref={(element) => (parts.place = element)}
      class="stop"
      role="group"
      tabindex="0"
      aria-label={`${name()}, ${WORDS.changes.state[word().state]}`}
      data-state={word().state}
      data-current={props.hand.at(stop())}
      data-stop={stopKey(stop())}
      onFocusIn={() => props.hand.go(stop())}
    >
      <Show when={props.file.refused === null}>
        <div class="stop-head">
          <span class="stop-state">
            <span aria-hidden="true">{SIGN[word().state]}</span> {WORDS.changes.state[word().state]}
            <Show when={word().reason}>{(reason) => <span class="said">: {reason()}</span>}</Show>
          </span>
          <Show when={!props.hand.over}>
            <button
              type="button"
              class="button small"
              disabled={props.hand.busy || word().state === "accepted"}
              onClick={() => props.hand.accept(stop())}
            >
              {WORDS.changes.accept}
              <span class="visually-hidden"> {name()}</span>
            </button>
            <button
              type="button"
              class="button small quiet"
              disabled={props.hand.busy || word().state === "declined"}
              onClick={() => props.hand.decline(stop())}
            >
              {WORDS.changes.decline}
              <span class="visually-hidden"> {name()}</span>
            </button>
          </Show>
        </div>
      </Show>
      {props.children}
    </div>
  )
}

/** A file of a change: decided about as a whole, or hunk by hunk where it has several. */
export function FileChange(props: { file: File; open: boolean; hand: Hand }) {
  const parts = createMemo(() => hunks(props.file.patch))
  const label = (number: number) => `${props.file.path} ${number}`
  return (
    <details class="change" open={props.open}>
      <summary>
        <code>{props.file.path}</code> <span class="meta">{props.file.reason || props.file.line}</span>
      </summary>
      <Show when={props.file.refused}>{(why) => <p class="notice said">{`${WORDS.changes.refused} ${why()}`}</p>}</Show>
      <Place file={props.file} hunk={null} hand={props.hand}>
        <Show when={parts().length === 1 && parts()[0]}>
          {(only) => <Diff hunk={only()} layout={props.hand.layout} label={label(1)} />}
        </Show>
      </Place>
      <Show when={parts().length > 1}>
        <For each={parts()}>
          {(hunk) => (
            <Place file={props.file} hunk={hunk.number} hand={props.hand}>
              <Diff hunk={hunk} layout={props.hand.layout} label={label(hunk.number)} />
            </Place>
          )}
        </For>
      </Show>
    </details>
  )
}
