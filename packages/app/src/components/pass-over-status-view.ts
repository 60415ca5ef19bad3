import type { LivePass } from "../../../opencode/src/pass-over/service/port-live"
import type { PassSummary } from "../../../opencode/src/server/schema"
import { countdown, money, tokens } from "../lib/format"
import { WORDS } from "../lib/words"

/** `you`: a person is asked just here, and not only somewhere below. */
export type Node = { id: string; pass: PassSummary; you: boolean; children: Node[] }

// Whoever waits below keeps everybody above waiting too.
const waits = (pass: PassSummary) => (pass.live?.waits ?? 0) > 0

/** Running passes as trees: each below the one that asked for it, the first in the project at the top. */
export function trees(passes: readonly PassSummary[]): Node[] {
  const nodes = new Map<string, Node>(
    passes.map((pass) => [pass.id, { id: pass.id, pass, you: waits(pass), children: [] }]),
  )
  const roots: Node[] = []
  for (const node of [...nodes.values()].toSorted((a, b) => a.pass.time_created - b.pass.time_created)) {
    const above = node.pass.parent_pass_id === null ? undefined : nodes.get(node.pass.parent_pass_id)
    if (above && above !== node) above.children.push(node)
    if (!above) roots.push(node)
  }
  for (const node of nodes.values()) node.you &&= !node.children.some((child) => waits(child.pass))
  return roots
}

/** The freshest word on how far a pass is: from the stream where it has spoken, else from the list. */
export const withLive = (pass: PassSummary, lives: ReadonlyMap<string, LivePass>): PassSummary => ({
  ...pass,
  live: lives.get(pass.id) ?? pass.live,
})

export type Limit = {
  text: string
  /** How much of it is used up, from 0 to 1; nothing where there is no end to measure by. */
  used: number | undefined
  /** Little is left. */
  short: boolean
}

const SHORT = 0.85

/** How long a running pass has until its deadline. While it waits for a person no limit runs. */
export function deadline({ live, timeout_ms, time_created }: PassSummary, now: number): Limit {
  if (live && live.deadline_at === null) return { text: WORDS.now.halted, used: undefined, short: false }
  const until = live?.deadline_at ?? time_created + timeout_ms
  const left = Math.max(0, until - now)
  const used = Math.min(1, Math.max(0, 1 - left / timeout_ms))
  return { text: WORDS.now.left(countdown(left)), used, short: used > SHORT }
}

/** Said only when it comes close: a child that works shows signs of life all the time. */
export function idle({ live }: PassSummary, now: number): string | undefined {
  if (!live || live.idle_at === null) return
  const left = live.idle_at - now
  return left > 45_000 ? undefined : WORDS.now.idle(countdown(left))
}

export function spending({ live, max_tokens, max_cost }: PassSummary): Limit {
  const used = Math.max(
    max_tokens > 0 ? (live?.tokens ?? 0) / max_tokens : 0,
    max_cost > 0 ? (live?.cost ?? 0) / max_cost : 0,
  )
  const parts = [
    `${tokens(live?.tokens ?? 0)}${max_tokens > 0 ? ` / ${tokens(max_tokens)}` : ""} tokens`,
    `${money(live?.cost ?? 0)}${max_cost > 0 ? ` / ${money(max_cost)}` : ""}`,
  ]
  return {
    text: parts.join(" · "),
    used: max_tokens > 0 || max_cost > 0 ? Math.min(1, used) : undefined,
    short: used > SHORT,
  }
}

/** Where a pass stands in line, and what it waits for there. */
export function inLine({ queue, subagent_id }: PassSummary): string | undefined {
  return queue ? WORDS.now.queued(queue.place, WORDS.now.queued_for[queue.what](queue.limit, subagent_id)) : undefined
}

/** What the whole tree of a pass has used, where anything bounds it. */
export function treeSpending({ tree }: PassSummary): Limit | undefined {
  if (!tree) return
  const { passes, tokens: most, cost } = tree.limits
  const shares = [
    passes === undefined ? 0 : tree.passes / passes,
    most === undefined ? 0 : tree.tokens / most,
    cost === undefined ? 0 : tree.cost / cost,
  ]
  const used = Math.min(1, Math.max(...shares))
  const parts = [
    WORDS.now.tree_passes(`${tree.passes}${passes === undefined ? "" : ` / ${passes}`}`),
    ...(most === undefined ? [] : [`${tokens(tree.tokens)} / ${tokens(most)} tokens`]),
    ...(cost === undefined ? [] : [`${money(tree.cost)} / ${money(cost)}`]),
  ]
  return { text: `${WORDS.now.tree} ${parts.join(" · ")}`, used, short: used > SHORT }
}

/** Who is being waited for, if anybody is: a person first, then the passes below. */
export function waitsFor({ you, children }: Node): string | undefined {
  if (you) return WORDS.now.waits_human
  const below = children.filter((child) => child.pass.wait).map((child) => child.pass.subagent_id)
  return below.length > 0 ? WORDS.now.waits_child(below.join(", ")) : undefined
}

const OPEN: readonly PassSummary["status"][] = ["initial", "waiting_for_return"]

/** A pass among those of its chain that are not over, as it stands there. */
export function nodeIn(chain: readonly PassSummary[], id: string): Node | undefined {
  const find = (nodes: readonly Node[]): Node | undefined => {
    for (const node of nodes) {
      const found = node.id === id ? node : find(node.children)
      if (found) return found
    }
    return undefined
  }
  return find(trees(chain.filter(({ status }) => OPEN.includes(status))))
}

/** A pass as its own badge shows it: not as waiting for a person when it is another that asks. */
export const badged = ({ pass, you }: Node): PassSummary =>
  pass.live && !you ? { ...pass, live: { ...pass.live, waits: 0 } } : pass

export function progress({ live }: PassSummary): string[] {
  if (!live) return []
  return [WORDS.now.step(live.step), ...(live.attempt > 1 ? [WORDS.now.attempt(live.attempt)] : [])]
}

/** The agents of a chain in their order, the last being the one that works. */
export const chainOf = (pass: Pick<PassSummary, "ancestors" | "subagent_id">) => [...pass.ancestors, pass.subagent_id]
