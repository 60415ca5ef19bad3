import { createEffect, createMemo, For, Show, type JSX } from "solid-js"
import { visible } from "../../../opencode/src/pass-over/domain/hidden"
import type { Change } from "../../../opencode/src/server/schema-decide"
import { WORDS } from "../lib/words"
import type { Hand, Spot } from "./pass-over-change-hand"
import { decided, PAGE, portions, stopKey } from "./pass-over-change-view"
import { Diff, Rest } from "./pass-over-diff"
import { Press } from "./press"
import { HiddenNotice, Text } from "./text"

const SIGN = { accepted: "✓", part: "◐", declined: "✕", open: "○" } as const

type File = Change["files"][number]

/** Accepting waits until everything that would be accepted has been shown. */
function Judge(props: { spot: Spot; state: string; name: string; hand: Hand }) {
  return (
    <Show when={!props.hand.over(props.spot)}>
      <Press
        class="button small"
        idle={props.hand.busy() || props.state === "accepted" || props.hand.unseen(props.spot) > 0}
        onClick={() => props.hand.accept(props.spot)}
      >
        {WORDS.changes.accept}
        <span class="visually-hidden"> {props.name}</span>
      </Press>
      <Press
        class="button small quiet"
        idle={props.hand.busy() || props.state === "declined"}
        onClick={() => props.hand.decline(props.spot)}
      >
        {WORDS.changes.decline}
        <span class="visually-hidden"> {props.name}</span>
      </Press>
    </Show>
  )
}

function Place(props: { file: File; spot: Spot; hand: Hand; children: JSX.Element }) {
  const parts: { place?: HTMLElement } = {}
  const word = () => decided(props.file, props.spot.hunk)
  const name = () => {
    const path = visible(props.file.path)
    return props.spot.hunk === null ? WORDS.changes.whole(path) : WORDS.changes.part(props.spot.hunk, path)
  }
  createEffect(() => {
    if (!props.hand.at(props.spot) || parts.place?.contains(document.activeElement)) return
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
      data-current={props.hand.at(props.spot)}
      data-stop={stopKey(props.spot)}
      onFocusIn={() => props.hand.go(props.spot)}
    >
      <Show when={props.file.refused === null}>
        <div class="stop-head">
          <span class="stop-state">
            <span aria-hidden="true">{SIGN[word().state]}</span> {WORDS.changes.state[word().state]}
            <Show when={word().reason}>
              {(reason) => (
                <span class="said">
                  : <Text text={reason()} />
                </span>
              )}
            </Show>
          </span>
          <Judge spot={props.spot} state={word().state} name={name()} hand={props.hand} />
        </div>
      </Show>
      {props.children}
    </div>
  )
}

function Body(props: { file: File; spot: Spot; hand: Hand }) {
  const parts = () => props.hand.parts(props.spot)
  const shown = createMemo(() => portions(parts(), props.hand.room(props.spot)))
  const lines = (index: number) => (parts()[index]?.lines ?? []).slice(0, (shown()[index] ?? 0) + 1)
  const diff = (index: number) => (
    <Diff
      lines={lines(index)}
      layout={props.hand.layout()}
      label={`${visible(props.file.path)} ${parts()[index]?.number ?? ""}`}
    />
  )
  return (
    <>
      <Show when={props.file.refused}>{(why) => <p class="notice said">{`${WORDS.changes.refused} ${why()}`}</p>}</Show>
      <Show when={props.file.patch === null}>
        <p class="notice">{WORDS.changes.no_text}</p>
      </Show>
      <HiddenNotice
        texts={[props.file.path, ...parts().flatMap((part) => part.lines.slice(1).map(({ text }) => text))]}
      />
      <Place file={props.file} spot={props.spot} hand={props.hand}>
        <Show when={parts().length === 1}>{diff(0)}</Show>
      </Place>
      <Show when={parts().length > 1}>
        <For each={parts()}>
          {(hunk, index) => (
            <Show when={(shown()[index()] ?? 0) > 0}>
              <Place file={props.file} spot={{ ...props.spot, hunk: hunk.number }} hand={props.hand}>
                {diff(index())}
              </Place>
            </Show>
          )}
        </For>
      </Show>
      <Rest
        lines={props.hand.unseen(props.spot)}
        page={PAGE}
        more={() => props.hand.more(props.spot)}
        why={props.file.refused === null && !props.hand.over(props.spot) ? WORDS.changes.look_first : ""}
      />
    </>
  )
}

/** A file of a change: decided about as a whole, or hunk by hunk where it has several. */
export function FileChange(props: { file: File; change_id: string; hand: Hand }) {
  const spot = (): Spot => ({ change_id: props.change_id, path: props.file.path, hunk: null })
  const word = () => decided(props.file, null).state
  return (
    <details
      class="change"
      open={props.hand.open(spot())}
      onToggle={(event) => props.hand.fold(spot(), !event.currentTarget.open)}
    >
      <summary>
        <code>
          <bdi>
            <Text text={props.file.path} />
          </bdi>
        </code>{" "}
        <Show when={props.file.refused === null}>
          <span class="change-state" data-state={word()}>
            <span aria-hidden="true">{SIGN[word()]}</span> {WORDS.changes.state[word()]}
          </span>{" "}
        </Show>
        <span class="meta" dir="auto">
          <Text text={props.file.reason || props.file.line} />
        </span>
      </summary>
      {/* With many files most are closed: what is in them is made when they are opened. */}
      <Show when={props.hand.open(spot())}>
        <Body file={props.file} spot={spot()} hand={props.hand} />
      </Show>
    </details>
  )
}
