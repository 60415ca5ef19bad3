/** What the host may be told to do about one permission. */
export type Action = "allow" | "ask" | "deny"

/** One of the host's permission rules. Of all that match, the last one holds. */
export type Rule = { permission: string; pattern: string; action: Action }

/** Rules that somebody is held to, with whose they are: every layer has to allow what a child does. */
export type Layer = {
  who: string
  rules: readonly Rule[]
  /** A limit of a pass, which no grant lifts. */
  binding?: true
  /** The constraint that it comes of: its rules depend on how the host names files. */
  constraint?: string
}

export type Right = {
  action: Action
  /** Whose rules decided, unless all allow. */ who?: string
  /** Where no rule of anybody's decided. */ why?: string
  rule?: Rule | undefined
}

type Glob = { text: string; /** Without the " *" at its end, which may be missing whole. */ bare: string | undefined }

const read = new Map<string, Glob>()
const MOST_PATTERNS = 5_000

function globOf(pattern: string): Glob {
  const known = read.get(pattern)
  if (known) return known
  const text = pattern.replaceAll("\\", "/").replaceAll(/\*+/g, "*")
  const made = { text, bare: text.endsWith(" *") ? text.slice(0, -2) : undefined }
  if (read.size >= MOST_PATTERNS) read.clear()
  read.set(pattern, made)
  return made
}

/** A star takes as little as it can, and only the last one is ever given more: patterns come from models too. */
function fits(text: string, glob: string): boolean {
  let [at, next, star, from] = [0, 0, -1, 0]
  while (at < text.length) {
    const wanted = glob[next]
    if (wanted === "*") {
      ;[star, from] = [next, at]
      next += 1
      continue
    }
    if (wanted === "?" || wanted === text[at]) {
      at += 1
      next += 1
      continue
    }
    if (star < 0) return false
    from += 1
    ;[at, next] = [from, star + 1]
  }
  return next === glob.length || (next === glob.length - 1 && glob[next] === "*")
}

/** The host's own reading of a pattern: "*" is anything, "?" one character, and " *" at the end may be missing whole. */
export function matches(text: string, pattern: string): boolean {
  if (pattern === "*") return true
  const plain = text.replaceAll("\\", "/")
  const { text: glob, bare } = globOf(pattern)
  return fits(plain, glob) || (bare !== undefined && fits(plain, bare))
}

/** What one list of rules says: the last that matches, and a question where none does. */
export const evaluate = (
  rules: readonly Rule[],
  permission: string,
  pattern: string,
): { action: Action; rule?: Rule | undefined } => {
  const rule = rules.findLast((each) => matches(permission, each.permission) && matches(pattern, each.pattern))
  return { action: rule?.action ?? "ask", rule }
}

const STRICT: Record<Action, number> = { allow: 0, ask: 1, deny: 2 }

/** What all layers together say of one pattern: as strict as the strictest of them. */
function one(layers: readonly Layer[], permission: string, pattern: string): Right {
  let strictest: Right = { action: "allow" }
  for (const { who, rules } of layers) {
    const { action, rule } = evaluate(rules, permission, pattern)
    if (STRICT[action] > STRICT[strictest.action]) strictest = { action, who, rule }
  }
  return strictest
}

/** What all layers together say of everything that one call needs. */
export function meet(layers: readonly Layer[], permission: string, patterns: readonly string[]): Right {
  let strictest: Right = { action: "allow" }
  for (const pattern of patterns) {
    const right = one(layers, permission, pattern)
    if (STRICT[right.action] > STRICT[strictest.action]) strictest = right
  }
  return strictest
}

/** The rules of a list that speak about a permission, without those that a later rule for everything has overtaken. */
export function relevant(rules: readonly Rule[], permission: string): Rule[] {
  const about = rules.filter((rule) => matches(permission, rule.permission))
  return about.slice(
    Math.max(
      0,
      about.findLastIndex((rule) => rule.pattern === "*"),
    ),
  )
}

/** What a list says of a permission whatever the pattern; nothing where it depends on the pattern. */
export function uniform(rules: readonly Rule[], permission: string): Action | undefined {
  const about = relevant(rules, permission)
  const [first] = about
  if (!first) return "ask"
  if (first.pattern !== "*") return undefined
  return about.every((rule) => rule.action === first.action) ? first.action : undefined
}

/** What all layers say of what cannot be held against patterns: as strict as their strictest rule about any of it. */
export function blindly(layers: readonly Layer[], permission: string): Right {
  let strictest: Right = { action: "allow" }
  for (const { who, rules } of layers) {
    const about = relevant(rules, permission)
    const said = about.map((rule) => ({ who, rule, action: rule.action }))
    for (const right of about[0]?.pattern === "*" ? said : [{ who, action: "ask" as const }, ...said]) {
      if (STRICT[right.action] > STRICT[strictest.action]) strictest = right
    }
  }
  return strictest
}

const same = (a: readonly Rule[], b: readonly Rule[]) =>
  a.length === b.length &&
  a.every((rule, index) => rule.pattern === b[index]?.pattern && rule.action === b[index].action)

/** What a layer says of a permission whatever the pattern. A denial that a grant may lift depends on the pattern. */
function said({ rules, binding }: Layer, permission: string, grant: readonly Rule[]): Action | undefined {
  const action = uniform(rules, permission)
  const lifted = action === "deny" && !binding && grant.some((rule) => matches(permission, rule.permission))
  return lifted ? undefined : action
}

/**
 * What has to be added to a child's own rules so that the host never lets it do what a layer above forbids or would ask
 * about: a denial where that can be said, and a question, which we answer ourselves, where it depends on the pattern.
 * What is granted has to be seen to be used, so it is never denied here for what its originator may not.
 */
export function fences(
  own: Layer,
  above: readonly Layer[],
  permissions: readonly string[],
  grant: readonly Rule[] = [],
): Rule[] {
  // Tools that nobody has named: those of the user's MCP servers and plugins.
  const mine = uniform(own.rules, UNNAMED)
  const theirs = above.map((layer) => said(layer, UNNAMED, grant))
  const rest: Rule[] =
    mine === "deny" || theirs.every((action) => action === "allow")
      ? []
      : [{ permission: "*", pattern: "*", action: theirs.includes("deny") ? "deny" : "ask" }]
  // After a fence around everything, what nobody above has a word against is opened again: where its own agent's rules
  // depend on the pattern, as a question that we answer ourselves.
  const reopened = (permission: string): Rule[] => {
    const mine = uniform(own.rules, permission)
    if (rest.length === 0 || mine === "deny") return []
    return [{ permission, pattern: "*", action: mine ?? "ask" }]
  }
  // A name with a star in it speaks of several: what becomes of each is told by our answer, so it is only ever asked.
  const starred = permissions
    .filter((permission) => permission.includes("*") && permission !== "*")
    .map((permission): Rule => ({ permission, pattern: "*", action: "ask" }))
  const exact = permissions.filter((permission) => !permission.includes("*"))
  // What its own agent may not use at all stays out of sight, also behind a fence that speaks of it among others.
  const fenced = (permission: string) => rest.length > 0 || starred.some((rule) => matches(permission, rule.permission))
  const named = exact.flatMap((permission): Rule[] => {
    if (uniform(own.rules, permission) === "deny")
      return fenced(permission) ? [{ permission, pattern: "*", action: "deny" }] : []
    const kinds = above.map((layer) => said(layer, permission, grant))
    if (kinds.includes("deny")) return [{ permission, pattern: "*", action: "deny" }]
    const mine = relevant(own.rules, permission)
    const open = above.every(
      (layer, index) => kinds[index] === "allow" || same(relevant(layer.rules, permission), mine),
    )
    if (open || uniform(own.rules, permission) === "ask") return reopened(permission)
    return [{ permission, pattern: "*", action: "ask" }]
  })
  return [...rest, ...starred, ...named]
}

const UNNAMED = "\u0000"
