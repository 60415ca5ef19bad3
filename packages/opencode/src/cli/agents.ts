import { readdirSync, readFileSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import { parse } from "jsonc-parser"
import { AGENTS, type Mode } from "../agent/agent"
import type { AgentInfo } from "../pass-over/domain/agent"
import { nearest } from "../pass-over/domain/nearest"
import { withoutBom } from "../pass-over/store/config-text"
import { configFolders, opencodeConfigs } from "./opencode-config"
import { textAt } from "./read-text"

type Known = { name: string; mode: Mode; disabled: boolean }

const NATIVE: readonly Known[] = [
  { name: "build", mode: "primary", disabled: false },
  { name: "plan", mode: "primary", disabled: false },
  { name: "general", mode: "subagent", disabled: false },
  { name: "explore", mode: "subagent", disabled: false },
]

const modeOf = (value: unknown, fallback: Mode): Mode =>
  value === "primary" || value === "subagent" || value === "all" ? value : fallback

type Named = { mode?: unknown; disable?: unknown }

/** Agents that a configuration file of opencode names. */
function inConfig(path: string): [string, Named][] {
  try {
    const config = parse(withoutBom(textAt(path) ?? ""), [], { allowTrailingComma: true }) as
      | { agent?: unknown }
      | undefined
    if (typeof config?.agent !== "object" || config.agent === null) return []
    return Object.entries(config.agent as Record<string, Named | undefined>).map(([name, agent]) => [name, agent ?? {}])
  } catch {
    return []
  }
}

/** Agents that are a Markdown file in `agent/` or `agents/`; its front matter may say their mode. */
function inFolder(folder: string): [string, Named][] {
  return ["agent", "agents"].flatMap((name) => {
    try {
      return readdirSync(join(folder, name), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".md") && statSync(join(folder, name, file)).isFile())
        .map((file): [string, Named] => {
          const text = readFileSync(join(folder, name, file), "utf8").slice(0, 4_000)
          const front = /^---\r?\n([\s\S]*?)\r?\n---/.exec(text)?.[1] ?? ""
          const mode = /^mode:\s*["']?(\w+)/m.exec(front)?.[1]
          return [basename(file, ".md"), { mode, disable: /^disable:\s*true/m.test(front) }]
        })
    } catch {
      return []
    }
  })
}

/** The agents of a project as its files tell, without starting opencode. */
export function knownAgents(directory: string): Known[] {
  const ours = AGENTS.map(({ name, host }): Known => ({ name, mode: host.mode ?? "all", disabled: false }))
  const agents = new Map([...NATIVE, ...ours].map((agent) => [agent.name, agent]))
  const found = [...configFolders(directory).flatMap(inFolder), ...opencodeConfigs(directory).flatMap(inConfig)]
  for (const [name, { mode, disable }] of found) {
    const before = agents.get(name)
    const disabled = disable === undefined ? (before?.disabled ?? false) : disable === true
    agents.set(name, { name, mode: modeOf(mode, before?.mode ?? "all"), disabled })
  }
  return [...agents.values()]
}

/** What to say of names that no agent has here; "*" is every agent. */
export const noSuchAgents = (names: readonly string[], known: readonly string[]): string[] =>
  names
    .filter((name) => name !== "*" && !known.includes(name))
    .map((name) => {
      const near = nearest(name, known)
      return `There is no agent "${name}" here${near ? `; did you mean \`${near}\`?` : "."}`
    })

export const asAgents = (known: readonly Known[]): AgentInfo[] =>
  known.filter((agent) => !agent.disabled).map(({ name, mode }) => ({ name, mode }))
