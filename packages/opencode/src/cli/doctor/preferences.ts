import { AGENTS } from "../../agent/agent"
import { nearest } from "../../pass-over/domain/nearest"
import { checkStored } from "../../pass-over/store/check"
import { parseConfig } from "../../pass-over/store/config-text"
import { databasePath } from "../../paths"
import { knownAgents } from "../agents"
import { checked } from "../commands/config"
import { configTexts } from "../place"
import { fail, ok, warn, type Check, type Finding } from "./finding"

function stored(directory: string): Finding[] {
  const problem = checkStored(databasePath(), directory)
  return problem === undefined
    ? []
    : [fail("preferences", problem, "Take what is stored for it away: pass-over config unset 'FROM->TO' --stored")]
}

export const preferences: Check = ({ directory }) => [
  ...stored(directory),
  ...checked(directory).map(({ path, faults }) => {
    if (faults === undefined) return ok("preferences", `${path} is not there; nothing needs it.`)
    const [first] = faults
    if (!first) return ok("preferences", path)
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ""
    return fail(
      "preferences",
      `${path}:${first.line}:${first.column} ${first.message}${more}`,
      "pass-over config validate names every fault.",
    )
  }),
]

export const agents: Check = ({ directory }) => {
  const known = knownAgents(directory)
  const off = AGENTS.filter(({ name }) => known.some((agent) => agent.name === name && agent.disabled))
  const names = known.map((agent) => agent.name)
  const unknown = configTexts(directory).flatMap(({ path, file: read }) => {
    const file = read.state === "text" ? parseConfig(read.text) : undefined
    if (!file?.ok) return []
    const named = [
      ...Object.keys(file.preferences.pairs ?? {}).flatMap((key) => key.split("->")),
      ...Object.keys(file.preferences.subagents ?? {}),
    ]
    return [...new Set(named)].filter((name) => name !== "*" && !names.includes(name)).map((name) => ({ name, path }))
  })
  return [
    ...off.map(({ name }) =>
      warn("agents", `${name} is disabled in opencode's configuration.`, 'Take "disable" away if it is wanted.'),
    ),
    ...unknown.map(({ name, path }) => {
      const near = nearest(name, names)
      return warn(
        "agents",
        `${path} speaks of "${name}", and no such agent is known here.`,
        near ? `Did you mean ${near}?` : "Check the name.",
      )
    }),
    ...(off.length + unknown.length === 0 ? [ok("agents", AGENTS.map((agent) => agent.name).join(", "))] : []),
  ]
}
