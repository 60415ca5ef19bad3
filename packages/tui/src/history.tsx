import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { useTerminalDimensions } from "@opentui/solid"
import { createEffect, createMemo, createSignal, on, onCleanup } from "solid-js"
import type { Pass } from "../../opencode/src/pass-over/domain/pass"
import { beginAt } from "./begin"
import { showChanges } from "./changes"
import type { Changes } from "./changes-source"
import { DetailDialog, type Key } from "./detail"
import type { Cursor, History, Page } from "./history-source"
import { entryOption, holds, passDetail, refusalDetail, type Detail, type Entry } from "./history-view"
import { rowsOf } from "./lines"
import { problemOf, tell } from "./say"
import type { Snapshot } from "./source"
import { passOption, sameRunning } from "./view"

export type HistoryInput = {
  api: TuiPluginApi
  history: History
  snapshot: () => Snapshot
  changes: Changes
  /** Shows what holds for a pair. */
  preferences: (from: string, to: string) => void
  panel: () => void
}

// So many rows are drawn; whoever looks for more types on.
const DRAWN = 100
// So far back a search goes by itself. What is older is found in the panel.
const SEARCHED = 5_000

const OLDER = {
  title: "What is older is found in the panel",
  value: "older",
  description: "",
  footer: "/panel",
  category: "Older",
}

const unread = (api: TuiPluginApi) => (error: unknown) =>
  tell(api, "Passes", `They could not be read: ${problemOf(error)}`)

/** What has ended, as far as it was asked for, and the looking for more of it. */
function usePast({ api, history }: HistoryInput, first: Page) {
  const [entries, setEntries] = createSignal<readonly Entry[]>(first.entries)
  const state: { next: Cursor | undefined; query: string; searching: boolean } = {
    next: first.next,
    query: "",
    searching: false,
  }
  const found = () => entries().filter((entry) => holds(entry.words, state.query)).length

  async function more(): Promise<void> {
    if (state.searching) return
    state.searching = true
    try {
      while (state.query !== "" && state.next && found() < DRAWN && entries().length < SEARCHED) {
        const page = await history.page(state.next)
        state.next = page.next
        setEntries((before) => [...before, ...page.entries])
        // The terminal draws, and hears keys, between two pages.
        await Bun.sleep(0)
      }
    } finally {
      state.searching = false
    }
  }

  // Whoever closes the list looks for nothing any more.
  onCleanup(() => (state.query = ""))
  return {
    entries,
    /** Whether there is more than was looked through. */
    older: () => entries().length >= SEARCHED && state.query !== "" && state.next !== undefined,
    search(query: string) {
      state.query = query.trim()
      void more().catch(unread(api))
    },
    /** The latest again; what was read before them stays. */
    async refresh() {
      const { entries: latest, next } = await history.page()
      const known = new Set(latest.map((entry) => entry.id))
      state.next ??= entries().length === 0 ? next : undefined
      setEntries((before) => [...latest, ...before.filter((entry) => !known.has(entry.id))])
    },
  }
}

function List(props: { input: HistoryInput; first: Page; current: string | undefined; open: (entry: Entry) => void }) {
  const { api, snapshot } = props.input
  const { DialogSelect } = api.ui
  const size = useTerminalDimensions()
  const past = usePast(props.input, props.first)
  const [query, setQuery] = createSignal("")
  const current = beginAt(props.current)
  // Drawn anew when a pass comes or goes, and not with every step that one of them takes.
  const running = createMemo(() => snapshot().running, [], { equals: sameRunning })
  createEffect(on(running, () => void past.refresh().catch(() => {}), { defer: true }))

  const options = createMemo(() => {
    const now = Date.now()
    const fresh = running().flatMap((seen) => {
      const option = passOption(seen, now, size().width)
      return holds(`${option.title} ${seen.pass.objective} ${option.footer}`.toLowerCase(), query()) ? [option] : []
    })
    const ended = past.entries().filter((entry) => holds(entry.words, query()))
    const shown = ended.slice(0, DRAWN).map((entry) => entryOption(entry, now, size().width))
    return [...fresh, ...shown, ...(past.older() ? [OLDER] : [])]
  })

  return (
    <DialogSelect
      title="Passes"
      placeholder="Search by agent, objective, verdict, day"
      skipFilter
      options={options()}
      current={current()}
      onFilter={(text) => {
        setQuery(text)
        past.search(text)
      }}
      onSelect={({ value }) => {
        if (value === OLDER.value) return props.input.panel()
        const entry = past.entries().find((one) => one.id === value)
        if (entry) return props.open(entry)
        const child = running().find(({ pass }) => pass.id === value)?.pass.child_session_id
        if (!child) return
        api.ui.dialog.clear()
        api.route.navigate("session", { sessionID: child })
      }}
    />
  )
}

function keysOf(input: HistoryInput, entry: Entry, detail: Detail): Key[] {
  const { api } = input
  const go = (sessionID: string) => {
    api.ui.dialog.clear()
    api.route.navigate("session", { sessionID })
  }
  const decide = (pass: Pass) => showChanges({ api, changes: input.changes, pass, back: () => void open(input, entry) })
  const { child, origin, changed } = detail
  return [
    ...(child === null ? [] : [{ key: "return", shown: "enter", text: "child", run: () => go(child) }]),
    ...(changed && entry.kind === "pass"
      ? [{ key: "c", shown: "c", text: "changes", run: () => decide(entry.pass) }]
      : []),
    { key: "o", shown: "o", text: "originator", run: () => go(origin) },
    { key: "p", shown: "p", text: "preferences", run: () => input.preferences(detail.from, detail.to) },
    { key: "left", shown: "←", text: "list", run: () => void showHistory(input, entry.id) },
  ]
}

async function detailOf({ history }: HistoryInput, entry: Entry): Promise<Detail> {
  if (entry.kind === "refusal") return refusalDetail(entry.line)
  return passDetail(await history.told(entry.pass), Date.now())
}

async function open(input: HistoryInput, entry: Entry) {
  const { api } = input
  try {
    const detail = await detailOf(input, entry)
    api.ui.dialog.replace(() => (
      <DetailDialog
        api={api}
        title={detail.title}
        head={detail.head}
        rows={(width) => rowsOf(detail.sections, width)}
        keys={keysOf(input, entry, detail)}
      />
    ))
    api.ui.dialog.setSize("large")
  } catch (error) {
    unread(api)(error)
  }
}

/** Everything that ran and runs in this project: to be looked through, and each opened. */
export async function showHistory(input: HistoryInput, current?: string) {
  const { api, history, snapshot } = input
  try {
    const first = await history.page()
    if (first.entries.length === 0 && snapshot().running.length === 0)
      return tell(api, "Passes", "No passes in this project yet.")
    api.ui.dialog.replace(() => (
      <List input={input} first={first} current={current} open={(entry) => void open(input, entry)} />
    ))
    api.ui.dialog.setSize("large")
  } catch (error) {
    unread(api)(error)
  }
}
