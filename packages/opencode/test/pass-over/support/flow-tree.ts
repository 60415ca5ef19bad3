import type { Pass } from "../../../src/pass-over/domain/pass"
import { ENDED } from "../../../src/pass-over/handoff/state"
import { createFlows } from "../../../src/pass-over/service/flow"
import { answerGate } from "../../../src/pass-over/service/gate"
import type { FlowRun } from "../../../src/pass-over/service/port-flow"
import { createFlowFiles } from "../../../src/pass-over/store/flow-file"
import { AGENTS, definitions, leaves } from "./flow"
import { createNestedWorld, type NestedWorld } from "./nested"
import type { Child } from "./scripted-host"

/** A child of a flow, with the folder that it works in and the pass that it has. */
export type Stepping = Child & { tree: string; pass: Pass; key: string }

type Note = { note?: Record<string, unknown>; more?: Record<string, unknown> }

/** What the child of a work does, by its key ("write#1"), and what it returns. */
export type Play = Record<string, (child: Stepping) => Note | void | Promise<Note | void>>

/** Flows over a real repository with real trees; only the children are scripted. */
export function createFlowTrees(texts: string[], files: Record<string, string>, play: Play, of?: NestedWorld) {
  const world = createNestedWorld(files, of ? { of } : {})
  const { engine, project, host, directory } = world
  const made = new Map<string, Pass>()
  const failed: unknown[] = []
  host.agents = async () =>
    AGENTS.map((name) => ({ name, mode: name === "alice" ? ("primary" as const) : ("subagent" as const) }))
  for (const agent of AGENTS)
    host.script(agent, async (child) => {
      const runner = engine.running.byChild(child.session_id)!
      const key = runner.pass.call_id?.split(":")[2] ?? ""
      made.set(key, runner.pass)
      const tree = runner.workspace?.directory ?? directory
      try {
        const { note, more } = (await play[key]?.(Object.assign(child, { tree, pass: runner.pass, key }))) ?? {}
        const said = await leaves(child, note, more)
        if (!said.startsWith("Received")) throw new Error(said)
      } catch (error) {
        failed.push(error)
        throw error
      }
    })
  const options = {
    files: createFlowFiles(directory),
    catalog: async () => ({ flows: definitions(...texts), faults: [] }),
  }
  const flows = createFlows(engine, project, options)
  const rested = async (run: FlowRun) => {
    for (;;) {
      if (failed.length > 0) throw failed[0]
      const found = await flows.state(run.run_id)
      if (found && (ENDED.includes(found.state.status) || found.state.status === "waiting")) return found
      await Bun.sleep(5)
    }
  }
  return Object.assign(world, {
    flows,
    made,
    rested,
    async start(name: string) {
      const wanted = {
        name,
        inputs: {},
        session_id: "ses_root",
        originator: "alice",
        by: "model" as const,
        model: null,
      }
      const started = await flows.start(wanted)
      if (!started.ok) throw new Error(started.refusal.message)
      return started.run
    },
    async question(run: FlowRun) {
      for (;;) {
        const [gate] = await engine.store.gates({ run_id: run.run_id, status: ["pending"] })
        if (gate) return gate
        await Bun.sleep(5)
      }
    },
    async answer(run: FlowRun, verdict: "approve" | "reject" | "question", note: string | null = null) {
      const gate = await this.question(run)
      await answerGate(engine, gate.gate_id, { verdict, note, by: "ada", surface: "test" })
      // The run hears of it in its own turn.
      await Bun.sleep(20)
    },
  })
}

/** The newest change of the pass of a work. */
export async function changeOf(world: ReturnType<typeof createFlowTrees>, key: string) {
  const pass = world.made.get(key)
  return pass && (await world.engine.store.changes(pass.id)).at(-1)
}

export async function paths(world: ReturnType<typeof createFlowTrees>, key: string) {
  return (await changeOf(world, key))?.files.map(({ path }) => path)
}
