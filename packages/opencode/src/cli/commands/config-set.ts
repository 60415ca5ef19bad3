import type { Written } from "../../pass-over/domain/config"
import { difference, knownPairs, type Change } from "../../pass-over/domain/explain"
import { edited, groupOf, groupPath, writtenAfter, type PreferenceKey } from "../../pass-over/domain/preference-edit"
import { allWritten, savePreference } from "../../pass-over/service/preference"
import { editConfig, type ValueEdit } from "../../pass-over/store/config-edit"
import { parseConfig, placeOf } from "../../pass-over/store/config-text"
import { DEFAULTS, ORIGINATORS } from "../../agent/agent"
import { asAgents, knownAgents, noSuchAgents } from "../agents"
import { oneLine } from "../clean"
import { refused, Stop, usage, type Command, type Invocation } from "../command"
import { actor, withEngine, withHistory, workedIn } from "../engine"
import { EXIT } from "../exit"
import { configPlaces, inProject, readConfig } from "../place"
import { readText, textAt } from "../read-text"
import { nothingThere } from "./config-nothing"
import { sectionOf, writeSection } from "./config-section"

/** "alice->audit" is a pair, "defaults" the defaults, any other word a subagent. */
export function keyOf(word: string): PreferenceKey {
  if (word.trim() === "") throw usage("Whose setting it is, is empty.", `Name a pair, a subagent or defaults.`)
  const [from = "", to, ...more] = word.split("->")
  // Assigned to as a key it would set the prototype of a group, and be lost.
  if ([word, from, to].includes("__proto__")) throw usage("No agent can be called __proto__.")
  if (to !== undefined && more.length === 0) return { level: "pair", from, to }
  if (word === "defaults") return { level: "defaults" }
  if (/^[^\s>]+-$/.test(word)) throw usage(`"${word}" is half a pair.`, `Put it in quotes: 'alice->audit'.`)
  return { level: "subagent", subagent: word }
}

/** What somebody wrote as a value: JSON where it is JSON, else the words themselves. */
export function valueOf(word: string): unknown {
  try {
    return JSON.parse(word)
  } catch {
    return word
  }
}

function preview(
  written: readonly Written[],
  origin: Written["origin"],
  after: Written["preferences"],
  directory: string,
): Change[] {
  const next = writtenAfter(written, origin, after)
  const pairs = knownPairs({
    agents: asAgents(knownAgents(directory)),
    originators: ORIGINATORS,
    written: [...written, ...next],
  })
  return difference(pairs, { written, agents: DEFAULTS }, { written: next, agents: DEFAULTS })
}

/** Agents of a key that nobody knows here. They may come with another plugin, so it is written all the same. */
function strangers(key: PreferenceKey, directory: string): string[] {
  const named = key.level === "pair" ? [key.from, key.to] : key.level === "subagent" ? [key.subagent] : []
  const known = knownAgents(directory).map((agent) => agent.name)
  return noSuchAgents(named, known)
}

type Told = { where: string; changes: readonly Change[]; dry: boolean; hints: readonly string[] }

function print({ out }: Pick<Invocation, "out">, { where, changes, dry, hints }: Told) {
  if (out.json) return out.value({ where, saved: !dry, changes, hints })
  out.line(dry ? `Nothing is written. In ${where} it would change:` : `Written to ${where}.`)
  if (changes.length === 0) return out.line("What holds between the agents that are known stays as it is.")
  out.table(
    [{ title: "PAIR" }, { title: "SETTING" }, { title: "BEFORE", grow: true }, { title: "AFTER", grow: true }],
    changes.map(({ from, to, setting, before, after }) => [
      `${from} → ${to}`,
      setting,
      JSON.stringify(before) ?? "",
      JSON.stringify(after) ?? "",
    ]),
  )
  for (const hint of hints) out.line(out.paint("yellow", oneLine(hint)))
}

const preferencesIn = (path: string) => {
  const text = textAt(path)
  const file = text === undefined ? undefined : parseConfig(text)
  return file?.ok ? file.preferences : {}
}

function originOf({ options }: Invocation): Written["origin"] {
  if (options.global === true && options.stored === true) throw usage("Choose one of --global and --stored.")
  return options.stored === true ? "stored" : options.global === true ? "global" : "project"
}

/** A whole group goes without being understood: it may be what another version has left. */
async function drop(call: Invocation, word: string) {
  const section = sectionOf(word, undefined)
  if (section) return writeSection(call, { origin: originOf(call), section, setting: undefined, value: null })
  const { out, directory, options } = call
  if (options.dryRun === true) throw usage("--dry-run shows what a single setting would change.")
  const [origin, key] = [originOf(call), keyOf(word)]
  const path = configPlaces(directory).find((place) => place.origin === origin)?.path
  const where = path ?? "the stored preferences"
  if (path === undefined) {
    const stored = await workedIn(directory)
    const gone = await withHistory(false, (engine) => engine.store.deletePreference({ directory: stored, key }))
    if (!gone) throw nothingThere(where, word)
  }
  const file = path === undefined ? undefined : readText(path)
  if (file?.state === "unreadable")
    throw new Stop(
      EXIT.config,
      `${where} cannot be read: ${file.problem}.`,
      "Put a file that can be read in its place.",
    )
  if (path !== undefined && file) {
    if (file.state === "absent" || !placeOf(file.text, groupPath(key))) throw nothingThere(path, word)
    const edits = [{ path: groupPath(key), value: undefined }]
    const saved = editConfig(origin === "project" ? inProject(path, directory) : path, edits)
    if (!saved.ok) throw refused(saved.refusal)
  }
  if (out.json) out.value({ where, saved: true })
  if (!out.json) out.line(`${where} says nothing of ${word} any more.`)
  return EXIT.ok
}

/** A word that looks like a number or a yes may be meant as text: a reason may be "12". */
function tried(before: Written["preferences"], key: PreferenceKey, { setting, value, word }: Setting) {
  const made = edited(before, { key, set: { [setting]: value } })
  if (made.ok || word === undefined || value === word) return { value, made }
  const asText = edited(before, { key, set: { [setting]: word } })
  return asText.ok ? { value: word, made: asText } : { value, made }
}

/** One setting: as what it is read, and the word that somebody wrote; null and no word where it is taken away. */
type Setting = { setting: string; value: unknown; word?: string | undefined }

async function write(call: Invocation, word: string, given: Setting) {
  const { setting } = given
  const { out, directory, options } = call
  const origin = originOf(call)
  const section = sectionOf(word, setting)
  if (section) return writeSection(call, { origin, section, setting, value: given.value })
  const dry = options.dryRun === true
  const key = keyOf(word)
  const files = readConfig(directory)
  const stored = await workedIn(directory)
  const written = await withHistory(files, (engine) => allWritten(engine, { directory: stored, files }))
  const path = configPlaces(directory).find((place) => place.origin === origin)?.path
  const before = written.find((place) => place.origin === origin)?.preferences ?? (path ? preferencesIn(path) : {})
  const where = path ?? "the stored preferences"
  if (given.value === null && !Object.hasOwn(groupOf(before, key), setting))
    throw nothingThere(where, `${groupPath(key).join(".")}.${setting}`)
  const { made, value } = tried(before, key, given)
  if (!made.ok) throw refused(made.refusal)
  const edit = { key, set: { [setting]: value } }
  const changes = preview(written, origin, made.preferences, directory)
  if (!dry && path === undefined) {
    const saved = await withEngine((engine) => savePreference(engine, { directory: stored, edit, actor: actor() }))
    if (!saved.ok) throw refused(saved.refusal)
  }
  if (!dry && path !== undefined) {
    const edits: ValueEdit[] = [{ path: [...groupPath(key), setting], value: value === null ? undefined : value }]
    const saved = editConfig(origin === "project" ? inProject(path, directory) : path, edits)
    if (!saved.ok) throw refused(saved.refusal)
  }
  print({ out }, { where, changes, dry, hints: given.value === null ? [] : strangers(key, directory) })
  return EXIT.ok
}

const OPTIONS = [
  { flags: "--global", text: "in your own file, for all projects" },
  { flags: "--stored", text: "in the database, for this project, as the panel does" },
  { flags: "--dry-run", text: "only show what would change" },
]
const WHERE = {
  name: "<where>",
  text: "'alice->audit' (in quotes), a subagent, defaults, limits, or audit for the record of passes",
}
const SETTING = { name: "<setting>", text: "one of docs/configuration.md" }

export const set: Command = {
  name: "set",
  person: true,
  summary: "write a setting into the project's pass-over.json; comments and order stay",
  args: [WHERE, SETTING, { name: "<value>", text: "true, 90000, only_issues …" }],
  options: OPTIONS,
  examples: [
    "pass-over config set 'alice->audit' timeout_ms 900000",
    "pass-over config set audit can_modify_files false --global",
    "pass-over config set defaults require_confirmation true --dry-run",
    "pass-over config set limits tree.cost 5",
    "pass-over config set audit retention_days 90",
  ],
  run: ({ args: [where = "", setting = "", word = ""], ...call }) =>
    write({ ...call, args: [] }, where, { setting, value: valueOf(word), word }),
}

export const unset: Command = {
  name: "unset",
  person: true,
  summary: "take a setting away, or all of a pair or subagent, so that the next place decides",
  args: [WHERE, { name: "[setting]", text: "one of docs/configuration.md; without it, all of them" }],
  options: OPTIONS,
  examples: ["pass-over config unset 'alice->audit' timeout_ms", "pass-over config unset audit --stored"],
  run: (call) => {
    const [word = "", setting] = call.args
    return setting === undefined ? drop(call, word) : write(call, word, { setting, value: null })
  },
}
