import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { call, repeat, say, type ModelRequest } from "@pass-over/rehearsal"
import { createWorld, endWorld, toolCalls, type World } from "../support/opencode"

setDefaultTimeout(60_000)

const held = {} as { world: World }

// The example of the architecture, §5.2, word for word.
const EXAMPLE = {
  defaults: {
    auto_return: false,
    auto_apply: false,
    timeout_ms: 30_000,
    max_chain_depth: 3,
    require_confirmation: true,
  },
  pairs: {
    "alice->audit": {
      enabled: true,
      auto_return: true,
      auto_apply: false,
      require_user_approval: true,
      pass_context: true,
      pass_files: true,
      timeout_ms: 60_000,
      notify_on_return: "always",
      created_at: 1_700_000_000,
      updated_at: 1_700_000_000,
    },
    "alice->inspector": {
      enabled: true,
      auto_return: false,
      auto_apply: false,
      require_user_approval: true,
      notify_on_return: "only_issues",
    },
    "scout->audit": { enabled: false, reason: "conflicting specializations" },
  },
  subagents: {
    audit: { can_receive_passes: true, can_modify_files: false, can_run_tools: true, max_compute_time_ms: 60_000 },
    inspector: { can_receive_passes: true, can_modify_files: false, can_run_tools: true },
  },
  audit: { log_all_passes: true, log_directory: ".opencode/pass-over-logs", retention_days: 30 },
}

// A confirmation is asked of a person; most tests here are about other fields.
const QUIET = { ...EXAMPLE, defaults: { ...EXAMPLE.defaults, require_confirmation: false, auto_return: true } }

const use = (preferences: unknown) =>
  held.world.box.write(
    ".opencode/pass-over.json",
    typeof preferences === "string" ? preferences : JSON.stringify(preferences, undefined, 2),
  )

beforeAll(async () => {
  held.world = await createWorld({ preferences: QUIET })
})
afterEach(() => {
  use(QUIET)
  held.world.model.verify()
})
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const handover = (objective: string, more: Record<string, unknown> = {}) =>
  call("pass_over", { subagent: "audit", objective, reason: "code_review", ...more })
const back = call("pass_over_return", { decision: "approved", decision_reason: "It is right." })
const answerOf = (request: ModelRequest) => say(request.result("pass_over") ?? "nothing")

/** Plays one pass and gives what alice was told, and the pass if there was one. */
async function played(objective: string, more: Record<string, unknown> = {}) {
  const { model, server, store } = held.world
  model.play({ agents: { alice: [handover(objective, more), answerOf], audit: repeat(back) } })
  const answer = await server.prompt({ agent: "alice", text: `Go: ${objective}.` })
  const [pass] = await store.list({ session_id: answer.sessionID })
  return { told: answer.text, pass, session: answer.sessionID, requests: model.requests({ agent: "audit" }) }
}

test("the pair's values hold, and a change of the file holds from the next pass on", async () => {
  const first = await played("Under the pair")
  expect(first.pass).toMatchObject({ timeout_ms: 60_000, policy: "alice->audit" })
  use({ pairs: { "alice->audit": { timeout_ms: 45_000 } } })
  expect((await played("Under the new pair")).pass).toMatchObject({ timeout_ms: 45_000 })
})

test("a model may narrow a pass by override, and the audit says that it did", async () => {
  const { pass } = await played("Be quick", { override: { timeout_ms: 20_000 } })
  expect(pass).toMatchObject({ timeout_ms: 20_000, overrides: { timeout_ms: 20_000 } })
})

for (const [setting, value] of [
  ["timeout_ms", 61_000],
  ["auto_apply", true],
  ["require_user_approval", false],
  ["can_modify_files", true],
  ["max_chain_depth", 5],
] as const) {
  test(`a model that sets ${setting} to ${value} is refused, with the setting named`, async () => {
    const { told, pass } = await played(`Override ${setting}`, { override: { [setting]: value } })
    expect(told).toStartWith(`Not done. E013 PERMISSION_DENIED: override.${setting} is not yours to set`)
    expect(pass).toBeUndefined()
  })
}

test("an unknown setting in an override is a clear error", async () => {
  const { told, pass } = await played("Override a typo", { override: { timout_ms: 5 } })
  expect(told).toStartWith("Not done. E030 CONFIG_INVALID: The arguments of pass_over are not right:")
  expect(told).toContain("timout_ms")
  expect(pass).toBeUndefined()
})

test("a disabled pair is refused with its reason and the place where it is switched off", async () => {
  const { model, server } = held.world
  const told: string[] = []
  model.play({
    agents: {
      alice: [handover("Ask scout", { subagent: "scout" }), say("done")],
      scout: [handover("Judge this"), (request: ModelRequest) => (told.push(request.result("pass_over") ?? ""), back)],
    },
  })
  await server.prompt({ agent: "alice", text: "Go." })
  expect(told[0]).toStartWith("Not done. E004 DISABLED_PAIR: scout may not pass work to audit")
  expect(told[0]).toContain("conflicting specializations")
  expect(told[0]).toContain("pass-over.json")
})

test("without pass_context the conversation stays behind, without pass_files the files do", async () => {
  use({ pairs: { "alice->audit": { pass_context: false, pass_files: false } } })
  const { requests } = await played("See nothing", { files: ["src/total.ts"] })
  expect(requests[0]?.user).not.toContain("Go: See nothing.")
  expect(requests[0]?.user).not.toContain("a - b")
  use({})
  const open = await played("See it all", { files: ["src/total.ts"] })
  expect(open.requests[0]?.user).toContain("Go: See it all.")
  expect(open.requests[0]?.user).toContain("a - b")
})

test("an agent that may not run tools is left with its return alone", async () => {
  use({ subagents: { audit: { can_run_tools: false } } })
  const { requests } = await played("Think only")
  expect(requests[0]?.tools.map((tool) => tool.name)).toEqual(["pass_over_return"])
})

test("a confirmation is asked of the user before anything starts, and their no is a sentence", async () => {
  const { model, server, store } = held.world
  use({ ...EXAMPLE, defaults: { require_confirmation: true } })
  for (const reply of ["reject", "once"] as const) {
    const objective = `Confirm ${reply}`
    model.play({ agents: { alice: [handover(objective), answerOf], ...(reply === "once" ? { audit: back } : {}) } })
    const events = await server.events()
    const turn = server.prompt({ agent: "alice", text: "Go." })
    const asked = await events.until("permission.asked")
    const request = asked.properties as { id: string; permission: string; patterns: string[] }
    expect(request).toMatchObject({
      permission: "pass_over_gate",
      patterns: [`May alice pass this to audit? ${objective}`],
    })
    await server.client.permission.reply({ requestID: request.id, reply })
    const answer = await turn
    events.close()
    const passes = await store.list({ session_id: answer.sessionID })
    expect(passes).toMatchObject([{ status: reply === "once" ? "processed" : "cancelled" }])
    if (reply === "reject") expect(answer.text).toContain("E017: it was rejected by the user in opencode")
  }
})

test("a broken file refuses passes with its line, or keeps what held before, and opencode works on", async () => {
  const good = await played("While it is good")
  expect(good.pass?.timeout_ms).toBe(60_000)
  use('{\n  "defaults": { "timeout": 5 }\n}')
  const after = await played("While it is broken")
  // What held before holds on.
  expect(after.pass?.timeout_ms).toBe(60_000)
})

test("two mentions of one tool call are one pass", async () => {
  const { told } = await played("Only once")
  expect(told).toContain("audit: approved")
  const { server } = held.world
  expect(
    toolCalls(
      (await server.client.session.messages({ sessionID: (await played("And once more")).session })).data ?? [],
      "pass_over",
    ),
  ).toHaveLength(1)
})

test("what the environment says beats the project's file, for as long as that opencode runs", async () => {
  const { box, model, store } = held.world
  use({ defaults: { timeout_ms: 45_000, auto_return: true } })
  const shorter = JSON.stringify({ defaults: { timeout_ms: 44_000 } })
  const server = await box.serve({ env: { PASS_OVER_CONFIG_CONTENT: shorter } })
  model.play({ agents: { alice: [handover("Under the environment"), answerOf], audit: repeat(back) } })
  const { sessionID } = await server.prompt({ agent: "alice", text: "Go." })
  const [pass] = await store.list({ session_id: sessionID })
  expect(pass?.timeout_ms).toBe(44_000)
  await server.stop()

  const broken = await box.serve({ env: { PASS_OVER_CONFIG_CONTENT: `{ "default": {} }` } })
  model.play({ agents: { alice: [handover("Under a broken environment"), answerOf] } })
  const { text } = await broken.prompt({ agent: "alice", text: "Go." })
  expect(text).toContain("E030")
  expect(text).toContain('PASS_OVER_CONFIG_CONTENT:1:3 default: unknown setting "default"; did you mean `defaults`?')
  await broken.stop()
})
