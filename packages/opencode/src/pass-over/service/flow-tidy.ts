import type { Gate } from "../domain/gate"
import { gateKey } from "./flow-gate"
import { foreign, stateOf, type Hands } from "./flow-hands"
import { withdrawGate } from "./gate"

const PAGE = 200

/** Whether the run of a question goes on without it. The run is read behind the question, and asks under no name twice. */
async function unneeded(hands: Hands, { run_id, key }: Gate): Promise<boolean> {
  const run = run_id === null ? undefined : await hands.engine.store.run(run_id)
  if (!run || foreign(run)) return false
  const found = await stateOf(hands, run.run_id)
  return found !== undefined && !Object.keys(found.state.open).some((open) => gateKey(run, open) === key)
}

/** Withdraws the questions of a project's runs that were being put when their process ended, and that no run has. */
export async function tidy(hands: Hands): Promise<void> {
  const { engine, project } = hands
  const filter = { directory: project.directory, status: ["pending"], limit: PAGE } as const
  for (let after: string | undefined; ;) {
    const page = await engine.store.gates({ ...filter, after })
    for (const gate of page) if (await unneeded(hands, gate)) await withdrawGate(engine, gate.gate_id)
    after = page.at(-1)?.gate_id
    if (page.length < PAGE) return
  }
}
