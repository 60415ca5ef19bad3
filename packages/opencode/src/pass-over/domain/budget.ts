import type { TreeBudget } from "./limit"

/** What a tree of passes has used, and what its running passes have been promised. */
export type Used = { passes: number; tokens: number; cost: number }

/** What one pass may use at most; 0 is no bound of its own. */
export type Reserve = { tokens: number; cost: number }

export type Over = { what: "passes" | "tokens" | "cost"; limit: number; used: number; left: number }

const over = (what: Over["what"], limit: number | undefined, used: number, wanted: number): Over | undefined => {
  if (limit === undefined) return
  const left = Math.max(0, limit - used)
  return left <= 0 || wanted > left ? { what, limit, used, left } : undefined
}

/** Whether one more pass fits what its tree may use; what does not fit comes back with what is left. */
export const beyond = (tree: TreeBudget, used: Used, wanted: Reserve): Over | undefined =>
  over("passes", tree.passes, used.passes, 1) ??
  over("tokens", tree.tokens, used.tokens, wanted.tokens) ??
  over("cost", tree.cost, used.cost, wanted.cost)

/** Whether what runs has used the tree up. */
export const spent = (tree: TreeBudget, used: Omit<Used, "passes">): Over | undefined =>
  over("tokens", tree.tokens, used.tokens, 0) ?? over("cost", tree.cost, used.cost, 0)

const amount = (what: Over["what"], value: number) =>
  what === "cost" ? `$${value.toFixed(2)}` : `${value.toLocaleString("en")} ${what}`

/** "All passes of this tree together may use 5,000 tokens; 4,800 tokens are used or promised, 200 tokens left" */
export const describeOver = ({ what, limit, used, left }: Over) =>
  `All passes of this tree together may use ${amount(what, limit)}; ${amount(what, used)} are used or promised, ${amount(what, left)} left`
