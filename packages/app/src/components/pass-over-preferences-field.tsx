import { Show } from "solid-js"
import { WORDS } from "../lib/words"
import {
  controlOf,
  fieldText,
  label,
  readableValue,
  storedHere,
  type Control,
  type Edit,
  type Level,
  type Row,
} from "./pass-over-preferences-view"
import { Select } from "./select"

export const fieldID = (setting: string) => `set-${setting}`

type FieldProps = { id: string; control: Control; text: string; type: (text: string) => void; named: string }

const yesNo = (option: string) => (option === "true" ? WORDS.preferences.yes : WORDS.preferences.no)
const spaced = (option: string) => option.replaceAll("_", " ")

/** A number is typed as text: a field of numbers tells nobody of "0." or "1e", and loses them. */
function Line(props: FieldProps) {
  return (
    <input
      id={props.id}
      aria-label={props.named}
      type="text"
      inputmode={props.control.kind === "number" ? "decimal" : "text"}
      autocomplete="off"
      value={props.text}
      onInput={(event) => props.type(event.currentTarget.value)}
    />
  )
}

function Field(props: FieldProps) {
  const { control } = props
  if (control.kind === "switch" || control.kind === "choice")
    return (
      <Select
        id={props.id}
        named={props.named}
        value={props.text}
        options={control.kind === "choice" ? control.options : ["true", "false"]}
        word={control.kind === "choice" ? spaced : yesNo}
        change={props.type}
      />
    )
  if (control.kind === "number")
    return (
      <span class="with-unit">
        <Line {...props} />
        <span aria-hidden="true">{control.unit}</span>
      </span>
    )
  if (control.kind === "text") return <Line {...props} />
  return (
    <textarea
      id={props.id}
      aria-label={props.named}
      rows="2"
      placeholder={control.kind === "lines" ? WORDS.preferences.lines : ""}
      value={props.text}
      onInput={(event) => props.type(event.currentTarget.value)}
    />
  )
}

/** Where a value comes from, or what it was before the edit in hand; and what it stands in front of. */
function Source(props: { row: Row; changed: boolean; level: Level; takeAway: () => void }) {
  const one = () => props.row.one
  return (
    <p class="meta">
      <Show
        when={props.changed}
        fallback={
          <span>
            {one().where === WORDS.preferences.unset ? "" : WORDS.preferences.from_where} {one().where}
          </span>
        }
      >
        <span>
          {WORDS.preferences.was} {readableValue(one().setting, one().value)}
        </span>
      </Show>
      <Show when={one().shadows[0]}>
        {(shadow) => (
          <span>
            {WORDS.preferences.shadows} {readableValue(one().setting, shadow().value)} ({shadow().where})
          </span>
        )}
      </Show>
      <Show when={storedHere(one(), props.level)}>
        <button type="button" class="link" onClick={() => props.takeAway()}>
          {WORDS.preferences.reset}
          <span class="visually-hidden"> {label(one().setting)}</span>
        </button>
      </Show>
    </p>
  )
}

export function SettingRow(props: {
  row: Row
  level: Level
  edit: Edit | undefined
  changed: boolean
  change: (edit: Edit) => void
}) {
  const control = controlOf(props.row.info)
  const setting = () => props.row.info.setting
  return (
    <div class="setting" data-edited={props.changed}>
      <div class="setting-name">
        <strong>{label(setting())}</strong>
        <p>{props.row.info.text}</p>
      </div>
      <div class="setting-value">
        <Field
          id={fieldID(setting())}
          control={control}
          text={fieldText(props.edit, props.row)}
          type={(text) => props.change({ text })}
          named={label(setting())}
        />
        <Source
          row={props.row}
          changed={props.changed}
          level={props.level}
          takeAway={() => props.change("taken away")}
        />
      </div>
    </div>
  )
}
