import { createModel, type Model } from "./model"
import { createSandbox, type Sandbox, type SandboxOptions } from "./sandbox"
import type { Scenario } from "./scenario"

export type RehearseOptions = Scenario & Omit<SandboxOptions, "model">

export type Rehearsal = { model: Model; box: Sandbox }

/**
 * A model and a sandbox for the length of one test, with everything verified at its end: the scenario was played as
 * written, and no process was left. When the test itself fails, its own error is what is thrown.
 */
export async function rehearse(options: RehearseOptions, body: (world: Rehearsal) => Promise<void>) {
  const { agents, ...rest } = options
  await using model = await createModel({ agents })
  const box = await createSandbox({ ...rest, model })
  try {
    await body({ model, box })
    model.verify()
  } catch (error) {
    await box.dispose()
    throw error
  }
  const leaked = await box.dispose()
  if (leaked.length === 0) return
  const list = leaked.map((item) => `  ${item.pid} ${item.command}`).join("\n")
  throw new Error(`These processes outlived their opencode and were killed:\n${list}`)
}
