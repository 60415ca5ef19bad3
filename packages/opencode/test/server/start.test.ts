import { describe, expect, test } from "bun:test"
import { attendStarts } from "../../src/pass-over/service/start"
import { createEngineWorld } from "../pass-over/support/engine"
import { BASE, createTestServer, type TestServer } from "./support/server"

const post = (server: TestServer, body: unknown) => server.ask(BASE, { method: "POST", body: JSON.stringify(body) })

type Answer = { start_id: string; state: string; pass_over_id: string | null; error: { code: string; message: string } }
const said = async (answer: Response) => (await answer.json()) as Answer

const ask = (server: TestServer, more: Record<string, unknown> = {}) => ({
  directory: server.folder,
  subagent: "audit",
  objective: "Review the totals",
  ...more,
})

/** An opencode on the server's database that has its folder open. */
function opencode(server: TestServer) {
  const world = createEngineWorld({ owner: "2", seed: 4_000, path: server.path })
  world.project.directory = server.folder
  world.engine.projects.set(server.folder, world.project)
  world.host.script("audit", async (child) => child.told)
  const timer = setInterval(() => void attendStarts(world.engine, () => "alive").catch(() => {}), 10)
  return Object.assign(world, {
    [Symbol.dispose]: () => {
      clearInterval(timer)
      world.engine.store.close()
    },
  })
}

describe("a pass that is started over HTTP", () => {
  test("is taken on, and its id is told where an opencode has the project open", async () => {
    using server = createTestServer()
    using world = opencode(server)
    const answer = await post(server, ask(server, { from: "build", constraints: ["read_only"], timeout_ms: 60_000 }))
    expect(answer.status).toBe(202)
    const started = await said(answer)
    expect(started).toMatchObject({ state: "started", subagent: "audit", from: "build", session_id: "ses_made1" })
    expect(world.engine.running.all().map(({ pass }) => pass)).toMatchObject([
      { id: started.pass_over_id!, originating_agent_id: "build", constraints: ["read_only"], timeout_ms: 60_000 },
    ])
    expect(await server.get(`/starts/${started.start_id}`)).toMatchObject({ pass_over_id: started.pass_over_id })
  })

  test("is remembered where none has, and one is asked for", async () => {
    using server = createTestServer()
    const answer = await post(server, ask(server, { session_id: "ses_named" }))
    expect(answer.status).toBe(202)
    const started = await said(answer)
    expect(started).toMatchObject({ state: "pending", pass_over_id: null, session_id: "ses_named", named: true })
    expect(server.summoned).toMatchObject([{ start_id: started.start_id, directory: server.folder }])
  })

  test("is refused with the rule that did it", async () => {
    using server = createTestServer()
    using _world = opencode(server)
    const answer = await post(server, ask(server, { subagent: "adit" }))
    expect(answer.status).toBe(422)
    expect((await said(answer)).error).toMatchObject({ code: "E001" })
  })

  test.each([
    [{ subagent: "" }, /subagent/],
    [{ objective: " " }, /objective/],
    [{ directory: "relative" }, /directory/],
    [{ directory: "/nowhere/at/all" }, /directory/],
    [{ timeout_ms: -1 }, /timeout_ms/],
    [{ override: { max_chain_depth: "deep" } }, /max_chain_depth/],
    [{ surprise: true }, /surprise/],
  ])("is not taken on with %j", async (more, where) => {
    using server = createTestServer()
    const answer = await post(server, ask(server, more))
    expect(answer.status).toBe(400)
    expect((await said(answer)).error.message).toMatch(where)
    expect(server.summoned).toEqual([])
  })

  test("is unknown under another id", async () => {
    using server = createTestServer()
    expect((await server.ask(`${BASE}/starts/sta_${"0".repeat(32)}`)).status).toBe(404)
    expect((await server.ask(`${BASE}/starts/nonsense`)).status).toBe(400)
  })
})
