import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { useTerminalDimensions } from "@opentui/solid"
import { createEffect, createMemo, createSignal, For, on, onCleanup, Show } from "solid-js"
import { inside, room, view, type Row } from "./lines"

export type Key = { key: string; shown: string; text: string; run: () => void }

const STEP = 1
const PAGE = 10
const WHEEL = 3

// What no key of ours is for stays here all the same: behind the dialog it would mean something else.
const HELD = ["return", "left", "a", "c", "j", "k", "o", "p", "r"]

function Text(props: { api: TuiPluginApi; row: Row }) {
  const { current } = props.api.theme
  const color = () => {
    const { heading, tone } = props.row
    if (heading) return current.accent
    if (tone === "muted") return current.textMuted
    if (tone === "added") return current.diffAdded
    if (tone === "removed") return current.diffRemoved
    return current[tone]
  }
  return (
    <text fg={color()} wrapMode="none">
      {props.row.heading ? <b>{props.row.text}</b> : props.row.text || " "}
    </text>
  )
}

export type DetailProps = {
  api: TuiPluginApi
  title: string
  head: string
  /** What there is to read, for so many columns. */
  rows: (width: number) => readonly Row[]
  keys: readonly Key[]
  /** The row that is to be in sight. */
  at?: number | undefined
}

/** Something longer to read, in a dialog that looks like the host's own. */
export function DetailDialog(props: DetailProps) {
  const size = useTerminalDimensions()
  const theme = () => props.api.theme.current
  const [top, setTop] = createSignal(0)
  const rows = createMemo(() => props.rows(inside("large", size().width)))
  const seen = createMemo(() => view(rows().length, room(size().height), top()))
  const move = (by: number) => setTop(view(rows().length, room(size().height), seen().first + by).first)
  createEffect(
    on(
      () => props.at,
      (at) => at !== undefined && setTop(at),
    ),
  )

  const bind = (key: string, run: () => void) => ({ key, cmd: () => run() })
  onCleanup(
    props.api.keymap.registerLayer({
      bindings: [
        ...HELD.map((key) => bind(key, () => props.keys.find((one) => one.key === key)?.run())),
        bind("up", () => move(-STEP)),
        bind("down", () => move(STEP)),
        bind("pageup", () => move(-PAGE)),
        bind("pagedown", () => move(PAGE)),
        bind("home", () => move(-rows().length)),
        bind("end", () => move(rows().length)),
      ],
    }),
  )

  return (
    <box gap={1} paddingLeft={4} paddingRight={4} paddingBottom={1}>
      <box flexDirection="column">
        <box flexDirection="row" justifyContent="space-between">
          <text fg={theme().text}>
            <b>{props.title}</b>
          </text>
          <text fg={theme().textMuted} flexShrink={0} onMouseUp={() => props.api.ui.dialog.clear()}>
            esc
          </text>
        </box>
        <text fg={theme().textMuted} wrapMode="word">
          {props.head}
        </text>
      </box>
      <box
        flexDirection="column"
        onMouseScroll={(event: { scroll?: { direction: string } }) =>
          move(event.scroll?.direction === "up" ? -WHEEL : WHEEL)
        }
      >
        <For each={rows().slice(seen().first, seen().end)}>{(row) => <Text api={props.api} row={row} />}</For>
      </box>
      <box flexDirection="row" gap={2} flexWrap="wrap">
        <For each={props.keys}>
          {(key) => (
            <text fg={theme().text} flexShrink={0} onMouseUp={() => key.run()}>
              {key.text} <span style={{ fg: theme().textMuted }}>{key.shown}</span>
            </text>
          )}
        </For>
        <Show when={seen().more}>
          <text
            fg={theme().textMuted}
            flexShrink={0}
          >{`↑↓ ${seen().first + 1}–${seen().end} of ${rows().length}`}</text>
        </Show>
      </box>
    </box>
  )
}
