import { isAbsolute, resolve } from "node:path"
import { fileURLToPath } from "node:url"

/** As in opencode.json: a path or package name, alone or with its options. */
export type PluginSpec = string | [spec: string, options: Record<string, unknown>]

export type Json = { [key: string]: unknown }

export type ConfigInput = { url: string; plugins: PluginSpec[]; config: Json; owner: number }

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** Objects are merged; anything else in `over` takes the place of what was there. */
export function merge(base: Json, over: Json): Json {
  const entries = Object.entries(over).map(([key, value]) => {
    const old = base[key]
    return [key, isObject(old) && isObject(value) ? merge(old, value) : value] as const
  })
  return { ...base, ...Object.fromEntries(entries) }
}

/** Paths are those of the test, so they are made absolute here; names of packages are left alone. */
export function resolveSpec(spec: PluginSpec): PluginSpec {
  if (Array.isArray(spec)) return [resolvePath(spec[0]), spec[1]]
  return resolvePath(spec)
}

const resolvePath = (spec: string) => (spec.startsWith(".") && !isAbsolute(spec) ? resolve(spec) : spec)

const HEADERS = fileURLToPath(new URL("./headers.ts", import.meta.url))

/** opencode.json for the scripted model; what the test adds is merged over it. */
export function opencodeConfig(input: ConfigInput): Json {
  const { plugin, ...rest } = input.config
  const extra = Array.isArray(plugin) ? plugin : []
  return merge(
    {
      $schema: "https://opencode.ai/config.json",
      model: "rehearsal/script",
      small_model: "rehearsal/script",
      enabled_providers: ["rehearsal"],
      share: "disabled",
      autoupdate: false,
      plugin: [[HEADERS, { owner: input.owner }], ...input.plugins.map(resolveSpec), ...extra],
      provider: {
        rehearsal: {
          npm: "@ai-sdk/openai-compatible",
          name: "Rehearsal",
          options: { baseURL: input.url, apiKey: "rehearsal" },
          models: {
            script: {
              name: "Script",
              tool_call: true,
              reasoning: true,
              limit: { context: 200_000, output: 8_000 },
            },
          },
        },
      },
    },
    rest,
  )
}
