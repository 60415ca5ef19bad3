import type { Written } from "../../pass-over/domain/config"
import { difference, knownPairs, type Change } from "../../pass-over/domain/explain"
import { edited, groupPath, writtenAfter, type PreferenceKey } from "../../pass-over/domain/preference-edit"
import { allWritten, savePreference } from "../../pass-over/service/preference"
import { editConfig, type ValueEdit } from "../../pass-over/store/config-edit"
import { parseConfig } from "../../pass-over/store/config-text"
import { DEFAULTS, ORIGINATORS } from "../../agent/agent"
import { asAgents, knownAgents } from "../agents"
import { refused, Stop, usage, type Command, type Invocation } from "../command"
import { actor, withEngine, withHistory, workedIn } from "../engine"
import { EXIT } from "../exit"
import { configPlaces, inProject, readConfig } from "../place"
import { readText, textAt } from "../read-text"
import { LIMITS, writeLimit } from "./config-limits"

/** "alice->audit" is a pair, "defaults" the defaults, any other word a subagent. */
export function keyOf(word: string): PreferenceKey {
  const [from = "", to, ...more] = word.split("->")
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

function print({ out }: Pick<Invocation, "out">, where: string, changes: readonly Change[], dry: boolean) {
  if (out.json) return out.value({ where, saved: !dry, changes })
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
  if (word === LIMITS) return writeLimit(call, originOf(call), undefined, null)
  const { out, directory, options } = call
  if (options.dryRun === true) throw usage("--dry-run shows what a single setting would change.")
  const [origin, key] = [originOf(call), keyOf(word)]
  const path = configPlaces(directory).find((place) => place.origin === origin)?.path
  const where = path ?? "the stored preferences"
  if (path === undefined) {
    const stored = await workedIn(directory)
    await withEngine((engine) => engine.store.deletePreference({ directory: stored, key }))
  }
  const file = path === undefined ? undefined : readText(path)
  if (file?.state === "unreadable")
    throw new Stop(
      EXIT.config,
      `${where} cannot be read: ${file.problem}.`,
      "Put a file that can be read in its place.",
    )
  if (path !== undefined && file?.state === "text") {
    const edits = [{ path: groupPath(key), value: undefined }]
    const saved = editConfig(origin === "project" ? inProject(path, directory) : path, edits)
    if (!saved.ok) throw refused(saved.refusal)
  }
  if (out.json) out.value({ where, saved: true })
  if (!out.json) out.line(`${where} says nothing of ${word} any more.`)
  return EXIT.ok
}

async function write(call: Invocation, word: string, setting: string, value: unknown) {
  const { out, directory, options } = call
  const origin = originOf(call)
  if (word === LIMITS) return writeLimit(call, origin, setting, value)
  const dry = options.dryRun === true
  const key = keyOf(word)
  const files = readConfig(directory)
  const stored = await workedIn(directory)
  const written = await withHistory(files, (engine) => allWritten(engine, { directory: stored, files }))
  const path = configPlaces(directory).find((place) => place.origin === origin)?.path
  const before = written.find((place) => place.origin === origin)?.preferences ?? (path ? preferencesIn(path) : {})
  const edit = { key, set: { [setting]: value } }
  const made = edited(before, edit)
  if (!made.ok) throw refused(made.refusal)
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
  print({ out }, path ?? "the stored preferences", changes, dry)
  return EXIT.ok
}

const OPTIONS = [
  { flags: "--global", text: "in your own file, for all projects" },
  { flags: "--stored", text: "in the database, for this project, as the panel does" },
  { flags: "--dry-run", text: "only show what would change" },
]
const WHERE = { name: "<where>", text: "'alice->audit' (in quotes), a subagent, defaults, or limits" }
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
  ],
  run: (call) => write(call, call.args[0] ?? "", call.args[1] ?? "", valueOf(call.args[2] ?? "")),
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
    return setting === undefined ? drop(call, word) : write(call, word, setting, null)
  },
}
