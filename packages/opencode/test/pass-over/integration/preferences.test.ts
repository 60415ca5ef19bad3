import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { call, say, type ModelRequest } from "@pass-over/rehearsal"
import type { Gate } from "../../../src/pass-over/domain/gate"
import { passOver } from "../support/launcher"
import { until } from "../support/until"
import { createWorld, endWorld, type World } from "../support/opencode"

setDefaultTimeout(90_000)

// The file of the architecture, §5.2, as it stands.
const EXAMPLE = readFileSync(join(import.meta.dir, "../../../../../docs/example/pass-over.json"), "utf8")

const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld({ preferences: EXAMPLE })
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const handover = (subagent: string, objective: string) =>
  call("pass_over", { subagent, objective, reason: "code_review" })
const back = call("pass_over_return", { decision: "approved", decision_reason: "It is right." })
const answerOf = (request: ModelRequest) => say(request.result("pass_over") ?? "nothing")

const use = (text: string) => held.world.box.write(".opencode/pass-over.json", text)

const asked = (kind: string) =>
  until(`a question of kind ${kind}`, async () => {
    const { gates } = (await passOver(held.world.box, "inbox", "--json")).json() as { gates: Gate[] }
    return gates.find((gate) => gate.kind === kind)
  })

test("the example loads as it stands: alice's pass waits for a yes, and scout's to audit is refused with its reason", async () => {
  const { model, server, box } = held.world
  const told: string[] = []
  model.play({
    agents: {
      alice: [handover("scout", "Look around"), answerOf],
      scout: [
        handover("audit", "Judge this"),
        (request: ModelRequest) => (told.push(request.result("pass_over") ?? ""), back),
      ],
    },
  })
  const turn = server.prompt({ agent: "alice", text: "Go." })
  const gate = await asked("confirmation")
  expect(gate.policy).toContain("require_confirmation")
  const approved = await passOver(box, "approve", gate.gate_id, "go on")
  expect(approved).toMatchObject({ code: 0, err: "" })
  // The example holds results back as well; what came is let through by the same inbox.
  const delivery = until(
    "a held result",
    async () => {
      const { gates } = (await passOver(box, "inbox", "--json")).json() as { gates: Gate[] }
      return gates.find((one) => one.kind === "delivery")
    },
    3_000,
  ).catch(() => undefined)
  await turn
  const waiting = await delivery
  if (waiting) expect((await passOver(box, "approve", waiting.gate_id)).code).toBe(0)

  expect(told[0]).toStartWith("Not done. E004 DISABLED_PAIR: scout may not pass work to audit")
  expect(told[0]).toContain("conflicting specializations")
  expect(told[0]).toContain("pass-over.json")

  const explained = (await passOver(box, "config", "explain", "scout", "audit", "--json")).json() as {
    settings: { setting: string; value: unknown; source: { where: string } }[]
    notes: string[]
  }
  const enabled = explained.settings.find((one) => one.setting === "enabled")
  expect(enabled).toMatchObject({ value: false, source: { where: expect.stringMatching(/pass-over\.json:\d+:\d+$/) } })
  expect(explained.notes.join()).toContain("conflicting specializations")
})

test("what the command line writes holds from the next pass on, without a restart", async () => {
  const { model, server, box, store } = held.world
  use('{\n  // mine\n  "defaults": { "require_confirmation": false }\n}\n')
  const set = await passOver(box, "config", "set", "alice->audit", "timeout_ms", "45000")
  expect(set).toMatchObject({ code: 0, err: "" })
  expect(box.read(".opencode/pass-over.json")).toContain("// mine")
  model.play({ agents: { alice: [handover("audit", "Under the new time"), answerOf], audit: back } })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(await store.list({ session_id: answer.sessionID })).toMatchObject([
    { timeout_ms: 45_000, policy: "alice->audit" },
  ])

  const stored = await passOver(box, "config", "set", "alice->audit", "timeout_ms", "40000", "--stored")
  expect(stored.code).toBe(0)
  model.play({ agents: { alice: [handover("audit", "Under the stored time"), answerOf], audit: back } })
  const next = await server.prompt({ agent: "alice", text: "Go." })
  expect(await store.list({ session_id: next.sessionID })).toMatchObject([{ timeout_ms: 40_000 }])
  await passOver(box, "config", "unset", "alice->audit", "timeout_ms", "--stored")
})

test("a file that breaks is told once, and what held before holds on", async () => {
  const { model, server, store } = held.world
  use('{ "defaults": { "require_confirmation": false }, "pairs": { "alice->audit": { "timeout_ms": 50000 } } }')
  const pass = async (objective: string) => {
    model.play({ agents: { alice: [handover("audit", objective), answerOf], audit: back } })
    const answer = await server.prompt({ agent: "alice", text: "Go." })
    return store.list({ session_id: answer.sessionID })
  }
  expect(await pass("While it is good")).toMatchObject([{ timeout_ms: 50_000 }])
  const events = await server.events()
  use('{\n  "pairs": { "alice->audit": { "enabled": false, "auto_return": true } }\n}')
  expect(await pass("While it contradicts itself")).toMatchObject([{ timeout_ms: 50_000 }])
  const toast = await events.until("tui.toast.show")
  expect((toast.properties as { message: string }).message).toContain(
    "pass-over.json:2:50 pairs.alice->audit.auto_return",
  )
  expect(await pass("And again")).toMatchObject([{ timeout_ms: 50_000 }])
  await Bun.sleep(1_500)
  const shown = events.list.filter(
    (event) =>
      event.type === "tui.toast.show" && (event.properties as { message: string }).message.includes("auto_return"),
  )
  events.close()
  expect(shown).toHaveLength(1)
})

test("a file that is broken from the start stops no opencode: passes are refused with its line until it is corrected", async () => {
  await using broken = await createBroken()
  const { model, server, box } = broken.world
  const tried = async (agents: Parameters<typeof model.play>[0]["agents"]) => {
    model.play({ agents: { alice: [handover("audit", "Try it"), answerOf], ...agents } })
    return (await server.prompt({ agent: "alice", text: "Go." })).text
  }
  const refused = await tried({})
  expect(refused).toContain("E030 CONFIG_INVALID")
  expect(refused).toContain('pass-over.json:2:3 defautls: unknown setting "defautls"; did you mean `defaults`?')
  const doctor = await passOver(box, "doctor")
  expect(doctor.code).toBe(1)
  expect(doctor.out).toContain("pass-over.json:2:3")
  box.write(".opencode/pass-over.json", "{}")
  expect(await tried({ audit: back })).toContain("audit: approved")
})

async function createBroken() {
  const world = await createWorld({ preferences: '{\n  "defautls": {}\n}' })
  return { world, [Symbol.asyncDispose]: async () => expect(await endWorld(world)).toEqual([]) }
}
