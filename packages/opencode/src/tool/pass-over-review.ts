import type { ToolContext } from "@opencode-ai/plugin"
import { join, relative } from "node:path"
import { z } from "zod"
import type { ChangeSet, Op } from "../pass-over/domain/change/change"
import { verdictsOf } from "../pass-over/domain/change/target"
import { PassOverErrorCode, refuse, type Refusal } from "../pass-over/domain/errors"
import type { Within } from "../pass-over/domain/constraint-path"
import type { Right } from "../pass-over/domain/right"
import { applyAndVerify, changeOf, lastApplied, preview, review, undoOne } from "../pass-over/service/change/act"
import type { Permit } from "../pass-over/service/change/apply"
import { allowChange } from "../pass-over/service/change/approve"
import { changesOf, type ChangeDeps } from "../pass-over/service/change/deps"
import { mergeWithPresent } from "../pass-over/service/change/merge"
import { AGENTS_UNDO, tellApplied, tellChange } from "../pass-over/service/change/tell"
import { viewChange } from "../pass-over/service/change/view"
import type { Engine, Entry, Project } from "../pass-over/service/engine"
import type { Pass } from "../pass-over/domain/pass"
import { forbidden, rightTo, withinOf } from "../pass-over/service/right"
import { passOf } from "../pass-over/service/read-pass"
import { tool } from "./answer"
import { dialog } from "./dialog"
import description from "./pass-over-review.txt"

const Target = z.string().trim().min(1).max(4_200)

export const PassOverReviewArgs = z.strictObject({
  id: z.string().trim().min(1).describe("the pass"),
  accept: z.array(Target).max(1_000).optional(),
  reject: z.record(Target, z.string().max(20_000)).optional().describe("target: reason"),
  action: z.enum(["apply", "undo", "merge"]).optional(),
})
type Args = z.output<typeof PassOverReviewArgs>

/**
 * Asks opencode's own question for every path, as if the agent edited the file itself. Of a child its rights are asked
 * first: an "always" that somebody once said to another is stronger than the rules of its session.
 */
const editing =
  (engine: Engine, context: ToolContext): Permit =>
  async (ops: readonly Op[], { directory }) => {
    const top = context.worktree === "/" ? directory : context.worktree
    // A child's limits are held against the names that the host gives to what it edits itself.
    const paths = ops.map(({ path }) => relative(context.worktree, join(directory, path)))
    const no = childMayNot(engine.running.entry(context.sessionID), paths, withinOf({ ...context, relative }))
    if (no) return no
    try {
      for (const filepath of new Set(ops.map(({ path }) => join(directory, path)))) {
        await context.ask({
          permission: "edit",
          patterns: [relative(top, filepath)],
          always: ["*"],
          metadata: { filepath },
        })
      }
      return undefined
    } catch (error) {
      return refuse(
        PassOverErrorCode.DECLINED,
        `A person or a permission rule said no to these edits: ${String(error)}.`,
      )
    }
  }

function childMayNot(entry: Entry | undefined, paths: readonly string[], within: Within): Refusal | undefined {
  if (!entry) return
  const { rights, runner } = entry
  const right: Right = rights
    ? rightTo(rights, "edit", paths, { within })
    : { action: "deny", why: "its rights are not known" }
  if (right.action !== "deny") return
  return refuse(
    PassOverErrorCode.PERMISSION_DENIED,
    `${runner.pass.subagent_id} may not edit ${paths.join(", ")} in this pass: ${forbidden(runner.pass, right)}.`,
    { suggestion: "Leave it as it is, and say in your return what should be done with it." },
  )
}

const inTurn =
  (...permits: readonly Permit[]): Permit =>
  async (ops, target) => {
    for (const permit of permits) {
      const no = await permit(ops, target)
      if (no) return no
    }
    return undefined
  }

/** A check is a shell command, so the host's own question about shell commands comes first. */
const checking = (context: ToolContext) => async (command: string) => {
  try {
    await context.ask({ permission: "bash", patterns: [command], always: [command], metadata: { command } })
    return true
  } catch {
    return false
  }
}

type Reviewing = { engine: Engine; project: Project; deps: ChangeDeps; context: ToolContext; pass: Pass }

async function applying({ engine, project, deps, context, pass }: Reviewing, change: ChangeSet) {
  const planned = await preview(deps, change)
  if (!planned.ok) return planned.refusal
  const permit = inTurn(
    editing(engine, context),
    allowChange(engine, {
      pass,
      change,
      asked_by: context.agent,
      session_id: context.sessionID,
      surface: dialog(context, project.host),
    }),
  )
  const { approval } = planned.planned
  const applied = await applyAndVerify(deps, {
    pass,
    change,
    actor: context.agent,
    approval,
    permit,
    mayVerify: checking(context),
  })
  return applied.ok ? tellApplied(applied, AGENTS_UNDO) : applied.refusal
}

async function undoing({ engine, project, deps, context, pass }: Reviewing) {
  const application = await lastApplied(deps, { pass_over_id: pass.id })
  const { agent: asked_by, sessionID: session_id } = context
  const edit = editing(engine, context)
  // The user's own agent takes back what the user sees. What a child writes is approved, whichever way it goes.
  const child = engine.running.entry(session_id) !== undefined
  const approving = application && child && { pass, change: application, undo: true, asked_by, session_id }
  const permit = approving
    ? inTurn(edit, allowChange(engine, { ...approving, surface: dialog(context, project.host) }))
    : edit
  const undone = await undoOne(deps, { application, actor: context.agent, permit })
  return undone.ok ? tellApplied(undone, AGENTS_UNDO) : undone.refusal
}

const again = ({ id, subagent_id }: Pass) =>
  `To have ${subagent_id} do again what was declined, with all that it knows: pass_over with continue "${id}".`

async function act(reviewing: Reviewing, args: Args): Promise<string | Refusal> {
  const { engine, deps, pass, context } = reviewing
  const found = await changeOf(deps, pass)
  if (!found.ok) return found.refusal
  const { change } = found
  const verdicts = verdictsOf(change, args)
  if (verdicts.length > 0) {
    const stray = await review(deps, { pass, change, verdicts, actor: context.agent })
    if (stray) return stray
  }
  if (args.action === "apply") return applying(reviewing, change)
  if (args.action === "undo") return undoing(reviewing)
  if (args.action === "merge") {
    const merged = await mergeWithPresent(deps, pass, change)
    return merged.ok ? tellChange(engine, await viewChange(deps, merged.change)) : merged.refusal
  }
  const shown = tellChange(engine, await viewChange(deps, change))
  return verdicts.some(({ accepted }) => !accepted) ? `${shown}\n${again(pass)}` : shown
}

export const passOverReviewTool = (engine: Engine, project: Project) =>
  tool(
    {
      name: "pass_over_review",
      description: description.trim(),
      schema: PassOverReviewArgs,
      async run(args, context) {
        const deps = changesOf(engine)
        if (!deps) return refuse(PassOverErrorCode.RESOURCE_EXHAUSTED, "Files cannot be changed here.")
        const found = await passOf(engine, { session_id: context.sessionID, id: args.id })
        if (!found.ok) return found.refusal
        const told = await act({ engine, project, deps, context, pass: found.pass }, args)
        return typeof told === "string" ? { title: args.action ?? "review", output: told } : told
      },
    },
    engine.log,
  )
