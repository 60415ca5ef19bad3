import { beforeAll, expect, test } from "bun:test"
import { conforms } from "../../../src/pass-over/domain/output-schema"
import type { PassOverPreferences } from "../../../src/pass-over/domain/preference"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { readPass } from "../../../src/pass-over/service/read-pass"
import { settle } from "../support/fake-clock"

function world(preferences: PassOverPreferences): EngineWorld {
  const made = createEngineWorld()
  made.preferences.push({ origin: "project", path: ".opencode/pass-over.json", preferences })
  return made
}

const SCHEMA = { type: "object", properties: { decision: { enum: ["approved", "rejected"] } }, required: ["decision"] }

// What checks returns is loaded when it is first needed; the clock of these tests does not wait for the disk.
beforeAll(() => conforms(SCHEMA, {}))

test("a return that is not in the form that the user wants is answered, and taken when it is repaired", async () => {
  using made = world({ subagents: { audit: { output_schema: SCHEMA } } })
  const said: string[] = []
  made.host.script("audit", async (child) => {
    said.push(await child.return({ decision: "blocked", decision_reason: "no" }))
    said.push(await child.return(VERDICT))
    child.step()
    await child.told
  })
  const { output } = await outcomeOf(made, await started(made))
  expect(said[0]).toContain("The user wants returns of audit in a form of their own")
  expect(output.summary.decision).toBe("approved")
})

test("validate_output false takes a return that does not fit the schema, but never one that is none", async () => {
  using open = world({ subagents: { audit: { output_schema: SCHEMA, validate_output: false } } })
  const said: string[] = []
  open.host.script("audit", async (child) => {
    for (const none of ["done", {}, { decision: "maybe" }]) said.push(await child.return(none))
    await child.return({ decision: "blocked", decision_reason: "no" })
    child.step()
    await child.told
  })
  expect((await outcomeOf(open, await started(open))).output.summary.decision).toBe("blocked")
  expect(said).toEqual([
    expect.stringContaining("The return is not valid"),
    expect.stringContaining("The return says nothing"),
    expect.stringContaining("The return is not valid"),
  ])
})

test("a schema that cannot be read is refused before anything starts", async () => {
  using broken = world({ subagents: { audit: { output_schema: { type: "nonsense" } } } })
  expect(await broken.ask()).toMatchObject({ ok: false, refusal: { code: "E030" } })
  expect(broken.host.children).toEqual([])
})

test("a constraint of the pair that nothing enforces is named as the user's setting, one of the call as the caller's own", async () => {
  using made = world({ pairs: { "alice->audit": { constraints: ["be careful"] } } })
  const sent = await made.ask()
  expect(sent).toMatchObject({ ok: false, refusal: { code: "E013" } })
  if (sent.ok) return
  expect(sent.refusal.message).toBe(
    'The constraint "be careful" cannot be enforced; it stands in pairs.alice->audit.constraints in .opencode/pass-over.json.',
  )
  expect(sent.refusal.suggestion).toStartWith("The user has to change it there")
  using narrowed = world({ pairs: { "alice->audit": { constraints: ["be careful"] } } })
  expect(await narrowed.ask({ constraints: ["read_only"] })).toMatchObject({
    refusal: { message: expect.stringContaining("it stands in pairs.alice->audit.constraints") },
  })
  using own = world({ pairs: { "alice->audit": { constraints: ["read_only"] } } })
  expect(await own.ask({ constraints: ["be quick"] })).toMatchObject({
    refusal: {
      message: 'The constraint "be quick" cannot be enforced.',
      suggestion: expect.stringContaining("Write it into the objective"),
    },
  })
})

const REJECTED = { decision: "rejected", decision_reason: "wrong", findings: ["it is wrong"] }

for (const [notify_on_return, clean, issues] of [
  ["always", 1, 1],
  ["only_issues", 0, 1],
  ["never", 0, 0],
] as const) {
  test(`notify_on_return ${notify_on_return} tells the user ${clean} clean and ${issues} bad results`, async () => {
    for (const [report, told] of [
      [VERDICT, clean],
      [REJECTED, issues],
    ] as const) {
      using made = world({ defaults: { notify_on_return } })
      made.host.script("audit", async (child) => {
        await child.return(report)
        child.step()
        await child.told
      })
      await outcomeOf(made, await started(made))
      await made.clock.advance(2_000)
      expect(made.host.notified).toHaveLength(told)
    }
  })
}

test("a provider that asks for patience gets fewer at once, and more again later", async () => {
  using made = world({ limits: { running: 10 } })
  made.host.script("audit", async (child) => {
    await child.wait(1_000_000)
  })
  const model = "acme/large"
  const first = await Promise.all([1, 2, 3, 4].map(() => started(made, { model, timeout_ms: 3_000_000, override: {} })))
  await settle(20)
  expect(made.host.children).toHaveLength(4)
  const child = first[0]?.pass.child_session_id
  if (!child) throw new Error("nothing runs")
  made.engine.hear({ type: "retry", session_id: child, until: made.clock.now() + 20_000, message: "slow" })
  await settle(20)
  // Two may run now and four do: the next one stands in line. One of another provider does not.
  const waiting = await started(made, { model, timeout_ms: 3_000_000 })
  const other = await started(made, { model: "other/small", timeout_ms: 3_000_000 })
  await settle(20)
  expect(waiting.waiting).toBe("queued, place 1")
  expect(other.waiting).toBeUndefined()
  for (const runner of first.slice(0, 3)) {
    runner.input({ type: "cancel", failure: { code: "E016", message: "enough" } })
    await outcomeOf(made, runner)
  }
  await settle(40)
  expect(waiting.waiting).toBeUndefined()
})

test("a result can be read in short, in each of the architecture's styles, as the user's model tells it or by rules", async () => {
  using made = world({})
  made.host.script("audit", async (child) => {
    await child.return({
      ...VERDICT,
      findings: [{ severity: "error", category: "logic", message: "The sign is wrong", path: "a.ts", line: 4 }],
    })
    child.step()
    await child.told
  })
  const runner = await started(made)
  await outcomeOf(made, runner)
  const read = (summary: "bullet_points" | "narrative" | "decision_tree") =>
    readPass(made.engine, made.project, { session_id: "ses_root", id: runner.pass.id, summary, focus: "all" })
  const asked: { prompt: string; max_tokens: number }[] = []
  const told = await Promise.all([read("bullet_points"), read("narrative"), read("decision_tree")])
  const texts = told.map((each) => (each.ok ? each.text : each.refusal.message))
  for (const text of texts) expect(text).toContain("The sign is wrong")
  expect(new Set(texts.map((text) => text.split("\n").slice(3).join("\n"))).size).toBe(3)

  // With a model it is the model's, whoever writes down what does not go along.
  made.host.generate = async (input) => {
    asked.push(input)
    return "The sign of the sum is wrong."
  }
  const reading = { session_id: "ses_root", id: runner.pass.id, summary: "narrative", max_length: 90 } as const
  const by_model = await readPass(made.engine, made.project, reading)
  expect(by_model).toMatchObject({ ok: true, text: expect.stringContaining("The sign of the sum is wrong.") })
  expect(asked).toMatchObject([{ max_tokens: 90, prompt: expect.stringContaining("At most 90 tokens") }])
})
