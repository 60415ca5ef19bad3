import { createMemo, For, Match, Show, Switch } from "solid-js"
import { held, leave, stay } from "../lib/route"
import { WORDS } from "../lib/words"
import { Dialog } from "./dialog"
import { useEdits, type Changed, type Editing, type EditorProps } from "./pass-over-preferences-edits"
import { fieldID, SettingRow } from "./pass-over-preferences-field"
import { label, readableValue, type Level } from "./pass-over-preferences-view"
import { Select } from "./select"
import { Failed } from "./state"

const LEVELS: readonly Level[] = ["pair", "subagent", "defaults"]
const levelOf = (name: string) => LEVELS.find((level) => level === name) ?? "pair"

function Preview(props: { changes: readonly Changed[] | undefined }) {
  return (
    <Switch>
      <Match when={props.changes === undefined}>
        <p>{WORDS.state.loading}</p>
      </Match>
      <Match when={props.changes?.length === 0}>
        <p>{WORDS.preferences.preview_none}</p>
      </Match>
      <Match when={props.changes}>
        {(changes) => (
          <ul>
            <For each={changes().slice(0, 12)}>
              {(change) => (
                <li>
                  {change.from} → {change.to}: {label(change.setting)} {readableValue(change.setting, change.before)} →{" "}
                  <strong>{readableValue(change.setting, change.after)}</strong>
                </li>
              )}
            </For>
          </ul>
        )}
      </Match>
    </Switch>
  )
}

function SaveBar(props: { editing: Editing; back: () => void }) {
  const discard = () => {
    props.editing.discard()
    props.back()
  }
  return (
    <div class="save-bar">
      <div class="preview" role="status">
        <Show when={props.editing.count() > 0} fallback={<p class="saved">{WORDS.preferences.saved}</p>}>
          <strong>
            {WORDS.preferences.preview} ({WORDS.preferences.changed(props.editing.count())})
          </strong>
          <Show when={props.editing.preview.error()} fallback={<Preview changes={props.editing.preview.changes()} />}>
            {(caught) => <Failed error={caught()} />}
          </Show>
        </Show>
      </div>
      <Show when={props.editing.count() > 0}>
        <div class="actions end">
          <button type="button" class="button quiet" onClick={discard}>
            {WORDS.preferences.discard}
          </button>
          <button type="submit" class="button primary" disabled={props.editing.refused()}>
            {WORDS.preferences.save}
          </button>
        </div>
      </Show>
    </div>
  )
}

/** Asked before somebody goes elsewhere with edits in hand. */
function Leaving(props: { editing: Editing }) {
  const go = (event: SubmitEvent) => {
    event.preventDefault()
    props.editing.discard()
    leave()
  }
  return (
    <Dialog title={WORDS.preferences.leave_title} close={stay}>
      <form onSubmit={go}>
        <p>{WORDS.preferences.leave_text(props.editing.count())}</p>
        <div class="actions end">
          <button type="button" class="button quiet" onClick={stay}>
            {WORDS.preferences.leave_no}
          </button>
          <button type="submit" class="button danger">
            {WORDS.preferences.leave_yes}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function Rows(props: { editing: Editing; touched: (setting: string) => void }) {
  const { shown, edits, edit, set, level } = props.editing
  // The fields stay the same fields while their values come and go, or typing would lose its place.
  const names = createMemo(() => shown().map((row) => row.info.setting), [], {
    equals: (a, b) => a.join() === b.join(),
  })
  return (
    <div class="settings">
      <For each={names()}>
        {(setting) => (
          <Show when={shown().find((row) => row.info.setting === setting)}>
            {(row) => (
              <SettingRow
                row={row()}
                level={level()}
                edit={edits()[setting]}
                changed={setting in set()}
                change={(value) => {
                  props.touched(setting)
                  edit(setting, value)
                }}
              />
            )}
          </Show>
        )}
      </For>
    </div>
  )
}

/** What holds for a pair, and what would hold after a change: seen before it is saved. */
export function PairEditor(props: EditorProps) {
  const editing = useEdits(props)
  const title = () => WORDS.preferences.edit(props.pair.from, props.pair.to)
  let touched = ""
  // The buttons go once there is nothing to save: the hand goes back to where it was.
  const back = () => document.getElementById(fieldID(touched))?.focus({ preventScroll: true })
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const by = document.activeElement
    await editing.save()
    if (editing.saved() && (by === document.activeElement || document.activeElement === document.body)) back()
  }
  return (
    <>
      <form class="editor" onSubmit={(event) => void submit(event)} aria-label={title()}>
        <header class="card-head">
          <h2>{title()}</h2>
          <label class="field inline">
            <span>{WORDS.preferences.scope.label}</span>
            <Select
              value={editing.level()}
              options={LEVELS}
              word={(name) => WORDS.preferences.scope[levelOf(name)]}
              change={(name) => editing.move(levelOf(name))}
            />
          </label>
        </header>
        <Show when={editing.dropped().length > 0}>
          <p class="notice" role="alert">
            {WORDS.preferences.dropped(editing.dropped().map(label))}
          </p>
        </Show>
        <Show when={props.pair.notes.length > 0}>
          <ul class="notice plain-list" aria-label={WORDS.preferences.notes}>
            <For each={props.pair.notes}>{(note) => <li class="said">{note}</li>}</For>
          </ul>
        </Show>
        <Rows editing={editing} touched={(setting) => (touched = setting)} />
        <Show when={editing.count() > 0 || editing.saved()}>
          <SaveBar editing={editing} back={back} />
        </Show>
      </form>
      <Show when={held()}>
        <Leaving editing={editing} />
      </Show>
    </>
  )
}
