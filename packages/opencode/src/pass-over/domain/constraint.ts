import { PassOverErrorCode, refuse, type Refusal } from "./errors"
import type { Layer, Rule } from "./right"
import { LOOKING, READERS } from "./tool"

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
    .split(",")
    .map((piece) => piece.trim())
    .filter(Boolean)

const TOOL: Record<string, string> = { write: "edit", apply_patch: "edit" }
const permissionOf = (tool: string) => TOOL[tool] ?? tool

type Kind = { takes: "nothing" | "a list"; means: string; rules: (values: readonly string[]) => Rule[] }

/** Every constraint that can be enforced. What is not here is a wish, and belongs into the objective. */
export const CONSTRAINTS: Record<string, Kind> = {
  read_only: { takes: "nothing", means: "it may look and change nothing", rules: () => only(LOOKING) },
  no_network: { takes: "nothing", means: "it may not reach beyond this machine", rules: () => only(LOCAL) },
  no_external_calls: { takes: "nothing", means: "the same as no_network", rules: () => only(LOCAL) },
  paths: {
    takes: "a list",
    means: "it may change files under these paths only",
    rules: (values) => [allow("*"), deny("bash"), deny("edit"), ...values.map((value) => allow("edit", value))],
  },
  no_paths: {
    takes: "a list",
    means: "it may not change files under these paths",
    rules: (values) => [allow("*"), deny("bash"), ...values.map((value) => deny("edit", value))],
  },
  tools: { takes: "a list", means: "it may use these tools only", rules: (values) => only(values.map(permissionOf)) },
  no_tools: {
    takes: "a list",
    means: "it may not use these tools",
    rules: (values) => [allow("*"), ...values.map((value) => deny(permissionOf(value)))],
  },
  commands: {
    takes: "a list",
    means: "it may run these commands only",
    rules: (values) => [allow("*"), deny("bash"), ...values.map((value) => allow("bash", value))],
  },
}

/** All of them in a line, for whoever has written something else. */
export const enforced = () =>
  Object.entries(CONSTRAINTS)
    .map(([name, { takes }]) => (takes === "nothing" ? name : `"${name}: …"`))
    .join(", ")

/** What a constraint means as rules; nothing where it cannot be enforced. */
export function rulesOf(constraint: string): Rule[] | undefined {
  const [, name = "", rest] = /^([a-z_]+)\s*(?::\s*(.*))?$/s.exec(constraint.trim()) ?? []
  const kind = Object.hasOwn(CONSTRAINTS, name) ? CONSTRAINTS[name] : undefined
  if (!kind) return undefined
  const values = list(rest ?? "")
  const right = kind.takes === "nothing" ? rest === undefined : values.length > 0
  return right ? kind.rules(values) : undefined
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
  const setting = where(bad)
  return refuse(
    PassOverErrorCode.PERMISSION_DENIED,
    `The constraint "${bad}" cannot be enforced${setting === undefined ? "" : `; it stands in ${setting}`}.`,
    {
      suggestion:
        setting === undefined
          ? `Write it into the objective, or use one of: ${enforced()}.`
          : `The user has to change it there, to one of: ${enforced()}. Until then do this part yourself or choose another agent.`,
      detail: { constraint: bad, ...(setting === undefined ? {} : { setting }) },
    },
  )
}

export const constraintLayers = (constraints: readonly string[]): Layer[] =>
  constraints.map((constraint) => ({
    who: `the constraint "${constraint}"`,
    rules: rulesOf(constraint) ?? [deny("*")],
  }))
