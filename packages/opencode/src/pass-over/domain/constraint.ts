import { PATHS, patternsOf, readable, type Within } from "./constraint-path"
import { PassOverErrorCode, refuse, type Refusal } from "./errors"
import type { Layer, Rule } from "./right"
import { LOOKING, READERS, SHELLS, WRITERS } from "./tool"

const allow = (permission: string, pattern = "*"): Rule => ({ permission, pattern, action: "allow" })
const deny = (permission: string, pattern = "*"): Rule => ({ permission, pattern, action: "deny" })

/** Tools that cannot reach beyond this machine. What we do not know may. */
const LOCAL = [...READERS, "lsp", "skill", "todowrite", "todoread", "edit"]
/** The host asks these about any tool. They are never what a constraint is about. */
const HOST = ["external_directory", "doom_loop", "question"]

const only = (permissions: readonly string[]): Rule[] => [
  deny("*"),
  ...[...permissions, ...HOST].map((name) => allow(name)),
]

const list = (text: string) =>
  text
    .split(/[,\n]/)
    .map((piece) => piece.trim())
    .filter(Boolean)

const TOOL: Record<string, string> = Object.fromEntries([
  ...WRITERS.map((tool) => [tool, "edit"]),
  ...SHELLS.map((tool) => [tool, "bash"]),
])
const permissionOf = (tool: string) => TOOL[tool] ?? tool
// The host's own tools are written small; by others they may be named as elsewhere.
const permissionsOf = (tool: string) => [...new Set([tool, permissionOf(tool), permissionOf(tool.toLowerCase())])]

/** What the values of a constraint are, whether one can be read as that, and how they are written. */
const TAKES = {
  path: { reads: readable, written: PATHS },
  tool: {
    reads: (value: string) => /^[\w.:*?-]+$/.test(value),
    written: 'write the names of tools with commas between them, as in "no_tools: bash, webfetch"',
  },
  command: { reads: () => true, written: "" },
} as const

type Kind = {
  takes: "nothing" | keyof typeof TAKES
  means: string
  rules: (values: readonly string[], within: Within) => Rule[]
}

const above = ({ pattern }: Rule) => pattern.startsWith("../")

/** Stars also match "../", so what lies outside is open only to whoever writes that. */
function openAt(paths: readonly string[], within: Within): Rule[] {
  const open = paths.flatMap((path) => patternsOf(path, within, true)).map((pattern) => allow("edit", pattern))
  return [...open.filter((rule) => !above(rule)), deny("edit", "../*"), ...open.filter(above)]
}

const shutAt = (paths: readonly string[], within: Within): Rule[] =>
  paths.flatMap((path) => patternsOf(path, within, false)).map((pattern) => deny("edit", pattern))

// A shell writes into files, too: what it is sent into is no part of the command.
const ANYWHERE = "*>*"

/** Every constraint that can be enforced. What is not here is a wish, and belongs into the objective. */
export const CONSTRAINTS: Record<string, Kind> = {
  read_only: { takes: "nothing", means: "it may look and change nothing", rules: () => only(LOOKING) },
  no_network: { takes: "nothing", means: "it may not reach beyond this machine", rules: () => only(LOCAL) },
  no_external_calls: { takes: "nothing", means: "the same as no_network", rules: () => only(LOCAL) },
  paths: {
    takes: "path",
    means: "it may change files under these paths only",
    rules: (values, within) => [...only(LOOKING), ...openAt(values, within)],
  },
  no_paths: {
    takes: "path",
    means: "it may not change files under these paths",
    rules: (values, within) => [...only([...LOOKING, "edit"]), ...shutAt(values, within)],
  },
  tools: { takes: "tool", means: "it may use these tools only", rules: (values) => only(values.map(permissionOf)) },
  no_tools: {
    takes: "tool",
    means: "it may not use these tools",
    rules: (values) => [allow("*"), ...values.flatMap(permissionsOf).map((name) => deny(name))],
  },
  commands: {
    takes: "command",
    means: "it may run these commands only",
    rules: (values) => [
      allow("*"),
      deny("bash"),
      ...values.map((value) => allow("bash", value)),
      ...(values.some((value) => value.includes(">")) ? [] : [deny("bash", ANYWHERE)]),
    ],
  },
}

/** All of them in a line, for whoever has written something else. */
export const enforced = () =>
  Object.entries(CONSTRAINTS)
    .map(([name, { takes }]) => (takes === "nothing" ? name : `"${name}: …"`))
    .join(", ")

function parse(constraint: string): { kind: Kind; values: string[] } | undefined {
  const [, name = "", rest] = /^([a-z_]+)\s*(?::\s*(.*))?$/s.exec(constraint.trim()) ?? []
  const kind = Object.hasOwn(CONSTRAINTS, name) ? CONSTRAINTS[name] : undefined
  if (!kind) return undefined
  const values = list(rest ?? "")
  const right = kind.takes === "nothing" ? rest === undefined : values.length > 0
  return right ? { kind, values } : undefined
}

type Odd = { value: string; what: string; written: string }

/** What of a constraint cannot be read as what it has to be; nothing where all can, or where it is none of ours. */
export function oddIn(constraint: string): Odd | undefined {
  const parsed = parse(constraint)
  if (!parsed || parsed.kind.takes === "nothing") return undefined
  const { reads, written } = TAKES[parsed.kind.takes]
  const value = parsed.values.find((each) => !reads(each))
  return value === undefined ? undefined : { value, what: parsed.kind.takes, written }
}

/** What a constraint means as rules; nothing where it cannot be enforced. */
export function rulesOf(constraint: string, within: Within = ""): Rule[] | undefined {
  const parsed = parse(constraint)
  return parsed && oddIn(constraint) === undefined ? parsed.kind.rules(parsed.values, within) : undefined
}

// Each call of a child is held against all of them.
const LONGEST = 2_000

/**
 * A constraint that nothing enforces would be taken for a promise, so it is refused. `where` is told of one that stands
 * in a setting: who asks cannot change it.
 */
export function unenforceable(
  constraints: readonly string[],
  where: (constraint: string) => string | undefined = () => undefined,
): Refusal | undefined {
  const long = constraints.find(({ length }) => length > LONGEST)
  if (long !== undefined) {
    const begin = `${long.slice(0, 60)}…`
    return refuse(
      PassOverErrorCode.PERMISSION_DENIED,
      `The constraint "${begin}" is longer than ${LONGEST} characters.`,
      {
        suggestion: "Say it with fewer and shorter patterns.",
        detail: { constraint: begin },
      },
    )
  }
  const bad = constraints.find((constraint) => rulesOf(constraint) === undefined)
  if (bad === undefined) return
  const [setting, odd] = [where(bad), oddIn(bad)]
  const why = odd && `: "${odd.value}" is not read as a ${odd.what}`
  const mine = odd?.written ?? `Write it into the objective, or use one of: ${enforced()}`
  const theirs = odd ? `: ${odd.written}` : `, to one of: ${enforced()}`
  return refuse(
    PassOverErrorCode.PERMISSION_DENIED,
    `The constraint "${bad}" cannot be enforced${why ?? ""}${setting === undefined ? "" : `; it stands in ${setting}`}.`,
    {
      suggestion:
        setting === undefined
          ? `${mine}.`
          : `The user has to change it there${theirs}. Until then do this part yourself or choose another agent.`,
      detail: { constraint: bad, ...(setting === undefined ? {} : { setting }) },
    },
  )
}

/** What a child is held to by constraints. No grant lifts it. */
export const constraintLayers = (constraints: readonly string[]): Layer[] =>
  constraints.map((constraint) => ({
    who: `the constraint "${constraint}"`,
    rules: rulesOf(constraint) ?? [deny("*")],
    binding: true,
    constraint,
  }))

/** The same layers where files have other names: their paths are told from the project on, the host's from its top on. */
export const placed = (layers: readonly Layer[], within: Within): readonly Layer[] =>
  within === ""
    ? layers
    : layers.map((layer) =>
        layer.constraint === undefined ? layer : { ...layer, rules: rulesOf(layer.constraint, within) ?? [deny("*")] },
      )
