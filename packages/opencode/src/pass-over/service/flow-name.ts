import { ORIGINATOR } from "../handoff/draft"
import { HUMAN } from "../handoff/package"
import type { FlowPlan } from "../handoff/plan"
import type { PassWork } from "../handoff/state"
import { agentsOf } from "./flow-plan"

type Hash = (text: string) => string

// Two of these, what tells versions apart and a draft's own ending are one name, of 255 bytes at the most.
const LONGEST = 100
const MARK = 8

/** A name that may be part of a file's name. What is too long keeps a mark of the whole in the place of the rest. */
export function fileKey(name: string, hash: Hash): string {
  const plain = name.replaceAll(/[^A-Za-z0-9._@-]/g, "_").replace(/^[^A-Za-z0-9]/, "x") || "x"
  if (plain.length <= LONGEST) return plain
  return `${plain.slice(0, LONGEST - MARK - 1)}-${hash(name).slice(0, MARK)}`
}

/** How many names there are of each key. Not every file system tells small letters from capitals. */
function counted(names: Iterable<string>, hash: Hash): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of new Set(names)) {
    const key = fileKey(name, hash).toLowerCase()
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

const stepsOf = ({ nodes }: FlowPlan) =>
  nodes.flatMap((node) => [node.id, ...(node.kind === "parallel" ? node.branches.map(({ id }) => id) : [])])

type Named = Pick<PassWork, "node" | "agent">

/**
 * What tells the file of a step and its agent from that of others which would be called the same: `a` by `b-c` and `a-b`
 * by `c` are both `a-b-c`. Nothing where no other is.
 */
export function marksOf(plan: FlowPlan, hash: Hash): (of: Named) => string | undefined {
  const steps = counted(stepsOf(plan), hash)
  const agents = counted([...agentsOf(plan), HUMAN, plan.originator ?? ORIGINATOR], hash)
  const called = (name: string) => {
    const parts = name.split("-")
    const of = (at: number) =>
      (steps.get(parts.slice(0, at).join("-")) ?? 0) * (agents.get(parts.slice(at).join("-")) ?? 0)
    return parts.slice(1).reduce((sum, _part, at) => sum + of(at + 1), 0)
  }
  return ({ node, agent }) => {
    const name = `${fileKey(node, hash)}-${fileKey(agent, hash)}`.toLowerCase()
    // An earlier round and a draft have an ending, which an agent's name may have as well.
    const bare = name.replace(/(?:\.\d+)?(?:\.draft)?$/, "")
    if (called(name) <= 1 && (bare === name || called(bare) === 0)) return undefined
    return hash(`${node}/${agent}`).slice(0, MARK)
  }
}
