import { expect, test } from "bun:test"
import type { ToolContext } from "@opencode-ai/plugin"
import { join } from "node:path"
import type { Rule } from "../../../src/pass-over/domain/right"
import { AUTO } from "../../../src/pass-over/service/change/auto"
import type { Ask } from "../../../src/pass-over/service/api-send"
import { passOverReviewTool } from "../../../src/tool/pass-over-review"
import type { Child } from "../support/scripted-host"
import { back, changed, createNestedWorld, FILES, LINES, prefer, read, type NestedWorld } from "../support/nested"

const WILLING = { auto_apply: true, require_user_approval: false }
const PROVEN = { decision: "approved", auto_apply_allowed: true, evidence: [{ type: "file", path: "a.txt" }] }
const WANTED = { type: "file_modification", path: "a.txt", new_content: "new\n", reason: "better", confidence: "high" }

const edit = (action: Rule["action"], pattern = "*"): Rule => ({ permission: "edit", pattern, action })
const ALL: Rule = { permission: "*", pattern: "*", action: "allow" }

type Case = { ask?: Partial<Ask>; rules?: Record<string, Rule[]>; preferences?: object; within?: string }

/** What becomes of a proposal that is proven and let go of, where the policy wants it applied by itself. */
async function proposed({ ask, rules = {}, preferences = {}, within }: Case) {
  using world = createNestedWorld(FILES)
  if (within !== undefined) Object.assign(world.project, { within })
  prefer(world, { pairs: { "alice->audit": WILLING }, ...preferences })
  const agents = await world.host.agents()
  world.host.agents = async () => agents.map((agent) => ({ ...agent, rules: rules[agent.name] ?? [ALL] }))
  const runner = await world.run(
    "audit",
    async (audit) => {
      audit.tool("read", { filePath: join(audit.tree, "a.txt") }, LINES)
      await back(audit, { ...PROVEN, artifacts: [WANTED] })
    },
    ask,
  )
  const { output } = await runner.outcome
  expect(output.summary.verdict?.status).toBe("VERIFIED")
  const stored = await changed(world, runner.pass)
  expect(stored?.files.map(({ path }) => path)).toEqual(["a.txt"])
  expect(output.summary.change?.notes).toEqual([...(stored?.notes ?? [])])
  const applied = read(world.directory, "a.txt") === "new\n"
  expect(output.metadata.applied_by).toBe(applied ? AUTO : undefined)
  return { applied, note: stored?.notes.join("; ") }
}

const LEFT = "this does not apply itself, it is left for a person to decide about: "

test.each<[string, Case]>([
  ["nothing speaks against it", {}],
  ["its agent edits nothing itself and works by proposing", { rules: { audit: [ALL, edit("deny")] } }],
  ["its paths are those that it is held to", { ask: { constraints: ["paths: a.*"] } }],
  ["the project lies in a folder of its repository", { ask: { constraints: ["paths: pack/*"] }, within: "pack" }],
  ["its path is named from the project on there", { ask: { constraints: ["paths: a.txt, sub"] }, within: "pack" }],
])("a proposal applies itself where %s", async (_name, given) => {
  expect(await proposed(given)).toEqual({ applied: true, note: "" })
})

test.each<[string, Case, string]>([
  [
    "its pass may only look",
    { ask: { constraints: ["read_only"] } },
    'for a.txt the constraint "read_only" forbids it',
  ],
  [
    "it is held to other paths",
    { ask: { constraints: ["paths: docs/*"] } },
    'the constraint "paths: docs/*" forbids it',
  ],
  ["the path is shut", { ask: { constraints: ["no_paths: pack/a.*"] }, within: "pack" }, "no_paths: pack/a.*"],
  ["it is shut from the project on", { ask: { constraints: ["no_paths: a.txt"] }, within: "pack" }, "no_paths: a.txt"],
  [
    "it may not modify files",
    { preferences: { subagents: { audit: { can_modify_files: false } } } },
    "can_modify_files is false for it or for one above it",
  ],
  ["its originator may not edit", { rules: { alice: [ALL, edit("deny")] } }, "for a.txt the rules of alice forbid it"],
  [
    "its originator's edits are asked about",
    { rules: { alice: [ALL, edit("ask")] } },
    "the rules of alice want a person asked",
  ],
  [
    "it edits other paths only",
    { rules: { audit: [ALL, edit("deny"), edit("allow", "docs/*")] } },
    "its own rules forbid it",
  ],
])("a proposal is left for a person where %s", async (_name, given, why) => {
  const { applied, note } = await proposed(given)
  expect(applied).toBe(false)
  expect(note).toStartWith(LEFT)
  expect(note).toContain(why)
})

/** A directory, and the one from which the host names its files. */
type Top = { directory: string; worktree: string }

/** How a child, or the user's own agent, decides about what came back. Edits were allowed once for all time. */
async function reviewing(world: NestedWorld, session_id: string, at: string | Top, args: object) {
  const { directory, worktree } = typeof at === "string" ? { directory: at, worktree: at } : at
  const ask = async ({ permission, patterns }: { permission: string; patterns: string[] }) => {
    if (permission === "edit") return
    world.host.refused = async () => ({ permission, patterns })
    throw new Error("a person says no")
  }
  const context = {
    sessionID: session_id,
    agent: "scout",
    worktree,
    directory,
    ask,
    abort: new AbortController().signal,
  }
  const told = await passOverReviewTool(world.engine, world.project).execute(args, context as unknown as ToolContext)
  return typeof told === "string" ? told : told.output
}

const proposes = async (audit: Child) => void (await back(audit, { artifacts: [WANTED] }))

test("a child applies and takes back only what it may edit itself, whatever was once allowed for all time", async () => {
  for (const constraints of [["no_paths: a.*"], []]) {
    using world = createNestedWorld(FILES)
    prefer(world, { defaults: { require_user_approval: false } })
    await world.run(
      "scout",
      async (scout) => {
        const nested = await scout.on("audit", proposes)
        await nested.outcome
        const { id } = nested.pass
        const applied = await reviewing(world, scout.session_id, scout.tree, { id, accept: ["a.txt"], action: "apply" })
        if (constraints.length > 0) {
          expect(applied).toContain('scout may not edit a.txt in this pass: the constraint "no_paths: a.*" forbids it')
          expect(read(scout.tree, "a.txt")).toBe(LINES)
          await world.apply(nested.pass, "ada")
        }
        expect(read(scout.tree, "a.txt")).toBe("new\n")
        const undone = await reviewing(world, scout.session_id, scout.tree, { id, action: "undo" })
        if (constraints.length > 0) expect(undone).toContain("scout may not edit a.txt in this pass")
        expect(read(scout.tree, "a.txt")).toBe(constraints.length > 0 ? "new\n" : LINES)
        await back(scout)
      },
      { constraints },
    )
  }
})

test("outside of git a child applies no more than what it may edit itself, either", async () => {
  using world = createNestedWorld(FILES, { git: false })
  prefer(world, { defaults: { require_user_approval: false } })
  await world.run(
    "scout",
    async (scout) => {
      const nested = await scout.on("audit", proposes)
      await nested.outcome
      const args = { id: nested.pass.id, accept: ["a.txt"], action: "apply" }
      const top = { directory: scout.tree, worktree: "/" }
      expect(await reviewing(world, scout.session_id, top, args)).toContain(
        'a.txt in this pass: the constraint "no_paths: a.txt" forbids it',
      )
      expect(read(scout.tree, "a.txt")).toBe(LINES)
      await back(scout)
    },
    { constraints: ["no_paths: a.txt"] },
  )
})

test("what a child takes back in the project is approved as what it applies there; the user's own agent's is not", async () => {
  using world = createNestedWorld(FILES)
  prefer(world, { defaults: { require_user_approval: true, isolation: "none" } })
  const { engine } = world
  const runner = await world.run("scout", async (scout) => {
    expect(scout.tree).toBe(world.directory)
    const nested = await scout.on("audit", proposes)
    await nested.outcome
    const { id } = nested.pass
    const gates = () => engine.store.gates({ pass_over_id: id })
    expect(await world.apply(nested.pass, "ada")).toMatchObject({ ok: true })
    expect(await reviewing(world, scout.session_id, scout.tree, { id, action: "undo" })).toContain(
      "Nothing was written",
    )
    expect((await gates())[0]).toMatchObject({ kind: "approval", status: "rejected", asked_by: "scout" })
    expect((await gates())[0]?.question).toBe("May scout take back 1 file of audit's change? a.txt")
    expect(read(world.directory, "a.txt")).toBe("new\n")
    await back(scout, { artifacts: [{ ...WANTED, path: "sub/b.txt" }] })
  })
  const { id } = runner.pass
  await world.apply(runner.pass, "ada")
  expect(read(world.directory, "sub/b.txt")).toBe("new\n")
  expect(await reviewing(world, "ses_root", world.directory, { id, action: "undo" })).not.toContain("Not done")
  expect(read(world.directory, "sub/b.txt")).toBe("b\n")
  expect(await engine.store.gates({ pass_over_id: id })).toEqual([])
})
