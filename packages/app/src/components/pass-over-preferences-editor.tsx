import { createEffect, createMemo, createResource, createSignal, For, on, Show } from "solid-js"
import type { Explained, Explanation } from "../../../opencode/src/pass-over/domain/explain"
import type { SettingInfo } from "../../../opencode/src/server/schema-preference"
import { api } from "../lib/api"
import { WORDS } from "../lib/words"
import {
  controlOf,
  keyOf,
  label,
  readableValue,
  readField,
  rows,
  storedHere,
  withEdit,
  written,
  type Control,
  type Edits,
  type Level,
} from "./pass-over-preferences-view"
import { Failed } from "./state"

const LEVELS: readonly Level[] = ["pair", "subagent", "defaults"]

type FieldProps = { id: string; control: Control; value: unknown; change: (value: unknown) => void; named: string }

function Choices(props: FieldProps & { options: readonly string[]; words?: Record<string, string> }) {
  return (
    <select
      id={props.id}
      aria-label={props.named}
      value={written(props.control, props.value)}
      onChange={(event) => props.change(readField(props.control, event.currentTarget.value))}
    >
      <For each={props.options}>
        {(name) => <option value={name}>{props.words?.[name] ?? name.replaceAll("_", " ")}</option>}
      </For>
    </select>
  )
}

function Field(props: FieldProps) {
  const read = (text: string) => props.change(readField(props.control, text))
  const { control } = props
  if (control.kind === "switch") {
    return (
      <Choices
        {...props}
        options={["true", "false"]}
        words={{ true: WORDS.preferences.yes, false: WORDS.preferences.no }}
      />
    )
  }
  if (control.kind === "choice") return <Choices {...props} options={control.options} />
  if (control.kind === "number") {
    return (
      <span class="with-unit">
        <input
          id={props.id}
          aria-label={props.named}
          type="number"
          min="0"
          step={control.step}
          value={written(control, props.value)}
          onInput={(event) => read(event.currentTarget.value)}
        />
        <span aria-hidden="true">{control.unit}</span>
      </span>
    )
  }
  if (control.kind === "text") {
    return (
      <input
        id={props.id}
        aria-label={props.named}
        type="text"
        value={written(control, props.value)}
        onInput={(event) => read(event.currentTarget.value)}
      />
    )
  }
  return (
    <textarea
      id={props.id}
      aria-label={props.named}
      rows="2"
      placeholder={control.kind === "lines" ? WORDS.preferences.lines : ""}
      value={written(control, props.value)}
      onInput={(event) => read(event.currentTarget.value)}
    />
  )
}

function Row(props: {
  info: SettingInfo
  one: Explained
  level: Level
  edits: Edits
  edit: (value: unknown) => void
  reset: () => void
}) {
  const edited = () => props.one.setting in props.edits
  const control = controlOf(props.info)
  const value = () => (edited() ? props.edits[props.one.setting] : props.one.value)
  return (
    <div class="setting" data-edited={edited()}>
      <div class="setting-name">
        <strong>{label(props.one.setting)}</strong>
        <p>{props.info.text}</p>
      </div>
      <div class="setting-value">
        <Field
          id={`set-${props.one.setting}`}
          control={control}
          value={value()}
          change={props.edit}
          named={label(props.one.setting)}
        />
        <p class="meta">
          <Show
            when={edited()}
            fallback={
              <span>
                {props.one.where === WORDS.preferences.unset ? "" : WORDS.preferences.from_where} {props.one.where}
              </span>
            }
          >
            <span>
              {WORDS.preferences.was} {readableValue(props.one.setting, props.one.value)}
            </span>
          </Show>
          <Show when={props.one.shadows[0]}>
            {(shadow) => (
              <span>
                {WORDS.preferences.shadows} {readableValue(props.one.setting, shadow().value)} ({shadow().where})
              </span>
            )}
          </Show>
          <Show when={storedHere(props.one, props.level)}>
            <button type="button" class="link" onClick={() => props.reset()}>
              {WORDS.preferences.reset}
              <span class="visually-hidden"> {label(props.one.setting)}</span>
            </button>
          </Show>
        </p>
      </div>
    </div>
  )
}

type EditorProps = { pair: Explanation; settings: readonly SettingInfo[]; directory: string; saved: () => void }

/** The edits in hand, what they would change, and how they are sent. */
function useEdits(props: EditorProps) {
  const [level, setLevel] = createSignal<Level>("pair")
  const [edits, setEdits] = createSignal<Edits>({})
  const [error, setError] = createSignal<unknown>()
  const count = () => Object.keys(edits()).length
  createEffect(
    on([() => `${props.pair.from}->${props.pair.to}`, level], () => {
      setEdits({})
      setError(undefined)
    }),
  )
  const send = async (dry_run: boolean) => {
    const json = { key: keyOf(level(), props.pair.from, props.pair.to), set: edits() as Record<string, unknown> }
    const query = { directory: props.directory, dry_run: String(dry_run) }
    return (await api.preferences.$put({ query, json })).json()
  }
  const [shown] = createResource(
    () => (count() > 0 ? JSON.stringify([level(), edits()]) : undefined),
    async () => {
      try {
        const { changes } = await send(true)
        setError(undefined)
        return changes
      } catch (caught) {
        setError(caught)
        return []
      }
    },
  )
  const save = async () => {
    try {
      await send(false)
      setEdits({})
      setError(undefined)
      props.saved()
    } catch (caught) {
      setError(caught)
    }
  }
  return { level, setLevel, edits, setEdits, error, count, shown, save }
}

type Editing = ReturnType<typeof useEdits>

function SaveBar(props: { editing: Editing }) {
  const changes = () => props.editing.shown.latest ?? []
  return (
    <div class="save-bar">
      <div class="preview" role="status">
        <strong>
          {WORDS.preferences.preview} ({WORDS.preferences.changed(props.editing.count())})
        </strong>
        <Show when={props.editing.error()} fallback={<Preview changes={changes()} />}>
          {(caught) => <Failed error={caught()} />}
        </Show>
      </div>
      <div class="actions end">
        <button type="button" class="button quiet" onClick={() => props.editing.setEdits({})}>
          {WORDS.preferences.discard}
        </button>
        <button type="submit" class="button primary" disabled={props.editing.error() !== undefined}>
          {WORDS.preferences.save}
        </button>
      </div>
    </div>
  )
}

type Changed = { from: string; to: string; setting: string; before?: unknown; after?: unknown }

function Preview(props: { changes: readonly Changed[] }) {
  return (
    <Show when={props.changes.length > 0} fallback={<p>{WORDS.preferences.preview_none}</p>}>
      <ul>
        <For each={props.changes.slice(0, 12)}>
          {(change) => (
            <li>
              {change.from} → {change.to}: {label(change.setting)} {readableValue(change.setting, change.before)} →{" "}
              <strong>{readableValue(change.setting, change.after)}</strong>
            </li>
          )}
        </For>
      </ul>
    </Show>
  )
}

function Rows(props: EditorProps & { editing: Editing }) {
  const shown = createMemo(() => rows(props.pair, props.settings, props.editing.level()))
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
              <Row
                info={row().info}
                one={row().one}
                level={props.editing.level()}
                edits={props.editing.edits()}
                edit={(value) => props.editing.setEdits((before) => withEdit(before, row().one, value))}
                reset={() => props.editing.setEdits((before) => ({ ...before, [setting]: null }))}
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
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    void editing.save()
  }
  return (
    <form class="editor" onSubmit={submit} aria-label={title()}>
      <header class="card-head">
        <h2>{title()}</h2>
        <label class="field inline">
          <span>{WORDS.preferences.scope.label}</span>
          <select value={editing.level()} onChange={(event) => editing.setLevel(event.currentTarget.value as Level)}>
            <For each={LEVELS}>{(name) => <option value={name}>{WORDS.preferences.scope[name]}</option>}</For>
          </select>
        </label>
      </header>
      <Show when={props.pair.notes.length > 0}>
        <ul class="notice plain-list" aria-label={WORDS.preferences.notes}>
          <For each={props.pair.notes}>{(note) => <li class="said">{note}</li>}</For>
        </ul>
      </Show>
      <Rows {...props} editing={editing} />
      <Show when={editing.count() > 0}>
        <SaveBar editing={editing} />
      </Show>
    </form>
  )
}
