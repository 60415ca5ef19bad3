import { repeat, say, type Repeat, type Reply, type Respond, type Step } from "./reply"
import type { ModelRequest } from "./request"

/** Each new session of the agent plays the script from its top; the steps may be chosen by its first request. */
export type EachSession = { each_session: Step[] | ((first: ModelRequest) => Step[]) }

/** A list is one queue for all sessions of the agent. A single step is a list of one. */
export type Script = Step | Step[] | EachSession

/** Scripts by agent name. "*" stands for every agent that has none of its own. */
export type Scenario = { agents: Record<string, Script> }

export const eachSession = (steps: Step[] | ((first: ModelRequest) => Step[])): EachSession => ({
  each_session: steps,
})

export type Turn =
  | { ok: true; play: Reply | Respond; label: string }
  /** A sentence: why nobody expected this request. */
  | { ok: false; reason: string }

/** Steps that nobody asked for. `script` is the agent, with its session where each session plays its own. */
export type Unplayed = { script: string; left: Step[]; at: number; of: number; repeated: number }

type Cursor = { steps: Step[]; at: number; repeated: number }

const isEach = (script: Script): script is EachSession => "each_session" in script

const isRepeat = (step: Step): step is Repeat => "repeat" in step

const isEndless = (step: Step) => isRepeat(step) && step.times === undefined

// opencode asks for a title beside the first prompt of a session, at a moment of its own choosing.
const TITLE = repeat(say("Rehearsal"))

/** Keeps the place in every script. Knows nothing of HTTP. */
export function createPlaybook(scenario: Scenario) {
  const agents: Record<string, Script> = { title: TITLE, ...scenario.agents }
  const cursors = new Map<string, Cursor>()
  const asked = new Set<string>()

  const open = (key: string, steps: Step[]) => {
    check(key, steps)
    const cursor = { steps, at: 0, repeated: 0 }
    cursors.set(key, cursor)
    return cursor
  }

  for (const [agent, script] of Object.entries(agents)) {
    if (!isEach(script)) open(agent, Array.isArray(script) ? script : [script])
    if (isEach(script) && Array.isArray(script.each_session)) check(agent, script.each_session)
  }

  const next = (request: ModelRequest): Turn => {
    const name = Object.hasOwn(agents, request.agent) ? request.agent : "*"
    const script = agents[name]
    if (!script) return { ok: false, reason: noScript(request.agent, Object.keys(scenario.agents)) }
    asked.add(name)
    const key = isEach(script) ? `${name} in ${request.session || "a session without a name"}` : name
    const cursor = cursors.get(key) ?? open(key, firstSteps(script, request))
    return advance(key, cursor)
  }

  const unplayed = (): Unplayed[] => {
    const begun = [...cursors].flatMap(([script, { steps, at, repeated }]) => {
      const left = steps.slice(at).filter((step) => !isEndless(step))
      return left.length === 0 ? [] : [{ script, left, at, of: steps.length, repeated }]
    })
    const never = Object.entries(agents).flatMap(([script, each]) => {
      if (!isEach(each) || asked.has(script)) return []
      const left = Array.isArray(each.each_session) ? each.each_session : []
      return [{ script, left, at: 0, of: left.length, repeated: 0 }]
    })
    return [...begun, ...never]
  }

  return { next, unplayed }
}

const firstSteps = (script: Script, first: ModelRequest) => {
  if (!isEach(script)) return []
  return typeof script.each_session === "function" ? script.each_session(first) : script.each_session
}

const noScript = (agent: string, known: string[]) => {
  const who = agent ? `"${agent}"` : "a client that names no agent"
  return `There is no script for ${who}. Scripts: ${known.join(", ") || "none"}.`
}

// A step after an endless one could never be played: better said at once than as "not played" at the end.
function check(name: string, steps: Step[]) {
  if (!steps.slice(0, -1).some(isEndless)) return
  throw new Error(`The script of ${name} has steps after a repeat(…) without a number; they can never be played.`)
}

function advance(name: string, cursor: Cursor): Turn {
  const step = cursor.steps[cursor.at]
  const count = cursor.steps.length
  if (!step) {
    return { ok: false, reason: `The script of ${name} has ${count} ${count === 1 ? "step" : "steps"}, all played.` }
  }
  const label = `${name}, step ${cursor.at + 1} of ${count}`
  const play = isRepeat(step) ? step.repeat : step
  cursor.repeated++
  if (isEndless(step) || (isRepeat(step) && cursor.repeated < (step.times ?? 0))) return { ok: true, play, label }
  cursor.at++
  cursor.repeated = 0
  return { ok: true, play, label }
}
