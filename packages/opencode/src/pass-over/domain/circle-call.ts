import { pieces, words, type Words } from "./circle-words"

/** A tool call as it is compared with others. */
export type Call = {
  /** The same for calls that ask for the same. */
  key: string
  /** What it is about: paths, patterns, numbers, the words of a command. Odd ones are names and numbers. */
  objects: Int32Array
  /** What it says at length: contents, prompts, queries. */
  prose: Int32Array
  /** It is a command: what it says at length, such as the message of a commit, does not tell it from another. */
  command: boolean
  /** It waits on purpose. */
  waits: boolean
  /** It changes something when it works. */
  changes: boolean
}

type Field = { name: string; text: string }

// Whoever asks for the same again words these anew, and they change nothing.
const WORDING = new Set(["timeout", "explanation", "thought", "reasoning"])
const PROSE =
  /^(?:contents?|text|body|prompt|query|question|todos|message|description|title|(?:old|new)_?(?:string|str|text)|patch\w*|diff|edits|code|objective|reason)$/i
const CHANGING = /edit|write|patch|replace|insert|create|update|delete|remove|move|rename|apply/i
const NOT_CHANGING = /todo/i
const CHANGING_COMMANDS = [
  /\bsed\s+-i|\btee\b|(?:^|[\s;&])(?:mv|cp|rm|mkdir|touch|patch|install)\s/,
  /\bgit\s+(?:apply|bisect|checkout|cherry-pick|commit|merge|mv|pull|rebase|reset|revert|rm|stash)\b/,
  /\b(?:npm|bun|pnpm|yarn|pip|apt|apt-get|cargo)\s+(?:i|install|add|remove)\b/,
  /(?:^|[^2&>=-])>\s*(?!\/dev\/null)[\w./~-]/,
]
const WAITING = /\bsleep\s+\d|\bwait\b|\bwatch\b/i

// How much of an answer is shown and how long it may take is not what a command does.
const ASIDE = / ?2>&1| ?\| ?(?:tail|head|cat)\b[^|;&]*|^ ?(?:time|timeout [^ ]+) | ?(?:;|\|\|) ?(?:true|echo [^|;&]*)$/g

// The message of a commit is said at length too.
const MESSAGE = /\s(?:-\w*m|--message)[ =]*("(?:[^"\\]|\\.)*"|'[^']*')/g

const LONGEST = 16_000
const LONGEST_COMMAND = 4_000
const MOST_FIELDS = 64
const SHORT_FIELD = /"(\w{1,40})"\s*:\s*("(?:[^"\\]|\\.){0,300}"|-?\d[\d.]*|true|false)/g

function* leaves(value: unknown, name: string, depth: number): Generator<Field> {
  if (value === null || value === undefined || depth > 5) return
  if (typeof value === "string") return yield { name, text: value }
  if (typeof value !== "object") return yield { name, text: JSON.stringify(value) }
  for (const [key, inner] of Object.entries(value)) {
    // What stands in a list, or below a field that is prose, belongs to that field.
    yield* leaves(inner, Array.isArray(value) || PROSE.test(name) ? name : key, depth + 1)
  }
}

/** The fields of a call's input. Of one that is too long to be read whole, the short ones at its ends and its pieces. */
function fieldsOf(input: string): Field[] {
  if (input.length <= LONGEST) {
    try {
      return [...leaves(JSON.parse(input), "", 0)].slice(0, MOST_FIELDS)
    } catch {
      return [{ name: "", text: input }]
    }
  }
  const some = pieces(input)
  const short = [...some.matchAll(SHORT_FIELD)]
    .slice(0, MOST_FIELDS)
    .map(([, name = "", text = ""]) => ({ name, text }))
  return [...short, { name: "content", text: some }, { name: "length", text: String(input.length) }]
}

const joined = (fields: readonly Field[]) => fields.map(({ text }) => text).join("\n")

const altering = (tool: string, command: string) =>
  (CHANGING.test(tool) && !NOT_CHANGING.test(tool)) || CHANGING_COMMANDS.some((form) => form.test(command))

/** A command without what is only about showing its answer, and the messages in it. A whole script is left as it is. */
function spoken(command: string): Field[] {
  if (command.length > LONGEST_COMMAND) return [{ name: "command", text: command }]
  const line = command.replaceAll(/\s+/g, " ").trim()
  return [
    { name: "command", text: line.replaceAll(MESSAGE, "").replaceAll(ASIDE, "") },
    ...[...line.matchAll(MESSAGE)].map(([, text = ""]) => ({ name: "message", text })),
  ]
}

export function readCall(tool: string, input: string): Call {
  const all = fieldsOf(input)
  const command =
    all
      .find(({ name }) => name === "command")
      ?.text.slice(0, LONGEST_COMMAND)
      .replaceAll(/\s+/g, " ") ?? ""
  const told = command !== "" || all.some(({ name }) => name === "prompt")
  const fields = all
    .filter(({ name }) => !WORDING.has(name) && !(told && name === "description"))
    .flatMap((field) => (field.name === "command" ? spoken(field.text) : [field]))
    .toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
  const objects = words(joined(fields.filter(({ name }) => !PROSE.test(name))), "with ids")
  const prose = words(joined(fields.filter(({ name }) => PROSE.test(name))), "with ids")
  // Contents that differ in a part that is not read differ in their length most of the time.
  const long = fields.filter(({ text }) => text.length > LONGEST / 4).map(({ text }) => text.length)
  return {
    key: [tool, objects.key, prose.key, ...long].join(" "),
    objects: objects.bag,
    prose: prose.bag,
    command: command !== "",
    waits: WAITING.test(command === "" ? tool : command),
    changes: altering(tool, command),
  }
}

/** An answer as it is compared with others. */
export type Answer = Words & { failed: boolean }

export const readAnswer = (output: string, failed: boolean): Answer => {
  const read = words(output, "without ids")
  return { ...read, failed, complains: failed || read.complains }
}
