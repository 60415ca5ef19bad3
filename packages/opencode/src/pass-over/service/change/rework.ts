import { reworkCall } from "../../domain/call"
import { resolve } from "../../domain/config"
import type { Pass } from "../../domain/pass"
import { InlineOverride } from "../../domain/preference"
import { send } from "../api-send"
import { awake } from "../awake"
import type { Engine, Project } from "../engine"
import type { Ask, Caller } from "../grant"
import type { Command } from "../port"
import { forOriginator, tellOriginator, type Telling } from "./send-back"
import { treeOf } from "./target"

// Whoever has the tree of the child looks several times a second.
const ELSEWHERE_MS = 2_000

/** With it the pass of a rework is found again after a crash, and a second one is not begun. */
const callID = ({ command_id }: Command) => reworkCall(command_id)

const callerOf = (pass: Pass, command: Command): Caller => ({
  agent: pass.originating_agent_id,
  session_id: pass.session_id,
  message_id: null,
  call_id: callID(command),
  by: "person",
  model: pass.model,
})

const objective = (pass: Pass, { actor, text }: Command) =>
  [
    `Do again what ${actor} declined of what you proposed in pass ${pass.id}:`,
    text,
    "Between the marks are the places, each with the reason. Change these so that the reasons are met, and leave the",
    "rest of your proposal as it is. Return the whole of it, also what was not declined.",
  ].join("\n")

/** What held for the earlier pass holds for its rework, and what the preferences say now besides. */
async function overrideOf(engine: Engine, project: Project, pass: Pass): Promise<InlineOverride> {
  const { originating_agent_id: from, subagent_id: to } = pass
  const given = InlineOverride.safeParse(pass.overrides)
  const now = resolve(from, to, { written: await project.written(), agents: engine.agents.defaults })
  const constraints = [...new Set([...now.values.constraints, ...pass.constraints])]
  return { ...(given.success ? given.data : {}), ...(constraints.length > 0 ? { constraints } : {}) }
}

async function askOf(engine: Engine, project: Project, pass: Pass, command: Command): Promise<Ask> {
  return {
    subagent: pass.subagent_id,
    objective: objective(pass, command),
    reason: "rework",
    continue: pass.id,
    wait: false,
    expected_output_type: pass.expected_output_type,
    priority: pass.priority,
    override: await overrideOf(engine, project, pass),
  }
}

/** The project; or for as long as it is there the tree of the pass above, of which the child's own was made. */
async function placeOf(engine: Engine, project: Project, pass: Pass): Promise<Project> {
  const { host, workspaces } = project
  if (pass.parent_pass_id === null || pass.child_session_id === null) return project
  const [tree, own] = await Promise.all([host.directoryOf(pass.session_id), host.directoryOf(pass.child_session_id)])
  if (tree === undefined || tree === own || !(await treeOf(engine.store, pass, tree))) return project
  return { ...project, tree, workspaces: workspaces?.inside(tree) }
}

/** Whether the child's tree belongs to another opencode that is there: only that one can go on in it. */
async function elsewhere(project: Project, pass: Pass): Promise<boolean> {
  const child = pass.child_session_id
  const directory = child === null ? undefined : await project.host.directoryOf(child)
  if (directory === undefined || directory === project.directory) return false
  return (await project.workspaces?.standing({ directory, earlier: pass.id })) === "elsewhere"
}

/** The pass in which it is done again, or why its child cannot go on. */
async function begun(
  engine: Engine,
  project: Project,
  pass: Pass,
  command: Command,
): Promise<{ id: Pass["id"] } | { why: string }> {
  const made = () => engine.store.byCall(pass.session_id, callID(command))
  try {
    const known = await made()
    if (known) return known
    const place = await placeOf(engine, project, pass)
    const sent = await send(engine, place, callerOf(pass, command), await askOf(engine, project, pass, command))
    if (sent.ok) return sent.runner.pass
    // Somebody else may have been faster with this very command.
    return (await made()) ?? { why: sent.refusal.message }
  } catch (error) {
    engine.log("warn", "a rework could not be started", { pass_over_id: pass.id, error: String(error) })
    return (await made()) ?? { why: error instanceof Error ? error.message : String(error) }
  }
}

/** What is told to the originator: that it is being done again, or why that is its own to see to. */
async function telling(engine: Engine, project: Project, pass: Pass, command: Command): Promise<Telling> {
  const { originating_agent_id, subagent_id } = pass
  const came = await begun(engine, project, pass, command)
  if ("id" in came) {
    const more = `${subagent_id} does it again in its own session, as pass ${came.id}. You need not do anything: the result comes as a message.`
    const result = `${subagent_id} does it again in its own session, as pass ${came.id}.`
    return { command, result, text: (of) => forOriginator(of, command, [more]), start: false }
  }
  const why = `${subagent_id} cannot go on with it in its own session: ${came.why}`
  return {
    command,
    result: `${why} ${originating_agent_id} was told, and goes on with it.`,
    untold: `${why} ${originating_agent_id} was not told: it may not read this result.`,
    text: (of) => forOriginator(of, command, [why, "So this is yours to see to."]),
    start: await awake(engine, pass.session_id),
  }
}

async function carry(engine: Engine, project: Project, command: Command) {
  const { store, clock } = engine
  const pass = await store.find(command.pass_over_id)
  if (pass && (await elsewhere(project, pass).catch(() => false))) {
    await new Promise<void>((resolve) => void clock.after(ELSEWHERE_MS, resolve))
    if ((await store.commandState(command.command_id))?.status !== "pending") return
  }
  if (pass) await tellOriginator(engine, project, await telling(engine, project, pass, command))
}

/** Has children do again what a person has sent back to them, in the projects that this process has open. */
export async function attendReworks(engine: Engine) {
  const { reworking } = engine
  for (const project of engine.projects.values()) {
    for (const command of await engine.store.tells(project.directory)) {
      if (command.kind !== "rework" || reworking.has(command.command_id)) continue
      reworking.add(command.command_id)
      await carry(engine, project, command).finally(() => reworking.delete(command.command_id))
    }
  }
}
