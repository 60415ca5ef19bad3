import { expect, test } from "bun:test"
import type { Outcome } from "../../../src/pass-over/service/port"
import { fitToApply, autoApply } from "../../../src/pass-over/service/change/auto"
import { createChangeWorld, type ChangeWorld } from "../support/change"

const WILLING = { auto_apply: true, require_user_approval: false }

async function scene(world: ChangeWorld) {
  world.put("a.txt", "a\n")
  const change = await world.change([{ path: "a.txt", old: "a\n", new: "A\n" }])
  const pass = { ...world.pass, constraints: [], preference: { values: WILLING } }
  const stored = (await world.store.outcome(pass.id))!
  const outcome: Outcome = {
    ...stored,
    error_code: null,
    output: {
      ...stored.output,
      artifacts: [],
      status: "completed",
      auto_apply_allowed: true,
      summary: {
        ...stored.output.summary,
        decision: "approved",
        verdict: { status: "VERIFIED", checked: 1, unresolved: [] },
        change: { change_id: change.change_id, origin: "proposed", files: 1, notes: [] },
      },
    },
  }
  return { pass, outcome, change }
}

test("what its agent lets go and is proven applies itself, and the outcome says so", async () => {
  using world = await createChangeWorld()
  const { pass, outcome } = await scene(world)
  const applied = await autoApply(world.deps, pass, outcome)
  expect(world.get("a.txt")).toBe("A\n")
  expect(applied.output.metadata).toMatchObject({ applied: true, applied_by: "auto_apply" })
})

test("a stale base is not applied and not an error", async () => {
  using world = await createChangeWorld()
  const { pass, outcome } = await scene(world)
  world.put("a.txt", "somebody else\n")
  expect((await autoApply(world.deps, pass, outcome)).output.metadata.applied).toBe(false)
  expect(world.get("a.txt")).toBe("somebody else\n")
})

test("what its constraints or those who may say so do not let it edit is left alone", async () => {
  using world = await createChangeWorld()
  const { pass, outcome } = await scene(world)
  const applied = async (more: object, may?: Parameters<typeof autoApply>[3]) =>
    (await autoApply(world.deps, { ...pass, ...more }, outcome, may)).output.metadata.applied
  expect(await applied({ constraints: ["paths: docs/*"] })).toBe(false)
  expect(await applied({ preference: { values: { ...WILLING, can_modify_files: false } } })).toBe(false)
  expect(await applied({}, () => ({ action: "ask", who: "alice" }))).toBe(false)
  expect(world.get("a.txt")).toBe("a\n")
  expect(await applied({ constraints: ["paths: a.*"] })).toBe(true)
})

test("each of these keeps it from applying itself", async () => {
  using world = await createChangeWorld()
  const { pass, outcome } = await scene(world)
  const { output } = outcome
  const { summary } = output
  expect(fitToApply(pass, outcome)).toBe(true)
  const policy = (values: object) => ({ ...pass, preference: { values: { ...WILLING, ...values } } })
  expect(fitToApply(policy({ auto_apply: false }), outcome)).toBe(false)
  expect(fitToApply(policy({ require_user_approval: true }), outcome)).toBe(true)
  const told = (more: Partial<typeof summary>) => ({
    ...outcome,
    output: { ...output, summary: { ...summary, ...more } },
  })
  const others: Outcome[] = [
    { ...outcome, error_code: "E010" },
    { ...outcome, output: { ...output, auto_apply_allowed: false } },
    { ...outcome, output: { ...output, status: "partial" } },
    told({ decision: "rejected" }),
    told({ verdict: { status: "UNVERIFIED", checked: 1, unresolved: [] } }),
    told({ change: { ...summary.change!, origin: "direct" } }),
    told({ change: { ...summary.change!, files: 0 } }),
    {
      ...outcome,
      output: { ...output, artifacts: [{ type: "finding", severity: "error", category: "x", message: "bad" }] },
    },
  ]
  for (const other of others) expect(fitToApply(pass, other)).toBe(false)
})

test("where a person is to be asked first nothing is written, decided or refused until they are", async () => {
  using world = await createChangeWorld()
  const { pass, outcome, change } = await scene(world)
  const careful = { ...pass, preference: { values: { auto_apply: true } } }
  const left = await autoApply(world.deps, careful, outcome)
  expect(left).toMatchObject({ asked: true, output: { metadata: { applied: false } } })
  expect(world.get("a.txt")).toBe("a\n")
  expect(await world.store.verdicts(change.change_id)).toEqual([])
  const [gate, ...others] = await world.store.gates({ pass_over_id: pass.id })
  expect(others).toEqual([])
  expect(gate).toMatchObject({ kind: "approval", status: "pending", default_action: "reject", detail: { auto: true } })
})

test("nobody is asked about a stale base", async () => {
  using world = await createChangeWorld()
  const { pass, outcome } = await scene(world)
  world.put("a.txt", "somebody else\n")
  const careful = { ...pass, preference: { values: { auto_apply: true } } }
  expect((await autoApply(world.deps, careful, outcome)).asked).toBeUndefined()
  expect(await world.store.gates({})).toEqual([])
})
