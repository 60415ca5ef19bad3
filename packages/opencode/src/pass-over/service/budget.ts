import { valuesOf } from "../domain/policy"
import { describeOver } from "../domain/budget"
import { money } from "../domain/envelope"
import { PassOverErrorCode } from "../domain/errors"
import type { Limits } from "../domain/limit"
import type { Effective } from "../domain/preference"
import { totalTokens, type Usage } from "../domain/run"
import type { Clock, Log, Store } from "./port"
import type { Runner } from "./runner"

export type BudgetWatch = { step(): void }

/** Why a pass alone has used more than it may; nothing while it has not. */
function alone({ max_tokens, max_cost }: Effective, usage: Usage): string | undefined {
  const tokens = totalTokens(usage)
  if (max_tokens > 0 && tokens > max_tokens)
    return `it may use ${max_tokens.toLocaleString("en")} tokens (max_tokens) and has used ${tokens.toLocaleString("en")}`
  if (max_cost > 0 && usage.cost > max_cost)
    return `it may cost ${money(max_cost)} (max_cost) and has cost ${money(usage.cost)}`
  return undefined
}

/** Ends a pass that has used up what it, or its whole tree, may use. What it did until then is kept. */
export function createBudgetWatch(
  deps: { store: Store; clock: Clock; log: Log },
  runner: Runner,
  { tree }: Limits,
): BudgetWatch {
  const values = valuesOf(runner.pass)
  const shared = tree.tokens !== undefined || tree.cost !== undefined
  const end = (message: string) =>
    runner.input({ type: "cancel", failure: { code: PassOverErrorCode.BUDGET_EXCEEDED, message, final: true } })

  async function together(usage: Usage) {
    const over = await deps.store.spend({
      pass_over_id: runner.pass.id,
      tokens: totalTokens(usage),
      cost: usage.cost,
      tree,
    })
    if (over) end(describeOver(over))
  }

  return {
    step() {
      const { usage } = runner.run
      const why = alone(values, usage)
      if (why !== undefined) return end(why)
      if (!shared) return
      together(usage).catch((error: unknown) =>
        deps.log("warn", "a budget could not be checked", { pass_over_id: runner.pass.id, error: String(error) }),
      )
    },
  }
}
