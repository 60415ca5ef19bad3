import { planFlow } from "../../../src/pass-over/handoff/plan"
import { parseFlow } from "../../../src/pass-over/handoff/source"
import type { FlowDefinition } from "../../../src/pass-over/handoff/definition"
import type { Verdict } from "../../../src/pass-over/handoff/state"
import { createFlows, type Flows } from "../../../src/pass-over/service/flow"
import { answerGate } from "../../../src/pass-over/service/gate"
import type { FlowFiles, FlowRun } from "../../../src/pass-over/service/port-flow"
import { createEngineWorld, type EngineWorld, type EngineWorldOptions } from "./engine"
import type { Child } from "./scripted-host"

/** Files that are only remembered. Every path that an agent names is there, unless a test says otherwise. */
export type MemoryFiles = FlowFiles & {
  readonly written: Map<string, string>
  readonly missing: Set<string>
  readonly hashes: Map<string, string>
}

// What a run itself writes is there only once it has.
const OURS = /^\.opencode\/runs\/|\/handoffs\/HO-/

export function memoryFiles(): MemoryFiles {
  const written = new Map<string, string>()
  const missing = new Set<string>()
  const hashes = new Map<string, string>()
  return {
    written,
    missing,
    hashes,
    write: (path, text) => void written.set(path, text),
    remove: (path) => void written.delete(path),
    exists: (path) => written.has(path) || (!missing.has(path) && !OURS.test(path)),
    hash: (path) => (missing.has(path) ? undefined : (hashes.get(path) ?? `hash of ${path}`)),
  }
}

export const AGENTS = ["alice", "scout", "audit", "inspector", "general"]

export type FlowScene = EngineWorld & {
  files: MemoryFiles
  flows: Flows
  /** Starts a flow of the texts. */
  run(name: string, inputs?: Record<string, string>): Promise<FlowRun>
  /** Goes on until the run has ended or waits for a person. */
  settled(run: FlowRun): Promise<Awaited<ReturnType<Flows["state"]>>>
  /** The questions of a run that wait for a person. */
  questions(run: FlowRun): Promise<{ gate_id: string; question: string; why: unknown }[]>
  answer(run: FlowRun, verdict: Verdict["verdict"], note?: string): Promise<void>
}

export function definitions(...texts: string[]): ReadonlyMap<string, { flow: FlowDefinition; path: string }> {
  const read = texts.map((text) => {
    const parsed = parseFlow(text)
    if (!parsed.ok)
      throw new Error(parsed.faults.map(({ line, column, message }) => `${line}:${column} ${message}`).join("\n"))
    return parsed.flow
  })
  return new Map(read.map((flow) => [flow.name, { flow, path: `${flow.name}.yaml` }]))
}

/** One flow, put together. */
export function planned(text: string) {
  const flows = definitions(text)
  const [first] = flows.values()
  const made = planFlow(first!.flow, new Map([...flows].map(([name, { flow }]) => [name, flow])))
  if (!made.ok) throw new Error(made.message)
  return made.plan
}

export function createFlowScene(
  texts: string[],
  options: EngineWorldOptions & { files?: MemoryFiles } = {},
): FlowScene {
  const world = createEngineWorld(options)
  world.host.agents = async () =>
    AGENTS.map((name) => ({ name, mode: name === "alice" ? ("primary" as const) : ("subagent" as const) }))
  const files = options.files ?? memoryFiles()
  const flows = createFlows(world.engine, world.project, {
    files,
    catalog: async () => ({ flows: definitions(...texts), faults: [] }),
  })
  const pending = (run: FlowRun) => world.engine.store.gates({ run_id: run.run_id, status: ["pending"] })
  return Object.assign(world, {
    files,
    flows,
    async run(name: string, inputs: Record<string, string> = {}) {
      const started = await flows.start({
        name,
        inputs,
        session_id: "ses_root",
        originator: "alice",
        by: "model",
        model: null,
      })
      if (!started.ok) throw new Error(started.refusal.message)
      return started.run
    },
    async settled(run: FlowRun) {
      const found = {} as { rested?: true }
      void flows.rest(run.run_id).then(() => (found.rested = true))
      await world.clock.until(() => found.rested === true)
      return flows.state(run.run_id)
    },
    async questions(run: FlowRun) {
      return (await pending(run)).map(({ gate_id, question, detail }) => ({ gate_id, question, why: detail["why"] }))
    },
    async answer(run: FlowRun, verdict: Verdict["verdict"], note?: string) {
      const [gate, ...more] = await pending(run)
      if (!gate || more.length > 0) throw new Error(`${more.length + (gate ? 1 : 0)} questions wait`)
      const answered = await answerGate(world.engine, gate.gate_id, {
        verdict,
        note: note ?? null,
        by: "ada",
        surface: "test",
      })
      if (!answered.ok) throw new Error(answered.refusal.message)
      // The run hears of it in its own turn.
      await world.clock.advance(0)
    },
  })
}

/** What a child returns who has done its work, with what a flow wants to know besides. */
export async function leaves(child: Child, note: Record<string, unknown> = {}, more: Record<string, unknown> = {}) {
  child.tool("read", { filePath: "src/total.ts" }, "1: export const total = 1")
  const content = JSON.stringify({
    handoff: { context_summary: "Looked at src/total.ts: total adds the columns of a row.", ...note },
  })
  const said = await child.return({
    decision: "approved",
    decision_reason: "It adds what it should add.",
    evidence: [{ type: "file", path: "src/total.ts", line: 1 }],
    artifacts: [{ type: "message", role: "internal", content, visibility: "originator_only" }],
    ...more,
  })
  child.step({ input: 100, output: 10, cost: 0.01 })
  return said
}
