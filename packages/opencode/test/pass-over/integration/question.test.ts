import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { call, say, type ModelRequest } from "@pass-over/rehearsal"
import { passOver } from "../support/launcher"
import { createWorld, endWorld, type World } from "../support/opencode"

setDefaultTimeout(120_000)

// What a child of a child needs the user's word for: the user is asked, or the default applies. Nothing hangs.
const held = {} as { world: World }

const OPEN = { "*": "allow" }
beforeAll(async () => {
  held.world = await createWorld({
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
  const { server, box } = held.world
  const told = play()
  const events = await server.events()
  const turn = server.prompt({ agent: "alice", text: "Go." })
  const { properties } = await events.until("permission.asked")
  const session = (await server.client.session.get({ sessionID: properties.sessionID })).data
  // It works in a tree of its own, and the question is put where it works.
  expect(session?.directory).not.toBe(box.project)
  const open = await server.client.permission.list({ directory: session!.directory })
  expect(open.data?.map(({ id }) => id)).toEqual([properties.id])
  await server.client.permission.reply({ requestID: properties.id, reply: "once", directory: session!.directory })
  const done = await turn
  events.close()
  // opencode shows the questions of a session's direct children and of nobody below them.
  expect(session?.parentID).toBe(done.sessionID)
  expect(told[0]).toContain("asked the user")
  expect(done.text).toContain("dora: approved")
})

test("what a child in a tree of its own needs the user's word for stands in the inbox too, until somebody answers anywhere", async () => {
  const { server, store, box } = held.world
  box.write(".opencode/pass-over.json", JSON.stringify({ pairs: { "dora->wren": { gate_ttl_ms: 20_000 } } }))
  const events = await server.events()
  for (const where of ["inbox", "opencode"] as const) {
    const told = play()
    const from = events.list.length
    const turn = server.prompt({ agent: "alice", text: "Go." })
    const { properties } = await events.until("permission.asked", (event) => events.list.indexOf(event) >= from)
    const find = async () => (await store.gates({ status: ["pending"] }))[0]
    for (let tries = 0; tries < 100 && !(await find()); tries += 1) await Bun.sleep(20)
    const gate = (await find())!
    expect(gate).toMatchObject({ kind: "question", directory: box.project, asked_by: "wren", default_action: "reject" })
    expect(gate.question).toBe("May wren use bash: echo asked the user?")
    const { data } = await server.client.session.get({ sessionID: properties.sessionID })
    // Whoever works in a tree still belongs to the project, and so does who works for it.
    expect((await store.find(gate.pass_over_id!))?.directory).toBe(box.project)
    expect(data!.directory).not.toBe(box.project)
    if (where === "opencode") {
      await server.client.permission.reply({ requestID: properties.id, reply: "once", directory: data!.directory })
    }
    if (where === "inbox") {
      const answered = await passOver(box, "approve", gate.gate_id)
      expect(answered.err + answered.out).not.toContain("Not done")
      expect(answered.code).toBe(0)
    }
    await turn
    expect(told[0]).toContain("asked the user")
    const [after] = await store.gates({ status: ["approved"] }).then((all) => all.filter((one) => one.key === gate.key))
    expect(after?.surface === "opencode").toBe(where === "opencode")
  }
  events.close()
  box.write(".opencode/pass-over.json", JSON.stringify({ pairs: { "dora->wren": { gate_ttl_ms: 1_500 } } }))
})

test("in serve with nobody there the default applies after the time to live", async () => {
  const { server, store, box } = held.world
  const told = play()
  const done = await server.prompt({ agent: "alice", text: "Go." })
  expect(told[0]).not.toContain("asked the user\n")
  expect(told[0]).toContain("Nobody answered within 1.5 s")
  expect(done.text).toContain("dora: approved")
  const passes = await store.list({ root_session_id: done.sessionID })
  const pass = passes.find((one) => one.subagent_id === "wren")
  const { data } = await server.client.session.get({ sessionID: pass!.child_session_id! })
  expect(data?.directory).not.toBe(box.project)
  for (const directory of [box.project, data!.directory]) {
    expect((await server.client.permission.list({ directory })).data).toEqual([])
  }
})

test("in run nobody can be asked: the child is told so at once", async () => {
  const told = play()
  const ran = await held.world.box.run({ agent: "alice", prompt: "Go." })
  expect(ran.code).toBe(0)
  // opencode's own no, or ours, whoever was first.
  expect(told[0]).toMatch(/rejected|Nobody can be asked here/)
  expect(ran.stdout).toContain("dora: approved")
})
