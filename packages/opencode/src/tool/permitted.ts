import type { ToolContext } from "@opencode-ai/plugin"
import { PassOverErrorCode, refuse, type Refusal } from "../pass-over/domain/errors"
import { evaluate } from "../pass-over/domain/right"
import type { Engine, Project } from "../pass-over/service/engine"
import { rightToPass } from "../pass-over/service/right"
import { put } from "./turn"

type World = { engine: Engine; project: Project; context: ToolContext }

/** Whether the rules that the host would go by let it pass without a word. */
async function open({ project: { host }, context }: World, patterns: readonly string[]): Promise<boolean> {
  const agent = (await host.agents()).find(({ name }) => name === context.agent)
  if (!agent?.rules) return false
  const rules = [...agent.rules, ...(await host.sessionRules(context.sessionID))]
  return patterns.every((pattern) => evaluate(rules, "pass_over", pattern).action === "allow")
}

/**
 * The user's own opencode rules for passes, those of the agent that calls and of the originator that a flow names: no, or
 * nothing against it, or a yes to a question.
 */
export async function permitted(
  world: World,
  { to, originator }: { to: string; originator?: string | null },
): Promise<Refusal | "asked" | undefined> {
  const { engine, context } = world
  const from = context.agent
  const patterns = [...new Set([from, originator ?? from])].map((each) => `${each}->${to}`)
  // What our own fences would ask about is nobody's question.
  const rights = engine.running.entry(context.sessionID)?.rights
  if (rights && rightToPass(rights, patterns).action === "allow") return undefined
  // The host's own way to its rules is a long one, and nearly always ends with a yes.
  if (await open(world, patterns).catch(() => false)) return undefined
  const question = { permission: "pass_over", patterns, always: patterns, metadata: { from, to } }
  const answer = await put(context, world.project.host, question)
  if (answer.yes) return "asked"
  // A rejection that goes on upwards would end the originator's turn; as a sentence it can be acted on.
  return refuse(
    PassOverErrorCode.DECLINED,
    `A person or a permission rule said no to ${patterns.join(" and ")}: ${String(answer.error)}.`,
  )
}
