import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { call, say, type ModelRequest } from "@pass-over/rehearsal"
import { createWorld, endWorld, type World } from "../support/opencode"

setDefaultTimeout(120_000)

// What a child of a child needs the user's word for: the user is asked, or the default applies. Nothing hangs.
const held = {} as { world: World }

const OPEN = { "*": "allow" }
beforeAll(async () => {
  held.world = await createWorld({
    // What is asked and allowed is looked at in the project itself.
    global: { defaults: { isolation: "none" } },
    config: {
      agent: {
        dora: { mode: "subagent", description: "Digs", prompt: "You dig.", permission: OPEN },
        wren: {
          mode: "subagent",
          description: "Does",
          prompt: "You do.",
          permission: { ...OPEN, bash: { "echo asked*": "ask" } },
        },
      },
    },
    preferences: { pairs: { "dora->wren": { gate_ttl_ms: 1_500 } } },
  })
})
afterAll(async () => {
  held.world.model.verify()
  expect(await endWorld(held.world)).toEqual([])
})

const handover = (subagent: string) =>
  call("pass_over", { subagent, objective: `Let ${subagent} do it`, reason: "test" })
const answer = (request: ModelRequest) => say(request.result("pass_over") ?? "nothing")

/** Alice asks dora, dora asks wren, and wren needs the user's word. Tells what wren's command said. */
function play() {
  const told: string[] = []
  held.world.model.play({
    agents: {
      alice: [handover("dora"), answer],
      dora: [handover("wren"), call("pass_over_return", { decision: "approved", decision_reason: "dug" })],
      wren: [
        call("bash", { command: "echo asked the user", description: "Say so" }),
        (request: ModelRequest) => (
          told.push(request.result("bash") ?? ""),
          call("pass_over_return", { decision: "approved", decision_reason: "done" })
        ),
      ],
    },
  })
  return told
}

test("in serve the question of a grandchild hangs on a session that the user sees, and their word is carried out", async () => {
  const { server } = held.world
  const told = play()
  const events = await server.events()
  const turn = server.prompt({ agent: "alice", text: "Go." })
  const { properties } = await events.until("permission.asked")
  const session = (await server.client.session.get({ sessionID: properties.sessionID })).data
  await server.client.permission.reply({ requestID: properties.id, reply: "once" })
  const done = await turn
  events.close()
  // opencode shows the questions of a session's direct children and of nobody below them.
  expect(session?.parentID).toBe(done.sessionID)
  expect(told[0]).toContain("asked the user")
  expect(done.text).toContain("dora: approved")
})

test("in serve with nobody there the default applies after the time to live", async () => {
  const { server } = held.world
  const told = play()
  const done = await server.prompt({ agent: "alice", text: "Go." })
  expect(told[0]).not.toContain("asked the user\n")
  expect(told[0]).toContain("Nobody answered within 1.5 s")
  expect(done.text).toContain("dora: approved")
  expect((await server.client.permission.list()).data).toEqual([])
})

test("in run nobody can be asked: the child is told so at once", async () => {
  const told = play()
  const ran = await held.world.box.run({ agent: "alice", prompt: "Go." })
  expect(ran.code).toBe(0)
  // opencode's own no, or ours, whoever was first.
  expect(told[0]).toMatch(/rejected|Nobody can be asked here/)
  expect(ran.stdout).toContain("dora: approved")
})
