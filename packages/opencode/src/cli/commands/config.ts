import { existsSync } from "node:fs"
import { relative, resolve } from "node:path"
import { configSchema } from "../../pass-over/domain/config-schema"
import { describeSource, resolveAudit, type Source, type Written } from "../../pass-over/domain/config"
import { explain as explained, type Explained } from "../../pass-over/domain/explain"
import { PassOverErrorCode } from "../../pass-over/domain/errors"
import { allWritten } from "../../pass-over/service/preference"
import { parseConfig, placeOf, type Fault } from "../../pass-over/store/config-text"
import { DEFAULTS } from "../../agent/agent"
import { knownAgents, noSuchAgents } from "../agents"
import { oneLine } from "../clean"
import { Stop, type Command, type Invocation } from "../command"
import { withHistory, workedIn } from "../engine"
import { EXIT } from "../exit"
import { configTexts, readConfig, type ConfigText } from "../place"
import { readText } from "../read-text"
import { set, unset } from "./config-set"

/** All places that say something about the project, the strongest first; without a database nothing is stored. */
async function written(directory: string): Promise<Written[]> {
  const files = readConfig(directory)
  const stored = await workedIn(directory)
  return withHistory(files, (engine) => allWritten(engine, { directory: stored, files }))
}

const json = (value: unknown) => JSON.stringify(value) ?? ""

/** ".opencode/pass-over.json:12:5", so that a terminal or an editor can jump there. */
const sourceLines = (texts: readonly ConfigText[]) => (source: Source, from?: string) => {
  const found = texts.find(({ path }) => path === source.path)
  if (found?.file.state !== "text") return describeSource(source)
  const near = from === undefined || found.origin === "environment" ? found.path : relative(from, found.path)
  const path = near.startsWith("..") ? found.path : near
  const at = placeOf(found.file.text, source.key)
  return at ? `${path}:${at.line}:${at.column}` : path
}

async function runExplain({ out, args: [from = "", to = ""], directory }: Invocation) {
  const known = knownAgents(directory).map((agent) => agent.name)
  const sourceLine = sourceLines(configTexts(directory))
  const { settings, notes } = explained(from, to, { written: await written(directory), agents: DEFAULTS })
  const hints = noSuchAgents([from, to], known)
  if (out.json) {
    const shown = settings.map(({ source, shadows, ...rest }) => ({
      ...rest,
      source: { ...source, where: sourceLine(source) },
      shadows: shadows.map((one) => ({ value: one.value, source: one.source, where: sourceLine(one.source) })),
    }))
    out.value({ from, to, settings: shown, notes, hints })
    return EXIT.ok
  }
  const shadow = ({ shadows: [first] }: Explained) => (first ? `${json(first.value)} of ${first.where}` : "")
  out.table(
    [
      { title: "SETTING" },
      { title: "VALUE", grow: true },
      { title: "FROM" },
      { title: "INSTEAD OF", grow: true, rank: 1 },
    ],
    settings.map((one) => [one.setting, json(one.value), sourceLine(one.source, directory), shadow(one)]),
  )
  if (notes.length + hints.length > 0) out.line()
  for (const note of [...notes, ...hints]) out.line(out.paint("yellow", oneLine(note)))
  return EXIT.ok
}

async function runShow({ out, directory }: Invocation) {
  const places = await written(directory)
  if (out.json) {
    out.value({ places, audit: resolveAudit(places) })
    return EXIT.ok
  }
  for (const { origin, path, preferences } of places) {
    const rows = flat(preferences)
    const there = origin === "stored" || origin === "environment" || existsSync(path)
    out.line(`${out.paint("bold", path)}${there ? "" : out.paint("dim", " (not there)")}`)
    for (const [key, value] of rows) out.line(`  ${oneLine(key)} = ${oneLine(value)}`)
    if (rows.length === 0 && there) out.line(out.paint("dim", "  says nothing"))
  }
  out.line(out.paint("dim", "Earlier places win. What holds for a pair: pass-over config explain FROM TO"))
  return EXIT.ok
}

function flat(value: unknown, path: string[] = []): [string, string][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[path.join("."), json(value)]]
  return Object.entries(value).flatMap(([key, inner]) => (inner === undefined ? [] : flat(inner, [...path, key])))
}

export type Checked = { path: string; faults: Fault[] | undefined }

const unread = (problem: string): Fault => ({
  line: 1,
  column: 1,
  code: PassOverErrorCode.CONFIG_INVALID,
  message: `the file cannot be read: ${problem}`,
  text: "",
})

function check({ path, file }: Pick<ConfigText, "path" | "file">): Checked {
  if (file.state === "absent") return { path, faults: undefined }
  if (file.state === "unreadable") return { path, faults: [unread(file.problem)] }
  const parsed = parseConfig(file.text)
  return { path, faults: parsed.ok ? [] : parsed.faults }
}

/** One file that somebody names; that it is not there is no answer to whether it is valid. */
function checkGiven(given: string, directory: string): Checked {
  const file = readText(resolve(directory, given))
  if (file.state !== "absent") return check({ path: given, file })
  throw new Stop(EXIT.not_found, `There is no file ${given}.`, "Check the path.", "E042")
}

/** What is wrong with preferences, place by place; `undefined` where there is no file. */
export const checked = (directory: string): Checked[] => configTexts(directory).map(check)

async function runValidate({ out, directory, args: [given] }: Invocation) {
  const files = given === undefined ? checked(directory) : [checkGiven(given, directory)]
  const faulty = files.some(({ faults }) => faults !== undefined && faults.length > 0)
  if (out.json) {
    out.value({
      valid: !faulty,
      files: files.map(({ path, faults }) => ({ path, exists: faults !== undefined, faults: faults ?? [] })),
    })
    return faulty ? EXIT.config : EXIT.ok
  }
  for (const { path, faults } of files) {
    if (faults === undefined) out.line(`${path} is not there; nothing needs it.`)
    if (faults?.length === 0) out.line(`${path} is valid.`)
    for (const { line, column, code, message, text } of faults ?? []) {
      out.line(`${path}:${line}:${column} ${out.paint("red", code)} ${oneLine(message)}`)
      if (text.trim() !== "") out.line(`  ${out.paint("dim", oneLine(text))}`)
    }
  }
  return faulty ? EXIT.config : EXIT.ok
}

export const config: Command = {
  name: "config",
  summary: "look at preferences and change them",
  examples: ["pass-over config explain alice audit", "pass-over config validate"],
  commands: [
    {
      name: "show",
      summary: "show what each place says",
      examples: ["pass-over config show"],
      run: runShow,
    },
    {
      name: "explain",
      summary: "show what holds between two agents, where it comes from and what it shadows",
      args: [
        { name: "<from>", text: "the agent that passes work" },
        { name: "<to>", text: "the agent that takes it" },
      ],
      examples: ["pass-over config explain alice audit", "pass-over config explain alice audit --json"],
      run: runExplain,
    },
    {
      name: "validate",
      summary: "name every fault with its file, line and column",
      args: [{ name: "[file]", text: "a file; without it those of the project and the user" }],
      examples: ["pass-over config validate", "pass-over config validate .opencode/pass-over.json"],
      run: runValidate,
    },
    set,
    unset,
    {
      name: "schema",
      summary: "print the JSON Schema of pass-over.json",
      examples: ["pass-over config schema > pass-over.schema.json"],
      run: async ({ out }) => {
        out.value(configSchema())
        return EXIT.ok
      },
    },
  ],
}
