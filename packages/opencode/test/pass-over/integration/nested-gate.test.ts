import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { call, say, type ModelRequest } from "@pass-over/rehearsal"
import { createWorld, endWorld, type World } from "../support/opencode"

setDefaultTimeout(120_000)

// A question about a pass that a child makes is the user's to answer, as one about a pass of their own agent is.
const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld({
    config: { agent: { scout: { permission: { edit: "deny", task: "deny", pass_over: { "*->inspector": "ask" } } } } },
    preferences: { pairs: { "scout->audit": { require_confirmation: true } } },
  })
})
afterAll(async () => {
  held.world.model.verify()
  expect(await endWorld(held.world)).toEqual([])
})

const handover = (subagent: string) =>
  call("pass_over", { subagent, objective: `Let ${subagent} do it`, reason: "test" })
const done = call("pass_over_return", { decision: "approved", decision_reason: "done" })

/** Alice asks scout, and scout somebody about whom the user is asked. Tells what scout read of it. */
function play(third: "audit" | "inspector", may: boolean) {
  const told: string[] = []
  held.world.model.play({
    agents: {
      alice: [handover("scout"), (request: ModelRequest) => say(request.result("pass_over") ?? "nothing")],
      scout: [handover(third), (request: ModelRequest) => (told.push(request.result("pass_over") ?? ""), done)],
      ...(may ? { [third]: [done] } : {}),
    },
  })
  return told
}

for (const [third, permission] of [
  ["audit", "pass_over_gate"],
  ["inspector", "pass_over"],
] as const) {
  for (const reply of ["reject", "once"] as const) {
    test(`${permission} of a nested pass waits for the user's ${reply === "once" ? "yes" : "no"}, where they see it`, async () => {
      const { server, store, passes, box } = held.world
      const told = play(third, reply === "once")
      const events = await server.events()
      const turn = server.prompt({ agent: "alice", text: "Go." })
      const { properties } = await events.until("permission.asked")
      expect(properties.permission).toBe(permission)
      // Long enough for anybody who answers by themselves.
      await Bun.sleep(500)
      const session = (await server.client.session.get({ sessionID: properties.sessionID })).data
      const directory = session!.directory
      const { data } = await server.client.permission.list({ directory })
      expect(data?.map(({ id }) => id)).toEqual([properties.id])
      // Who has only the project open does not see what is asked in a child's tree: it stands in the inbox in any case.
      const gates = await store.gates({ status: ["pending"] })
      expect(gates.map(({ kind, asked_by, directory: at }) => [kind, asked_by, at])).toEqual([
        [third === "audit" ? "confirmation" : "question", "scout", box.project],
      ])
      await server.client.permission.reply({ requestID: properties.id, reply, directory })
      const ended = await turn
      events.close()
      // opencode shows the questions of a session's direct children and of nobody below them.
      expect(session?.parentID).toBe(ended.sessionID)
      expect(told[0]).toMatch(reply === "once" ? new RegExp(`${third}: approved`) : /said no to|rejected by the user/)
      const made = (await passes()).filter((pass) => pass.subagent_id === third && pass.child_session_id !== null)
      expect(made).toHaveLength(reply === "once" ? 1 : 0)
      expect(ended.text).toContain("scout: approved")
    })
  }
}
