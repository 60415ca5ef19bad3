import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { useTerminalDimensions } from "@opentui/solid"
import { createEffect, createMemo, createSignal, on, onCleanup } from "solid-js"
import { beginAt } from "./begin"
import { DetailDialog, type Key } from "./detail"
import type { Cursor, History, Page } from "./history-source"
import { entryOption, holds, passDetail, refusalDetail, type Detail, type Entry } from "./history-view"
import { problemOf, tell } from "./say"
import type { Snapshot } from "./source"
import { passOption, sameRunning } from "./view"

export type HistoryInput = {
  api: TuiPluginApi
  history: History
  snapshot: () => Snapshot
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

/** What has ended, as far as it was asked for, and the looking for more of it. */
function usePast({ api, history }: HistoryInput, first: Page) {
  const [entries, setEntries] = createSignal<readonly Entry[]>(first.entries)
  const state: { next: Cursor | undefined; query: string; searching: boolean } = {
    next: first.next,
    query: "",
    searching: false,
  }
  const found = () => entries().filter((entry) => holds(entry.words, state.query)).length

  const failed = (error: unknown) => tell(api, "Passes", `They could not be read: ${problemOf(error)}`)

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
      void more().catch(failed)
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

function keysOf(input: HistoryInput, detail: Detail, id: string): Key[] {
  const { api } = input
  const go = (sessionID: string) => {
    api.ui.dialog.clear()
    api.route.navigate("session", { sessionID })
  }
  const { child, origin } = detail
  return [
    ...(child === null ? [] : [{ key: "return", shown: "enter", text: "child", run: () => go(child) }]),
    { key: "o", shown: "o", text: "originator", run: () => go(origin) },
    { key: "p", shown: "p", text: "preferences", run: () => input.preferences(detail.from, detail.to) },
    { key: "left", shown: "←", text: "list", run: () => void showHistory(input, id) },
  ]
}

async function open(input: HistoryInput, entry: Entry) {
  const now = Date.now()
  const detail =
    entry.kind === "pass" ? passDetail(await input.history.told(entry.pass), now) : refusalDetail(entry.line)
  input.api.ui.dialog.replace(() => (
    <DetailDialog api={input.api} detail={detail} keys={keysOf(input, detail, entry.id)} />
  ))
  input.api.ui.dialog.setSize("large")
}

/** Everything that ran and runs in this project: to be looked through, and each opened. */
export async function showHistory(input: HistoryInput, current?: string) {
  const { api, history, snapshot } = input
  const failed = (error: unknown) => tell(api, "Passes", `They could not be read: ${problemOf(error)}`)
  try {
    const first = await history.page()
    if (first.entries.length === 0 && snapshot().running.length === 0)
      return tell(api, "Passes", "No passes in this project yet.")
    api.ui.dialog.replace(() => (
      <List input={input} first={first} current={current} open={(entry) => void open(input, entry).catch(failed)} />
    ))
    api.ui.dialog.setSize("large")
  } catch (error) {
    failed(error)
  }
}
