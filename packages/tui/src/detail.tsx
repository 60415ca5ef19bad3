import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { useTerminalDimensions } from "@opentui/solid"
import { createMemo, createSignal, For, onCleanup, Show } from "solid-js"
import type { Detail } from "./history-view"
import { inside, room, rowsOf, view, type Row } from "./lines"

export type Key = { key: string; shown: string; text: string; run: () => void }

const STEP = 1
const PAGE = 10
const WHEEL = 3

function Text(props: { api: TuiPluginApi; row: Row }) {
  const { current } = props.api.theme
  const color = () => {
    if (props.row.heading) return current.accent
    if (props.row.tone === "muted") return current.textMuted
    return current[props.row.tone]
  }
  return (
    <text fg={color()} wrapMode="none">
      {props.row.heading ? <b>{props.row.text}</b> : props.row.text || " "}
    </text>
  )
}

/** What there is to read about a pass, in a dialog that looks like the host's own. */
export function DetailDialog(props: { api: TuiPluginApi; detail: Detail; keys: readonly Key[] }) {
  const size = useTerminalDimensions()
  const theme = () => props.api.theme.current
  const [top, setTop] = createSignal(0)
  const rows = createMemo(() => rowsOf(props.detail.sections, inside("large", size().width)))
  const seen = createMemo(() => view(rows().length, room(size().height), top()))
  const move = (by: number) => setTop(view(rows().length, room(size().height), seen().first + by).first)

  const bind = (key: string, run: () => void) => ({ key, cmd: () => run() })
  onCleanup(
    props.api.keymap.registerLayer({
      bindings: [
        // What no key of ours is for stays here all the same: behind the dialog it would mean something else.
        bind("return", () => props.keys.find((one) => one.key === "return")?.run()),
        ...props.keys.filter(({ key }) => key !== "return").map(({ key, run }) => bind(key, run)),
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
            <b>{props.detail.title}</b>
          </text>
          <text fg={theme().textMuted} flexShrink={0} onMouseUp={() => props.api.ui.dialog.clear()}>
            esc
          </text>
        </box>
        <text fg={theme().textMuted} wrapMode="word">
          {props.detail.head}
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
