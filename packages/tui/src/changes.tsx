import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { useTerminalDimensions } from "@opentui/solid"
import { createMemo, createSignal } from "solid-js"
import { accept, all, decline, standing, stops, type Stop } from "../../app/src/components/pass-over-change-view"
import { WORDS } from "../../app/src/lib/words"
import { clean } from "../../opencode/src/cli/clean"
import type { Verdict } from "../../opencode/src/pass-over/domain/change/review"
import type { Pass } from "../../opencode/src/pass-over/domain/pass"
import type { FileView } from "../../opencode/src/pass-over/service/change/view"
import { beginAt } from "./begin"
import type { Changes, Proposal, Said } from "./changes-source"
import { deedOption, deeds, fileOption, fileRows, notesOf, type Deed } from "./changes-view"
import { DetailDialog, type Key } from "./detail"
import { pairName } from "./history-view"
import { ending, inside } from "./lines"
import { attempt, say, tell } from "./say"

export type ChangesInput = {
  api: TuiPluginApi
  changes: Changes
  pass: Pass
  /** Leads to where one came from. */
  back: () => void
}

const TITLE = WORDS.pass.tabs.changes

const titleOf = ({ pass }: ChangesInput, { files, origin }: Proposal) =>
  `${pairName(pass.originating_agent_id, pass.subagent_id)} · ${WORDS.changes.title(files.length, WORDS.changes.origin[origin])}`

/** Carries out what was chosen for the change as it was shown. */
function carry({ changes, pass }: ChangesInput, shown: Proposal, deed: Deed): Promise<Said> {
  if (deed === "undo") return changes.undo(pass)
  if (deed === "apply") return changes.apply(pass, shown)
  if (deed === "send_back") return changes.sendBack(pass, shown.change_id)
  return changes.review(pass, shown.change_id, all(shown))
}

/** Says how it went: in passing where it went well, to be read and closed where it did not. */
function report({ api }: ChangesInput, { ok, text }: Said, next: () => void) {
  if (!ok) return tell(api, TITLE, clean(text), next)
  if (text !== "") say(api, clean(text), "success")
  next()
}

function List(props: { input: ChangesInput; shown: Proposal; current: string | undefined }) {
  const { api } = props.input
  const { DialogSelect } = api.ui
  const size = useTerminalDimensions()
  const current = beginAt(props.current)
  const state = { busy: false }
  const notes = notesOf(props.shown).map((note) => ({
    title: note,
    value: `note ${note}`,
    category: WORDS.preferences.notes,
  }))
  const options = createMemo(() => [
    ...deeds(props.shown).map((deed) => deedOption(deed, props.shown)),
    ...props.shown.files.map((file) => fileOption(file, size().width)),
    ...notes,
    { title: WORDS.changes.terminal.pass, value: "back", category: WORDS.changes.terminal.of },
  ])
  const act = (deed: Deed) => {
    // A second key while it is being done would be about something that was not shown.
    if (state.busy) return
    state.busy = true
    attempt(api, TITLE, async () => {
      const said = await carry(props.input, props.shown, deed)
      report(props.input, said, () => showChanges(props.input, `deed ${deed}`))
    })
  }
  const choose = (value: string) => {
    const deed = deeds(props.shown).find((one) => value === `deed ${one}`)
    if (deed) return act(deed)
    const file = props.shown.files.find(({ path }) => value === `file ${path}`)
    if (file) return showFile(props.input, props.shown, file.path)
    if (value === "back") return props.input.back()
    tell(api, WORDS.preferences.notes, value.replace(/^note /, ""), () => showChanges(props.input))
  }
  return (
    <DialogSelect
      title={titleOf(props.input, props.shown)}
      placeholder={WORDS.changes.terminal.search}
      options={options()}
      current={current()}
      onSelect={({ value }) => value !== undefined && choose(value)}
    />
  )
}

/** Asks why something is declined, which may stay unsaid. */
function askWhy(api: TuiPluginApi, said: (reason: string) => void, close: () => void) {
  const { DialogPrompt } = api.ui
  api.ui.dialog.replace(() => (
    <DialogPrompt
      title={WORDS.changes.decline_title}
      placeholder={WORDS.changes.decline_reason}
      description={() => (
        <text fg={api.theme.current.textMuted} wrapMode="word">
          {WORDS.changes.decline_text}
        </text>
      )}
      onConfirm={(text) => said(text)}
      onCancel={() => setTimeout(close, 0)}
    />
  ))
}

type AtFile = { input: ChangesInput; shown: Proposal; file: FileView; at: number }

/** What the keys do in a file: move between its places, and decide about the one at hand. */
function keysOf({ input, shown, file, at }: AtFile, move: (by: number) => void, decide: (verdict: Verdict) => void) {
  const places = stops([file])
  const place: Stop | undefined = standing(shown) ? undefined : places[at]
  const why = (stop: Stop) =>
    askWhy(
      input.api,
      (reason) => decide(decline(stop, reason)),
      () => showFile(input, shown, file.path, at),
    )
  const keys: Key[] = [
    ...(place
      ? [
          { key: "a", shown: "a", text: WORDS.changes.terminal.accept, run: () => decide(accept(place)) },
          { key: "r", shown: "r", text: WORDS.changes.terminal.decline, run: () => why(place) },
        ]
      : []),
    ...(places.length > 1
      ? [
          { key: "j", shown: "j", text: WORDS.changes.terminal.next, run: () => move(1) },
          { key: "k", shown: "k", text: WORDS.changes.terminal.previous, run: () => move(-1) },
        ]
      : []),
    {
      key: "left",
      shown: "←",
      text: WORDS.changes.terminal.list,
      run: () => showChanges(input, `file ${file.path}`),
    },
  ]
  return keys
}

function File(props: { input: ChangesInput; shown: Proposal; file: FileView; at: number }) {
  const { input, shown, file } = props
  const { api, changes, pass } = input
  const size = useTerminalDimensions()
  const [at, setAt] = createSignal(props.at)
  const places = stops([file]).length
  const move = (by: number) => setAt((now) => Math.min(Math.max(0, now + by), Math.max(0, places - 1)))
  const decide = (verdict: Verdict) =>
    attempt(api, TITLE, async () => {
      const said = await changes.review(pass, shown.change_id, [verdict])
      const now = await changes.of(pass)
      report(input, said, () => now && showFile(input, now, file.path, at()))
    })
  const made = createMemo(() => fileRows(file, at(), inside("large", size().width)))
  return (
    <DetailDialog
      api={api}
      title={ending(clean(file.path), inside("large", size().width) - 4)}
      head={clean(file.line)}
      rows={() => made().rows}
      keys={keysOf({ input, shown, file, at: at() }, move, decide)}
      at={made().starts[at()]}
    />
  )
}

/** One file of a change: its differences, and a decision about all of it or a part. */
function showFile(input: ChangesInput, shown: Proposal, path: string, at = 0) {
  const file = shown.files.find((one) => one.path === path)
  if (!file) return showChanges(input)
  input.api.ui.dialog.replace(() => <File input={input} shown={shown} file={file} at={at} />)
  input.api.ui.dialog.setSize("large")
}

/** What a pass wants to change, or has changed: decided about by file and part, applied as shown, and taken back. */
export function showChanges(input: ChangesInput, current?: string) {
  const { api, changes, pass } = input
  attempt(api, TITLE, async () => {
    const shown = await changes.of(pass)
    if (!shown) return tell(api, TITLE, WORDS.changes.none, input.back)
    api.ui.dialog.replace(() => <List input={input} shown={shown} current={current} />)
    api.ui.dialog.setSize("large")
  })
}
