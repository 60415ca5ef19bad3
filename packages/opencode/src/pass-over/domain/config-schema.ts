import { z } from "zod"
import { LIMITS } from "./limit"
import { AUDIT_DEFAULTS, PassOverPreferences, SHIPPED, SYSTEM } from "./preference"
import { AUDIT_TEXT, HISTORY_TEXT, LIMIT_TEXT, SETTING_TEXT, TREE_TEXT } from "./setting-text"

type Json = z.core.JSONSchema.BaseSchema
type Texts = Readonly<Record<string, string>>
type Values = Readonly<Record<string, unknown>>

export const SHIPPED_VALUES: Values = { ...SYSTEM, ...SHIPPED }

const SECTION_TEXT = {
  defaults: "What holds for every pass where nothing more precise is said.",
  pairs: 'What one agent may hand to another, and how: "alice->audit". Either side may be "*".',
  subagents: 'What holds for every pass to a subagent, by its name or "*" for all.',
  audit: "Where passes are written down, and for how long.",
  limits: "How much may happen at once, and in one tree of passes.",
} as const

const isSchema = (value: unknown): value is Json => typeof value === "object" && value !== null

function describe(schema: Json | undefined, texts: Texts, values: Values): Json {
  const properties = Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const value = values[name]
    return [
      name,
      {
        ...(texts[name] ? { description: texts[name] } : {}),
        ...(isSchema(property) ? bare(property) : {}),
        ...(value === undefined || typeof value === "object" ? {} : { default: value }),
      },
    ]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

// The largest safe integer is no limit that anybody set.
const bare = ({ maximum, ...rest }: Json): Json =>
  maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? rest : { ...rest, maximum }

const each = (schema: Json | undefined, texts: Texts, values: Values): Json => ({
  ...schema,
  additionalProperties: describe(schema?.additionalProperties as Json | undefined, texts, values),
})

function sections(properties: Record<string, Json>): Record<keyof typeof SECTION_TEXT, Json> {
  const limits = describe(properties.limits, LIMIT_TEXT, LIMITS)
  const tree = limits.properties?.tree
  return {
    defaults: describe(properties.defaults, SETTING_TEXT, SHIPPED_VALUES),
    pairs: each(properties.pairs, { ...SETTING_TEXT, ...HISTORY_TEXT }, SHIPPED_VALUES),
    subagents: each(properties.subagents, SETTING_TEXT, SHIPPED_VALUES),
    audit: describe(properties.audit, AUDIT_TEXT, AUDIT_DEFAULTS),
    limits: {
      ...limits,
      properties: {
        ...limits.properties,
        tree: describe(isSchema(tree) ? tree : undefined, TREE_TEXT, LIMITS.tree),
      },
    },
  }
}

/** The JSON Schema of `pass-over.json` for editors: from the schema that is enforced, with what each setting does. */
export function configSchema(): Record<string, unknown> {
  const { $schema, properties = {}, ...rest } = z.toJSONSchema(PassOverPreferences, { io: "input", target: "draft-7" })
  const described = Object.entries(sections(properties as Record<string, Json>)).map(([name, schema]) => [
    name,
    { description: SECTION_TEXT[name as keyof typeof SECTION_TEXT], ...schema },
  ])
  return {
    $schema,
    title: "Pass Over preferences",
    description: "Who may hand what to whom, with which rights and limits, and when a person is asked.",
    // Editors take these two from the schema; the file may hold comments and trailing commas.
    allowComments: true,
    allowTrailingCommas: true,
    ...rest,
    properties: {
      $schema: {
        description: "This schema, so that editors complete and check the file.",
        ...(properties.$schema as Json),
      },
      ...Object.fromEntries(described),
    },
  }
}
