import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { alive } from "../../src/identity"
import { createFlows } from "../../src/pass-over/service/flow"
import { catalogOf } from "../../src/flow/catalog"
import * as Schema from "../../src/server/schema-flow"
import { createEngineWorld } from "../pass-over/support/engine"
import { leaves, memoryFiles } from "../pass-over/support/flow"
import { BASE, createTestServer } from "./support/server"

const FLOW = `
name: two
description: Two steps
inputs:
  what: { description: On what }
  how: { default: well }
steps:
  - { id: first, agent: audit, objective: "Look at {{ inputs.what }}" }
  - { id: ask, gate: "Go on?", items: ["It is looked at"] }
  - { id: second, agent: scout, objective: Look again, when: steps.first.passed }
`

/** A server, and beside it an opencode that has the project open as soon as it is told to look. */
function scene() {
  const server = createTestServer()
  const world = createEngineWorld({ path: server.path })
  const directory = join(server.folder, "project")
  mkdirSync(join(directory, ".opencode/flows"), { recursive: true })
  writeFileSync(join(directory, ".opencode/flows/two.yaml"), FLOW)
  writeFileSync(join(directory, ".opencode/flows/bad.yaml"), "name: bad\nsteps: 7\n")
  for (const agent of ["audit", "scout"]) world.host.script(agent, async (child) => void (await leaves(child)))
  const project = { ...world.project, directory }
  const flows = createFlows(world.engine, project, {
    files: memoryFiles(),
    catalog: async () => catalogOf(directory),
    session: async () => "ses_made",
  })
  const post = (path: string, body: unknown) =>
    server.ask(`${BASE}${path}`, { method: "POST", body: JSON.stringify(body) })
  return {
    server,
    world,
    directory,
    flows,
    post,
    start: async () =>
      Schema.RunSummary.parse(await (await post("/flows", { directory, name: "two", inputs: { what: "it" } })).json()),
    run: async (id: string) => Schema.Run.parse(await server.get(`/runs/${id}`)),
    /** What an opencode does when the database has changed. */
    look: async () => {
      await flows.attend(alive)
      await flows.recover(alive)
    },
    rested: async (id: string) => {
      const found = { rested: false }
      void flows.rest(id).then(() => (found.rested = true))
      await world.clock.until(() => found.rested)
    },
    [Symbol.dispose]: () => {
      world[Symbol.dispose]()
      server[Symbol.dispose]()
    },
  }
}

test("the flows of a project are listed with what they need, and files that are not in order with what is wrong", async () => {
  using made = scene()
  const { items, faults } = Schema.Flows.parse(
    await made.server.get(`/flows?directory=${encodeURIComponent(made.directory)}`),
  )
  const two = items.find(({ name }) => name === "two")
  expect(two?.inputs).toEqual([
    { name: "what", description: "On what", default: null, required: true },
    { name: "how", description: null, default: "well", required: false },
  ])
  expect(two?.nodes.map(({ id, kind, mark, conditional }) => [id, kind, mark, conditional])).toEqual([
    ["first", "pass", "pending", false],
    ["ask", "gate", "pending", false],
    ["second", "pass", "pending", true],
  ])
  expect(items.map(({ name }) => name)).toContain("review")
  expect(faults.map(({ path }) => path.endsWith("bad.yaml"))).toEqual([true])
  expect((await made.server.ask(`${BASE}/flows?directory=not/absolute`)).status).toBe(400)
})

test("a run that is started here is carried by an opencode of the project, and shown as it goes", async () => {
  using made = scene()
  const begun = await made.start()
  expect(begun).toMatchObject({ flow: "two", status: "running", carried: false, started_by: "person" })
  expect(made.server.carried).toEqual([begun.run_id])
  expect((await made.run(begun.run_id)).nodes[0]?.mark).not.toBe("done")
  await made.look()
  await made.rested(begun.run_id)
  const waiting = await made.run(begun.run_id)
  expect(waiting).toMatchObject({ status: "waiting", carried: true, session_id: "ses_made", step: 2, steps: 3 })
  expect(waiting.usage.passes).toBe(1)
  expect(waiting.nodes[0]?.result?.pass_over_id).toEqual(expect.any(String))
  expect(waiting.nodes[1]).toMatchObject({ mark: "waiting", waiting: [{ why: "gate" }] })
  expect(waiting.nodes[2]?.mark).toBe("pending")
})

test("a run is paused, goes on, loses a step for a reason, is cancelled and done again; and what makes no sense is refused", async () => {
  using made = scene()
  const { run_id } = await made.start()
  await made.look()
  await made.rested(run_id)
  const order = async (what: string, body: unknown = {}) => {
    const asked = made.post(`/runs/${run_id}/${what}`, body)
    const told = { over: false }
    void asked.finally(() => (told.over = true))
    while (!told.over) {
      await made.look()
      await Bun.sleep(5)
    }
    return asked
  }
  expect((await order("resume")).status).toBe(409)
  expect(await (await order("pause")).json()).toMatchObject({ state: "done" })
  expect((await made.run(run_id)).status).toBe("paused")
  expect((await order("resume")).status).toBe(200)
  expect((await order("skip", { step: "ask" })).status).toBe(400)
  expect((await order("skip", { step: "asq", reason: "x" })).status).toBe(404)
  expect((await order("skip", { step: "second", reason: "once is enough" })).status).toBe(200)
  expect((await order("cancel", { reason: "over" })).status).toBe(200)
  expect(await made.run(run_id)).toMatchObject({ status: "cancelled" })
  expect((await order("pause")).status).toBe(409)
  expect((await order("retry", { step: "first" })).status).toBe(200)
  await made.rested(run_id)
  expect((await made.run(run_id)).usage.passes).toBe(2)
})

test("runs are listed a page at a time, of one flow or of all", async () => {
  using made = scene()
  const ids = [await made.start(), await made.start(), await made.start()].map(({ run_id }) => run_id).toReversed()
  const first = Schema.RunPage.parse(await made.server.get("/runs?limit=2"))
  expect(first.items.map(({ run_id }) => run_id)).toEqual(ids.slice(0, 2))
  const second = Schema.RunPage.parse(await made.server.get(`/flows/two/runs?limit=2&cursor=${first.next}`))
  expect(second).toMatchObject({ items: [{ run_id: ids[2] }], next: null })
  expect(Schema.RunPage.parse(await made.server.get("/flows/other/runs")).items).toEqual([])
  expect((await made.server.ask(`${BASE}/runs/run_${"0".repeat(32)}`)).status).toBe(404)
  expect((await made.post("/flows", { directory: made.directory, name: "two", inputs: {} })).status).toBe(422)
})
