import type { TuiPluginApi } from "@opencode-ai/plugin/tui"
import { useTerminalDimensions } from "@opentui/solid"
import type { Explained, Explanation } from "../../opencode/src/pass-over/domain/explain"
import type { SettingInfo } from "../../opencode/src/server/schema-preference"
import { label } from "../../app/src/components/pass-over-preferences-view"
import { WORDS } from "../../app/src/lib/words"
import { oneLine } from "../../opencode/src/cli/clean"
import { beginAt } from "./begin"
import { pairName } from "./history-view"
import { inside, short } from "./lines"
import type { Preferences } from "./preferences-source"
import {
  choices,
  editAt,
  explained,
  levelsOf,
  objection,
  pairOption,
  saveTitle,
  settingOptions,
  stepOption,
  takeable,
  typed,
  written,
  type Step,
} from "./preferences-view"
import { attempt, say, tell } from "./say"

export type PreferencesInput = { api: TuiPluginApi; preferences: Preferences }

type Editing = PreferencesInput & { pair: Explanation; info: SettingInfo; one: Explained }

const TITLE = "Preferences"

const hint = (api: TuiPluginApi, text: string) => short(text, inside("large", api.renderer.width))

const back = (input: PreferencesInput, { from, to }: Explanation, setting?: string) =>
  showPair(input, from, to, setting)

async function save(editing: Editing, { edit }: Step) {
  const { api, preferences, pair, one } = editing
  const problem = await preferences.save(edit)
  if (problem) return tell(api, TITLE, problem, () => back(editing, pair, one.setting))
  say(api, WORDS.preferences.saved, "success")
  back(editing, pair, one.setting)
}

/** Every place where a value could go and what it would change there, or what speaks against it. */
async function steps({ preferences, pair, info, one }: Editing, value: unknown) {
  const wanted = [
    ...levelsOf(info).map((level) => ({ level, take: false, edit: editAt(level, pair, info.setting, value) })),
    ...takeable(info, one).map((level) => ({ level, take: true, edit: editAt(level, pair, info.setting, null) })),
  ]
  const tried = await Promise.all(wanted.map(async (each) => ({ each, tried: await preferences.try(each.edit) })))
  const possible = tried.flatMap(({ each, tried }): Step[] => (tried.ok ? [{ ...each, changes: tried.changes }] : []))
  const against = tried.flatMap(({ tried }) => (tried.ok ? [] : [tried.message]))[0]
  return { possible, against, valid: possible.some((step) => !step.take) }
}

/** Says where it can be stored and what that would change; only then it is. */
async function offer(editing: Editing, value: unknown, refused: (message: string) => void) {
  const { api, pair, info, one } = editing
  const { DialogSelect } = api.ui
  const { possible, against, valid } = await steps(editing, value)
  if (!valid) return refused(objection(info.setting, against ?? "That is not possible here."))
  api.ui.dialog.replace(() => (
    <DialogSelect
      title={saveTitle(pair, one, value)}
      placeholder={hint(api, info.text)}
      skipFilter
      options={possible.map((step, index) => stepOption(step, index, pair, api.renderer.width))}
      onSelect={(option) => {
        const step = possible[option.value]
        if (step) attempt(api, TITLE, () => save(editing, step))
      }}
    />
  ))
  api.ui.dialog.setSize("large")
}

/** A field for what is typed. What is wrong with it is said there, and stays to be corrected. */
function ask(editing: Editing, text: string, problem?: string) {
  const { api, info, one } = editing
  const { DialogPrompt } = api.ui
  const submit = (text: string) => {
    const read = typed(info, text)
    if (!read.ok) return ask(editing, text, read.message)
    attempt(api, TITLE, () => offer(editing, read.value, (message) => ask(editing, text, message)))
  }
  api.ui.dialog.replace(() => (
    <DialogPrompt
      title={label(one.setting)}
      value={text}
      placeholder={WORDS.preferences.unset}
      description={() => (
        <text fg={problem ? api.theme.current.error : api.theme.current.textMuted} wrapMode="word">
          {oneLine(problem ?? info.text)}
        </text>
      )}
      onConfirm={submit}
      onCancel={() => api.ui.dialog.clear()}
    />
  ))
}

function choose(editing: Editing, options: readonly { title: string; value: unknown }[]) {
  const { api, info, one, pair } = editing
  const { DialogSelect } = api.ui
  api.ui.dialog.replace(() => (
    <DialogSelect
      title={`${label(one.setting)} · ${pairName(pair.from, pair.to)}`}
      placeholder={hint(api, info.text)}
      skipFilter
      options={[...options]}
      current={one.value}
      onSelect={({ value }) => attempt(api, TITLE, () => offer(editing, value, refusal(editing)))}
    />
  ))
  api.ui.dialog.setSize("large")
}

const refusal = (editing: Editing) => (message: string) =>
  tell(editing.api, label(editing.one.setting), message, () => back(editing, editing.pair, editing.one.setting))

function edit(editing: Editing) {
  const options = choices(editing.info, editing.one)
  if (!options) return ask(editing, written(editing.info, editing.one.value))
  const [only] = options
  if (only && options.length === 1)
    return attempt(editing.api, TITLE, () => offer(editing, only.value, refusal(editing)))
  choose(editing, options)
}

function Settings(props: { input: PreferencesInput; pair: Explanation; current: string | undefined }) {
  const { api, preferences } = props.input
  const { DialogSelect } = api.ui
  const size = useTerminalDimensions()
  const current = beginAt(props.current)
  const notes = props.pair.notes.map((note) => ({
    title: oneLine(note),
    value: note,
    category: WORDS.preferences.notes,
  }))
  return (
    <DialogSelect
      title={`${TITLE} · ${pairName(props.pair.from, props.pair.to)}`}
      placeholder="Search a setting"
      options={[...settingOptions(props.pair, preferences.settings, size().width), ...notes]}
      current={current()}
      onSelect={({ value }) => {
        const info = preferences.settings.find((one) => one.setting === value)
        if (info) return edit({ ...props.input, pair: props.pair, info, one: explained(props.pair, info.setting) })
        tell(api, WORDS.preferences.notes, oneLine(value ?? ""), () => back(props.input, props.pair))
      }}
    />
  )
}

/** What holds for one pair, setting by setting. */
export function showPair(input: PreferencesInput, from: string, to: string, current?: string) {
  const { api, preferences } = input
  attempt(api, TITLE, async () => {
    const pair = await preferences.pair(from, to)
    api.ui.dialog.replace(() => <Settings input={input} pair={pair} current={current} />)
    api.ui.dialog.setSize("large")
  })
}

const PROBLEM = "problem"

/** Who may pass what to whom in this project. */
export function showPreferences(input: PreferencesInput) {
  const { api, preferences } = input
  const { DialogSelect } = api.ui
  attempt(api, TITLE, async () => {
    const { pairs, problem } = await preferences.pairs()
    const broken =
      problem === null ? [] : [{ title: oneLine(problem), value: PROBLEM, category: WORDS.preferences.problem }]
    if (pairs.length === 0 && problem === null)
      return tell(api, TITLE, "There are no two agents here that could pass work to each other.")
    api.ui.dialog.replace(() => (
      <DialogSelect
        title={TITLE}
        placeholder="Search a pair"
        options={[...broken, ...pairs.map((pair) => pairOption(pair, api.renderer.width))]}
        onSelect={({ value }) => {
          if (value === PROBLEM)
            return tell(api, WORDS.preferences.problem, oneLine(problem ?? ""), () => showPreferences(input))
          const pair = pairs.find((one) => `${one.from}->${one.to}` === value)
          if (pair) showPair(input, pair.from, pair.to)
        }}
      />
    ))
    api.ui.dialog.setSize("large")
  })
}
