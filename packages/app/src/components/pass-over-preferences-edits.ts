import { createEffect, createMemo, createSignal, on, onCleanup } from "solid-js"
import type { Explanation } from "../../../opencode/src/pass-over/domain/explain"
import type { Setting } from "../../../opencode/src/pass-over/domain/preference"
import type { SettingInfo } from "../../../opencode/src/server/schema-preference"
import { api, ApiError } from "../lib/api"
import { holdHere } from "../lib/route"
import type { Place } from "../lib/route-view"
import {
  keyOf,
  movedTo,
  rows,
  toStore,
  typedSince,
  type Edit,
  type Edits,
  type Level,
} from "./pass-over-preferences-view"

export type EditorProps = {
  pair: Explanation
  settings: readonly SettingInfo[]
  directory: string
  /** Reads anew what holds now. */
  saved: () => Promise<unknown>
}

export type Changed = { from: string; to: string; setting: string; before?: unknown; after?: unknown }
type Send = { key: ReturnType<typeof keyOf>; set: Record<string, unknown> }
/** What the server said to one request; it says nothing about the next. */
type Answer = { to: string; changes: Changed[]; error?: unknown }

const PAUSE_MS = 200

async function put(directory: string, json: Send, dry_run: boolean): Promise<Changed[]> {
  const answer = await api.preferences.$put({ query: { directory, dry_run: String(dry_run) }, json })
  return (await answer.json()).changes
}

/** What a request would change, asked for once nothing more is typed. */
function usePreview(props: EditorProps, request: () => Send | undefined) {
  const [answer, setAnswer] = createSignal<Answer>({ to: "", changes: [] })
  const asked = createMemo(() => JSON.stringify(request() ?? ""))
  const look = async (to: string, send: Send) => {
    const said = await put(props.directory, send, true).then(
      (changes): Answer => ({ to, changes }),
      (error: unknown): Answer => ({ to, changes: [], error }),
    )
    if (asked() === to) setAnswer(said)
  }
  createEffect(
    on(asked, (to) => {
      const send = request()
      if (send === undefined) return
      const timer = setTimeout(() => void look(to, send), PAUSE_MS)
      onCleanup(() => clearTimeout(timer))
    }),
  )
  const current = () => answer().to === asked()
  return {
    /** Nothing while it is not known yet. */
    changes: () => (current() ? answer().changes : undefined),
    error: () => (current() ? answer().error : undefined),
    failed: (error: unknown) => setAnswer({ to: asked(), changes: [], error }),
  }
}

/** Asks before edits are left behind, by a link or by closing the page. */
function useHold(props: EditorProps, unsaved: () => boolean) {
  const here = ({ page, query }: Place) =>
    page === "preferences" &&
    query.from === props.pair.from &&
    query.to === props.pair.to &&
    (query.project ?? props.directory) === props.directory
  holdHere((next) => unsaved() && !here(next))
  createEffect(() => {
    if (!unsaved()) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener("beforeunload", ask)
    onCleanup(() => removeEventListener("beforeunload", ask))
  })
}

/** The edits in hand, what they would change, and how they are stored. */
export function useEdits(props: EditorProps) {
  const [level, setLevel] = createSignal<Level>("pair")
  const [edits, setEdits] = createSignal<Edits>({})
  const [dropped, setDropped] = createSignal<readonly Setting[]>([])
  const [saved, setSaved] = createSignal(false)
  const [busy, setBusy] = createSignal(false)
  const shown = createMemo(() => rows(props.pair, props.settings, level()))
  const set = createMemo(() => toStore(edits(), shown()))
  const count = () => Object.keys(set()).length
  const request = () => (count() > 0 ? { key: keyOf(level(), props.pair.from, props.pair.to), set: set() } : undefined)
  const preview = usePreview(props, request)
  const reset = () => {
    setEdits({})
    setDropped([])
    setSaved(false)
  }
  useHold(props, () => count() > 0)
  createEffect(on(() => [props.directory, props.pair.from, props.pair.to].join("\n"), reset, { defer: true }))
  const edit = (setting: Setting, value: Edit) => {
    setDropped([])
    setSaved(false)
    setEdits((before) => ({ ...before, [setting]: value }))
  }
  const move = (next: Level) => {
    const { kept, dropped } = movedTo(edits(), props.settings, next)
    setSaved(false)
    setDropped(dropped)
    setEdits(kept)
    setLevel(next)
  }
  const save = async () => {
    const send = request()
    const sent = edits()
    if (send === undefined || busy()) return
    setBusy(true)
    try {
      await put(props.directory, send, false)
      await props.saved()
      setEdits((now) => typedSince(now, sent))
      setSaved(true)
    } catch (caught) {
      preview.failed(caught)
    } finally {
      setBusy(false)
    }
  }
  /** What the server has said no to is not asked for again; a server that was away may be there by now. */
  const refused = () => preview.error() instanceof ApiError
  return { level, move, shown, edits, edit, set, count, dropped, preview, refused, saved, save, discard: reset }
}

export type Editing = ReturnType<typeof useEdits>
