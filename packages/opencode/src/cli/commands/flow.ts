import { resolve } from "node:path"
import { catalogOf, catalogWith } from "../../flow/catalog"
import { summonFor } from "../../flow/summon"
import { PassOverErrorCode } from "../../pass-over/domain/errors"
import { readable } from "../../pass-over/domain/time"
import { diagramMermaid, diagramText, progressOf } from "../../pass-over/handoff/diagram"
import { strangers } from "../../pass-over/handoff/strangers"
import type { FlowText } from "../../pass-over/handoff/catalog"
import type { FlowInputEntry } from "../../pass-over/handoff/state"
import type { Engine, Project } from "../../pass-over/service/engine"
import { createFlows } from "../../pass-over/service/flow"
import { inputProblem, planOf } from "../../pass-over/service/flow-plan"
import { proposedBy, tellProposed } from "../../pass-over/service/flow-proposal"
import type { FlowRun } from "../../pass-over/service/port-flow"
import { createFlowFiles } from "../../pass-over/store/flow-file"
import { asAgents, knownAgents } from "../agents"
import { clean, oneLine } from "../clean"
import { refused, Stop, text, usage, type Command, type Invocation } from "../command"
import { actor, withEngine, withHistory } from "../engine"
import { EXIT } from "../exit"
import { findRun, newestRun, runsIn, shortRun } from "../find-run"
import { projectRoot } from "../place"
import { readText, textAt } from "../read-text"
import { host } from "../no-host"

/** Flows as this command line has them: it asks for things, and an opencode of the project carries them out. */
function flowsOf(engine: Engine, directory: string) {
  const project: Project = { directory, host, written: async () => [], logged: () => {} }
  return createFlows(engine, project, {
    elsewhere: true,
    files: createFlowFiles(directory),
    catalog: async () => catalogOf(directory),
  })
}

async function runList({ out, directory, options, now }: Invocation) {
  const { flows, faults } = catalogOf(projectRoot(directory))
  const runs = await withHistory<FlowRun[]>([], (engine) =>
    options.all === true ? engine.store.runs({ limit: 200 }) : runsIn(engine, directory),
  )
  if (out.json) {
    out.value({
      flows: [...flows.values()].map(({ flow, path }) => ({
        name: flow.name,
        description: flow.description ?? null,
        path,
      })),
      faults: faults.map(({ path, lines }) => ({ path, lines })),
      runs: runs.map(({ plan: _plan, ...run }) => run),
    })
    return EXIT.ok
  }
  out.table(
    [{ title: "FLOW" }, { title: "INPUTS", rank: 1 }, { title: "WHAT IT DOES", grow: true }],
    [...flows.values()].map(({ flow }) => [
      flow.name,
      Object.keys(flow.inputs ?? {}).join(", "),
      flow.description ?? "",
    ]),
  )
  for (const { lines } of faults) for (const line of lines) out.line(oneLine(line))
  if (runs.length === 0) return EXIT.ok
  out.line("")
  out.table(
    [
      { title: "RUN" },
      { title: "FLOW" },
      { title: "WHEN", align: "right" },
      { title: "STATE" },
      { title: "WHY", grow: true },
    ],
    runs.map((run) => [
      shortRun(run.run_id),
      run.flow,
      `${readable(Math.max(0, now() - run.time_created))} ago`,
      run.status,
      run.reason ?? "",
    ]),
  )
  return EXIT.ok
}

/** "goal=totals" as inputs. */
function inputsOf(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf("=")
      if (at < 1) throw usage(`"${word}" is no input.`, "An input is written name=value.")
      return [word.slice(0, at), word.slice(at + 1)]
    }),
  )
}

async function runStart({ out, directory, args: [name = "", ...words], env }: Invocation) {
  const root = projectRoot(directory)
  const inputs = inputsOf(words)
  const planned = planOf(catalogOf(root), name)
  const problem = planned.ok ? inputProblem(planned.flow, inputs) : undefined
  if (problem) throw usage(problem, `pass-over flow show ${name} and pass-over flow list tell what it needs.`)
  return withEngine(async (engine) => {
    const started = await flowsOf(engine, root).start({
      name,
      inputs,
      session_id: null,
      originator: "alice",
      by: "person",
      model: null,
    })
    if (!started.ok) throw refused(started.refusal)
    const { run_id } = started.run
    const why = await out.progress("Waiting for opencode …", () => summonFor(engine, { run_id }, env))
    if (out.json) out.value({ run_id, carried: why === undefined, ...(why ? { reason: why.message } : {}) })
    if (!out.json) {
      const shown = `pass-over flow show ${shortRun(run_id)} tells how it goes.`
      if (why) out.line(clean(`${why.message} ${why.suggestion}`))
      out.line(
        `Run ${shortRun(run_id)} ${why ? `begins as soon as opencode is open in ${oneLine(root)}` : "runs"}. ${shown}`,
      )
    }
    return why ? EXIT.unconfirmed : EXIT.ok
  })
}

async function runShow({ out, directory, args: [given = ""], options }: Invocation) {
  const draw = options.mermaid === true ? diagramMermaid : diagramText
  const planned = given === "" ? undefined : planOf(catalogOf(projectRoot(directory)), given)
  if (planned?.ok) {
    if (out.json) out.value({ flow: planned.flow, plan: planned.plan })
    if (!out.json) out.line(clean(draw(planned.plan)))
    return EXIT.ok
  }
  // A flow that is there and not in order is meant by its name, and no run is called so.
  if (planned?.refusal.code === PassOverErrorCode.CONFIG_INVALID) throw refused(planned.refusal)
  return withEngine(async (engine) => {
    const run =
      given === "" ? await newestRun(engine, directory) : await findRun(engine, given, planned?.refusal.message)
    const found = await flowsOf(engine, run.directory).state(run.run_id)
    if (!found)
      throw new Stop(EXIT.not_found, `No run is known as ${given}.`, "pass-over flow list shows them.", "E042")
    const { plan: _plan, ...rest } = run
    const proposed = await proposedBy(engine.store, run)
    if (out.json) out.value({ run: rest, progress: progressOf(run.plan, found.state), state: found.state, proposed })
    if (!out.json) out.line(clean(draw(run.plan, found.state)))
    // While its steps still work there is more to come.
    if (!out.json && options.mermaid !== true && found.state.status !== "running") {
      for (const line of tellProposed(proposed)) out.line(line)
      for (const { files } of proposed.filter(({ applied }) => !applied))
        for (const path of files) out.line(`  ${oneLine(path)}`)
    }
    return EXIT.ok
  })
}

function givenFlow(path: string, directory: string): FlowText {
  const file = readText(resolve(directory, path))
  if (file.state === "text") return { path, text: file.text }
  if (file.state === "absent") throw new Stop(EXIT.not_found, `There is no file ${path}.`, "Check the path.", "E042")
  throw new Stop(EXIT.failed, `${path} cannot be read: ${file.problem}.`, "Name a file that can be read.")
}

async function runValidate({ out, directory, args: [path] }: Invocation) {
  const root = projectRoot(directory)
  const given = path === undefined ? undefined : givenFlow(path, directory)
  // A file on its own is read with the flows around it, because it may call them.
  const { flows, faults: all } = given === undefined ? catalogOf(root) : catalogWith(root, given)
  const known = [...flows.values()].map(({ path: at }) => at)
  const faults = all
    .filter((fault) => path === undefined || fault.path === path)
    .map(({ path: at, lines }) => ({ path: at, lines }))
  // Which agents there are is told by files here; those that another plugin brings are known to opencode alone.
  const agents = asAgents(knownAgents(directory)).map(({ name }) => name)
  const hints = [...flows.values()]
    .filter((each) => path === undefined || each.path === path)
    .flatMap((each) => {
      const text = given?.text ?? textAt(each.path)
      return text === undefined ? [] : strangers({ ...each, text }, agents)
    })
  const ok = faults.length === 0
  const named = path === undefined ? known : [...flows].flatMap(([name, { path: at }]) => (at === path ? name : []))
  if (out.json) out.value({ ok, flows: named, faults, hints })
  if (!out.json) for (const hint of hints) out.line(out.paint("yellow", oneLine(hint)))
  if (!out.json) for (const { lines } of faults) for (const line of lines) out.line(oneLine(line))
  if (!out.json && ok)
    out.line(path === undefined ? `${known.length} flows are in order.` : `${oneLine(path)} is in order.`)
  return ok ? EXIT.ok : EXIT.config
}

/** Whoever carries the run looks several times a second. */
const PATIENCE_MS = 3_000
const LOOK_MS = 100

async function ordered(call: Invocation, make: (actor: string) => FlowInputEntry) {
  const { out, args } = call
  return withEngine(async (engine) => {
    const run = await findRun(engine, args[0] ?? "")
    const told = await flowsOf(engine, run.directory).order(run.run_id, make(actor()), actor())
    if (!told.ok) throw refused(told.refusal)
    const answer = async () => {
      const { command_id } = told
      if (command_id !== undefined) await summonFor(engine, { run_id: run.run_id, command_id }, call.env)
      for (let waited = 0; told.command_id !== undefined && waited < PATIENCE_MS; waited += LOOK_MS) {
        const state = await engine.store.flowCommandState(told.command_id)
        if (state && state.status !== "pending") return state
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      }
      return undefined
    }
    const state = await out.progress(`Waiting for the opencode that carries ${shortRun(run.run_id)} …`, answer)
    if (state?.status === "refused")
      throw new Stop(EXIT.failed, state.result ?? "It was refused.", "Look at the run first.")
    const said = state?.result ?? "No opencode has taken it up yet; it is carried out when one is open in the project."
    if (out.json) out.value({ run_id: run.run_id, done: state !== undefined, text: said })
    if (!out.json) out.line(clean(said))
    return state ? EXIT.ok : EXIT.unconfirmed
  })
}

const RUN = { name: "<run>", text: "the id of a run, or enough of its end" }

const list: Command = {
  name: "list",
  summary: "show the flows and the runs of this project",
  options: [{ flags: "--all", text: "runs of every project" }],
  examples: ["pass-over flow list", "pass-over flow list --json"],
  run: runList,
}

const start: Command = {
  name: "run",
  person: true,
  summary: "start a flow; an opencode carries it, and is started where none is open",
  args: [
    { name: "<flow>", text: "its name" },
    { name: "[inputs...]", text: "name=value" },
  ],
  examples: ['pass-over flow run feature goal="export as CSV"'],
  run: runStart,
}

const show: Command = {
  name: "show",
  summary: "draw a flow, or a run and where it stands",
  args: [{ name: "[flow or run]", text: "a name, or the id of a run; the newest run without one" }],
  options: [{ flags: "--mermaid", text: "as a Mermaid flowchart" }],
  examples: ["pass-over flow show feature --mermaid", "pass-over flow show 3f9c21aa77d0"],
  run: runShow,
}

const validate: Command = {
  name: "validate",
  summary: "check flows and name every fault with its line",
  args: [{ name: "[file]", text: "one file; without it all flows of the project" }],
  examples: ["pass-over flow validate", "pass-over flow validate .opencode/flows/release.yaml"],
  run: runValidate,
}

const simple = (type: "pause" | "resume", summary: string): Command => ({
  name: type,
  person: true,
  summary,
  args: [RUN],
  examples: [`pass-over flow ${type} 3f9c21aa77d0`],
  run: (call) => ordered(call, (who) => ({ type, actor: who })),
})

const cancel: Command = {
  name: "cancel",
  person: true,
  summary: "end a run; what its steps left is kept",
  args: [RUN, { name: "[reason...]", text: "why" }],
  examples: ["pass-over flow cancel 3f9c21aa77d0 not needed any more"],
  run: (call) => ordered(call, (who) => ({ type: "cancel", actor: who, reason: call.args.slice(1).join(" ") })),
}

const STEP = { name: "<step>", text: "the id of a step" }

const retry: Command = {
  name: "retry",
  person: true,
  summary: "do a run again from a step on",
  args: [RUN, STEP],
  examples: ["pass-over flow retry 3f9c21aa77d0 write"],
  run: (call) => ordered(call, (who) => ({ type: "retry", actor: who, step: call.args[1] ?? "" })),
}

const skip: Command = {
  name: "skip",
  person: true,
  summary: "leave a step out, with a reason",
  args: [RUN, STEP, { name: "<reason...>", text: "why; the next steps are told" }],
  options: [{ flags: "--note <text>", text: "a word about it" }],
  examples: ["pass-over flow skip 3f9c21aa77d0 validate the checks run elsewhere"],
  run: (call) => {
    const reason = text(call.options, "note") ?? call.args.slice(2).join(" ").trim()
    if (reason === "") throw usage("A step is left out with a reason.")
    return ordered(call, (who) => ({ type: "skip", actor: who, step: call.args[1] ?? "", reason }))
  },
}

export const flow: Command = {
  name: "flow",
  summary: "flows: several agents, one durable run",
  examples: ["pass-over flow list", "pass-over flow show feature"],
  commands: [
    list,
    start,
    show,
    validate,
    simple("pause", "begin no further step"),
    simple("resume", "go on with a paused run"),
    cancel,
    retry,
    skip,
  ],
}
