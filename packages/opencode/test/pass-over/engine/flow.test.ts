import { expect, test } from "bun:test"
import { parse } from "yaml"
import { HandoffPackage } from "../../../src/pass-over/handoff/package"
import { Envelope } from "../../../src/pass-over/handoff/envelope"
import { createFlowScene, leaves } from "../support/flow"

const LINE = `
name: line
archive: true
inputs:
  goal: {}
steps:
  - id: find
    agent: scout
    phase: research
    objective: "Find what there is for {{ inputs.goal }}"
  - id: make
    agent: general
    objective: "Make {{ inputs.goal }}"
    success_criteria: ["All tests pass"]
`

const findings = {
  existing_implementations: [],
  conflicts: [],
  patterns_found: [],
  recommendations: ["Extend total.ts"],
}

test("a flow passes from step to step, and what a step left goes along", async () => {
  using scene = createFlowScene([LINE])
  scene.host.script("scout", async (child) => void (await leaves(child, { decision: "PROCEED", findings })))
  scene.host.script("general", async (child) => void (await leaves(child)))
  const run = await scene.run("line", { goal: "totals" })
  const done = await scene.settled(run)
  expect(done?.state).toMatchObject({ status: "completed", usage: { passes: 2, tokens: 220 } })
  expect(done?.state.results["find"]).toMatchObject({ status: "VERIFIED", decision: "PROCEED", passed: true, findings })
  const [first, second] = scene.host.prompts
  expect(first?.text).toContain("Find what there is for totals")
  expect(first?.text).toContain('"phase": "research"')
  expect(second?.text).toContain("Make totals")
  expect(second?.text).toContain("Looked at src/total.ts: total adds the columns of a row.")
  expect(second?.text).toContain("- All tests pass")
  // Every pass was dealt with, and none of them entered the originator's session: the run's end does, once.
  const passes = await scene.engine.store.list({})
  expect(passes.map(({ status, return_required }) => ({ status, return_required }))).toEqual([
    { status: "processed", return_required: false },
    { status: "processed", return_required: false },
  ])
  expect(scene.host.delivered.map(({ of }) => of)).toEqual([run.run_id])
})

test("it leaves the files that the documents describe, and no drafts", async () => {
  using scene = createFlowScene([LINE])
  scene.host.script("scout", async (child) => void (await leaves(child, { decision: "PROCEED", findings })))
  scene.host.script("general", async (child) => {
    expect([...scene.files.written.keys()].some((path) => path.endsWith("make-general.draft.json"))).toBe(true)
    await leaves(child)
  })
  const run = await scene.run("line", { goal: "totals" })
  await scene.settled(run)
  const base = `.opencode/runs/${run.run_id}`
  const archive = ".project/07-audit/sessions/ses_root/handoffs"
  expect([...scene.files.written.keys()].toSorted()).toEqual([
    `${base}/line/handoffs/find-scout.json`,
    `${base}/line/handoffs/make-general.json`,
    `${base}/state/current.json`,
    `${archive}/HO-001.yaml`,
    `${archive}/HO-002.yaml`,
    `${archive}/HO-003.yaml`,
  ])
  const read = (path: string) => scene.files.written.get(path) ?? ""
  expect(Envelope.safeParse(JSON.parse(read(`${base}/line/handoffs/find-scout.json`))).success).toBe(true)
  for (const number of [1, 2, 3])
    expect(HandoffPackage.safeParse(parse(read(`${archive}/HO-00${number}.yaml`))).success).toBe(true)
  expect(JSON.parse(read(`${base}/state/current.json`)).handoffs).toMatchObject([
    { id: "HO-001", from: "orchestrator", to: "scout", status: "completed" },
    { id: "HO-002", from: "scout", to: "general", status: "completed" },
    { id: "HO-003", from: "general", to: "orchestrator", status: "completed" },
  ])
})

test("its files lie elsewhere where the flow says so", async () => {
  using scene = createFlowScene([LINE.replace("archive: true", "archive: audit/handoffs\nrun_base: build/runs")])
  scene.host.script("scout", async (child) => void (await leaves(child, { decision: "PROCEED", findings })))
  scene.host.script("general", async (child) => void (await leaves(child)))
  const run = await scene.run("line", { goal: "totals" })
  await scene.settled(run)
  const written = [...scene.files.written.keys()].toSorted()
  expect(written).toContain(`build/runs/${run.run_id}/state/current.json`)
  expect(written).toContain("audit/handoffs/ses_root/handoffs/HO-001.yaml")
  expect(written.filter((path) => !/^(?:build\/runs|audit\/handoffs)\//.test(path))).toEqual([])
})

const LOOP = `
name: loop
steps:
  - id: build
    agent: general
    objective: Build it
    critic:
      agent: audit
      objective: Review it
      rounds: 3
`

const concern = (severity: string, index: number) => ({
  severity,
  category: "bug",
  message: `${severity} in total, number ${index}`,
  path: "src/total.ts",
  line: index + 1,
})

function rounds(scene: ReturnType<typeof createFlowScene>, reviews: { severities: string[]; help?: boolean }[]) {
  let round = 0
  scene.host.script("general", async (child) => void (await leaves(child)))
  scene.host.script("audit", async (child) => {
    const review = reviews[round++] ?? { severities: [] }
    const found = review.severities.length > 0
    await leaves(
      child,
      found
        ? {
            routing: {
              recommendation: "LOOP",
              can_further_iteration_help: review.help ?? true,
              reason: "Issues are fixable",
            },
          }
        : {},
      found ? { decision: "needs_modification", findings: review.severities.map(concern) } : {},
    )
  })
}

test("a critic sends the work round until it has no concern left, and the concerns go along", async () => {
  using scene = createFlowScene([LOOP])
  rounds(scene, [{ severities: ["error", "error"] }, { severities: ["error"] }, { severities: [] }])
  const run = await scene.run("loop")
  const done = await scene.settled(run)
  expect(done?.state.status).toBe("completed")
  expect(done?.state.results["build"]).toMatchObject({ rounds: 3, passed: true, status: "VERIFIED" })
  const builds = scene.host.prompts.filter(({ agent }) => agent === "general").map(({ text }) => text)
  expect(builds).toHaveLength(3)
  expect(builds[0]).not.toContain("error in total")
  expect(builds[1]).toContain("error in total")
  const base = `.opencode/runs/${run.run_id}/loop/handoffs`
  expect([...scene.files.written.keys()].filter((path) => path.startsWith(base)).toSorted()).toEqual([
    `${base}/build-audit.1.json`,
    `${base}/build-audit.2.json`,
    `${base}/build-audit.json`,
    `${base}/build-general.1.json`,
    `${base}/build-general.2.json`,
    `${base}/build-general.json`,
  ])
  const status = (name: string) => JSON.parse(scene.files.written.get(`${base}/${name}`) ?? "{}").routing.recommendation
  expect([status("build-audit.1.json"), status("build-audit.2.json"), status("build-audit.json")]).toEqual([
    "LOOP",
    "LOOP",
    "CONTINUE",
  ])
})

test("a loop that reaches its bound stops and asks a person, with the reason", async () => {
  using scene = createFlowScene([LOOP])
  rounds(scene, [
    { severities: ["error", "error", "error"] },
    { severities: ["error", "error"] },
    { severities: ["error"] },
  ])
  const run = await scene.run("loop")
  expect((await scene.settled(run))?.state.status).toBe("waiting")
  const [question] = await scene.questions(run)
  expect(question).toMatchObject({ why: "loop" })
  expect(question?.question).toContain("the bound of 3 rounds is reached")
  expect(scene.host.prompts.filter(({ agent }) => agent === "audit")).toHaveLength(3)
  await scene.answer(run, "approve")
  const done = await scene.settled(run)
  expect(done?.state).toMatchObject({
    status: "completed",
    results: { build: { passed: true, reason: "let through by ada" } },
  })
})

test("a loop in which nothing improves stops at that round, before its bound", async () => {
  using scene = createFlowScene([LOOP])
  rounds(scene, [{ severities: ["error"] }, { severities: ["error", "warning"] }])
  const run = await scene.run("loop")
  await scene.settled(run)
  const [question] = await scene.questions(run)
  expect(question?.question).toContain("round 2 brought no improvement (2 concerns)")
  expect(scene.host.prompts.filter(({ agent }) => agent === "general")).toHaveLength(2)
  await scene.answer(run, "reject", "enough of it")
  expect((await scene.settled(run))?.state).toMatchObject({
    status: "stopped",
    reason: expect.stringContaining("enough of it"),
  })
})

test("a critic that says that no further round can help is not asked for another", async () => {
  using scene = createFlowScene([LOOP])
  rounds(scene, [{ severities: ["error"], help: false }, { severities: [] }])
  const run = await scene.run("loop")
  await scene.settled(run)
  const [question] = await scene.questions(run)
  expect(question?.question).toContain("no further round can help")
  await scene.answer(run, "question", "Use the decimal library")
  const done = await scene.settled(run)
  expect(done?.state.status).toBe("completed")
  const second = scene.host.prompts.filter(({ agent }) => agent === "general")[1]
  expect(second?.text).toContain("ada decided: Use the decimal library")
})

test("a step that failed is dealt with under its error code", async () => {
  using scene = createFlowScene([LINE])
  scene.host.script("scout", async () => ({ failure: { code: "E011", message: "it broke" } }))
  await scene.settled(await scene.run("line", { goal: "totals" }))
  const [pass] = await scene.engine.store.list({})
  const lines = await scene.engine.store.audit({ pass_over_id: pass!.id })
  const codes = lines.map(({ action, error_code }) => [action, error_code])
  expect(codes).toContainEqual(["returned", "E011"])
  expect(codes).toContainEqual(["processed", "E011"])
})
