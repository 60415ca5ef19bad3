import { describe, expect, test } from "bun:test"
import { mkdirSync, realpathSync, symlinkSync } from "node:fs"
import type { AuditLine } from "../../src/pass-over/domain/audit-log"
import type { PassID } from "../../src/pass-over/domain/id"
import type { PassSummary } from "../../src/server/schema"
import * as Schema from "../../src/server/schema"
import * as Preference from "../../src/server/schema-preference"
import { Transcript } from "../../src/server/schema-transcript"
import { createEngineWorld, type EngineWorld } from "../pass-over/support/engine"
import { outcomeOf, started, VERDICT } from "../pass-over/support/drive"
import { createFolder } from "../pass-over/support/folder"
import { BASE, createTestServer, type TestServer } from "./support/server"

type World = { server: TestServer; world: EngineWorld } & Disposable

/** A server, and an opencode process with a scripted host on the same database. */
function scene(): World {
  const server = createTestServer()
  const world = createEngineWorld({ path: server.path })
  world.host.script("audit", async (child) => {
    child.tool("read", { filePath: "src/total.ts" }, "export const total = 1")
    await child.return({
      status: "completed",
      ...VERDICT,
      findings: [{ severity: "warning", category: "style", message: "long line" }],
    })
    child.step({ input: 100, output: 20, cost: 0.01 })
  })
  world.host.script("scout", async (child) => {
    await child.wait(60_000)
  })
  return {
    server,
    world,
    [Symbol.dispose]: () => {
      world[Symbol.dispose]()
      server[Symbol.dispose]()
    },
  }
}

const NAMES = ["apples", "pears", "plums", "cherries", "figs", "dates", "limes"]
const objective = (index: number) => `Look at the ${NAMES[index]}`

async function done(world: EngineWorld, count: number) {
  for (let index = 0; index < count; index += 1) {
    const runner = await started(world, { subagent: "audit", objective: objective(index) })
    await outcomeOf(world, runner)
  }
}

type Page = { items: PassSummary[]; next: string | null }

describe("passes", () => {
  test("are listed a page at a time, each once, the newest first", async () => {
    using made = scene()
    await done(made.world, 7)
    const seen: string[] = []
    let next: string | null = null
    do {
      const page: Page = Schema.PassPage.parse(await made.server.get(`?limit=3${next ? `&cursor=${next}` : ""}`))
      seen.push(...page.items.map((item) => item.objective))
      next = page.next
    } while (next)
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map(objective))
  })

  test("are found by session, agents, status, outcome, verdict, time and words", async () => {
    using made = scene()
    await done(made.world, 2)
    const all = await made.server.get<Page>("")
    const [first] = all.items
    if (!first) throw new Error("no pass")
    const count = async (query: string) => (await made.server.get<Page>(`?${query}`)).items.length
    const cases: Record<string, number> = {
      [`session_id=${first.session_id}`]: 2,
      "session_id=ses_other": 0,
      "agent=alice": 2,
      "agent=audit": 2,
      "agent=scout": 0,
      "originating_agent=alice": 2,
      "originating_agent=audit": 0,
      "subagent=audit": 2,
      "status=returned": 2,
      "status=returned,processed": 2,
      "status=returned&status=processed": 2,
      "status=waiting_for_return": 0,
      "outcome=completed": 2,
      "outcome=failed": 0,
      "decision=approved": 2,
      "decision=rejected,blocked": 0,
      "verdict=UNVERIFIED": 2,
      "verdict=VERIFIED,BLOCKED": 0,
      [`start_time=${first.time_created + 1}`]: 0,
      [`end_time=${first.time_created}`]: 2,
      "start_time=2020-01-01": 2,
      "text=PEARS": 1,
      "text=look%20pears": 1,
      "text=pears%20apples": 0,
      "text=the%20long": 2,
      "text=%25": 0,
      "text=p_ars": 0,
      [`directory=${encodeURIComponent(first.directory)}`]: 2,
      "directory=/elsewhere": 0,
      [`trace_id=${first.trace_id}`]: 1,
    }
    for (const [query, expected] of Object.entries(cases)) {
      expect({ query, found: await count(query) }).toEqual({ query, found: expected })
    }
  })

  test("show all that is known of one", async () => {
    using made = scene()
    await done(made.world, 1)
    const [item] = (await made.server.get<Page>("")).items
    const detail = Schema.PassDetail.parse(await made.server.get(`/${item?.id}`))
    expect(detail.output?.summary.decision).toBe("approved")
    expect(detail.usage).toMatchObject({ input: 100, output: 20, cost: 0.01 })
    expect(detail.audit.map((line) => line.action)).toEqual(["requested", "dispatched", "returned"])
    expect(detail.events.map((event) => event.type)).toContain("pass.artifact")
    expect(detail.manifest).not.toBeNull()
    expect(detail.chain.map((pass) => pass.id)).toEqual([item?.id as PassID])
    expect(Schema.PassContext.parse(await made.server.get(`/${item?.id}/context`)).work_context.objective).toBe(
      objective(0),
    )
  })

  test("tell what their child was told, said and did, a page at a time, while it runs and afterwards", async () => {
    using made = scene()
    made.world.host.script("audit", async (child) => {
      child.say(`I read <b>it</b>. ${"word ".repeat(2_000)}`)
      child.tool("read", { filePath: "src/total.ts" }, "export const total = 1")
      await child.wait(1_000)
      child.say("It is right.")
      await child.return({ status: "completed", ...VERDICT })
      child.step({})
    })
    const runner = await started(made.world, { subagent: "audit", objective: "Look at the total" })
    await made.world.clock.advance(500)
    const path = `/${runner.pass.id}/transcript`
    const read = async (query: string) => Transcript.parse(await made.server.get(`${path}?${query}`))
    const running = await read("")
    expect(running).toMatchObject({
      items: [
        { kind: "told", text: expect.stringContaining("Look at the total") },
        { kind: "said", agent: "audit", text: expect.stringMatching(/^I read <b>it<\/b>\. word /), more: 2_018 },
        { kind: "tool", tool: "read", failed: false, output: "export const total = 1", output_more: 0 },
      ],
      next: null,
    })
    await outcomeOf(made.world, runner)
    await made.world.clock.advance(2_000)
    // From the last line that is known: what has come since.
    const last = running.items.at(-1)?.seq
    expect((await read(`cursor=${last}`)).items).toMatchObject([{ kind: "said", text: "It is right." }])
    const seqs: number[] = []
    let next: string | null = "0"
    while (next) {
      const page: Awaited<ReturnType<typeof read>> = await read(`limit=1&cursor=${next}`)
      expect(page.items).toHaveLength(1)
      seqs.push(...page.items.map(({ seq }) => seq))
      next = page.next
    }
    expect(seqs).toEqual((await read("limit=1000")).items.map(({ seq }) => seq))
    expect(seqs).toHaveLength(4)
    // It is no part of what happened to the pass, which is asked for all the time.
    const detail = Schema.PassDetail.parse(await made.server.get(`/${runner.pass.id}`))
    expect(JSON.stringify(detail.events)).not.toContain("It is right.")
    expect((await made.server.ask(`${BASE}${path}?cursor=x`)).status).toBe(400)
    expect((await made.server.ask(`${BASE}/019a0000-0000-7000-8000-000000000001/transcript`)).status).toBe(404)
  })

  test("say how far they are while they run, and are cancelled from here", async () => {
    using made = scene()
    const runner = await started(made.world, { subagent: "scout", objective: "Find it" })
    await made.world.clock.advance(500)
    const [running] = (await made.server.get<Page>("?status=waiting_for_return")).items
    expect(running?.live).toMatchObject({ phase: "working", step: 1, waits: 0 })
    expect((running?.live?.deadline_at ?? 0) - made.world.clock.now()).toBe(299_500)
    const cancelling = made.server.ask(`${BASE}/${runner.pass.id}/cancel`, {
      method: "POST",
      body: JSON.stringify({ reason: "not needed" }),
    })
    const { attend } = await import("../../src/pass-over/service/command")
    await Bun.sleep(20)
    await attend(made.world.engine)
    const answer = await cancelling
    expect(await answer.json()).toEqual({ state: "done", text: "Cancelled." })
    await outcomeOf(made.world, runner)
    const again = await made.server.ask(`${BASE}/${runner.pass.id}/cancel`, { method: "POST", body: "{}" })
    expect(again.status).toBe(409)
    expect(await again.json()).toMatchObject({ error: { code: "E040" } })
    expect((await made.server.get<Page>("?status=cancelled")).items[0]?.live).toBeNull()
  })
})

describe("what was written down", () => {
  test("the guide's two questions are answered as they are asked", async () => {
    using made = scene()
    await done(made.world, 2)
    const audit = Schema.AuditPage.parse(await made.server.get("/audit?session_id=ses_root&start_time=1700000000"))
    expect(audit.items).toHaveLength(6)
    expect(audit.items.map((line) => line.action).slice(0, 3)).toEqual(["returned", "dispatched", "requested"])
    const returns = Schema.ReturnPage.parse(await made.server.get("/returns?session_id=ses_root"))
    expect(returns.items.map((item) => item.status)).toEqual(["returned", "returned"])
  })

  test("a return context says until when, what is pending in it, and what went wrong (§4.1)", async () => {
    using made = scene()
    const { world, server } = made
    const look = async () => Schema.ReturnPage.parse(await server.get("/returns?session_id=ses_root")).items
    const runner = await started(world, { subagent: "scout", objective: objective(0), timeout_ms: 90_000 })
    await world.clock.advance(500)
    const [waiting] = await look()
    expect(waiting).toMatchObject({ status: "waiting_for_return", return_deadline: runner.pass.time_created + 90_000 })
    expect(waiting).not.toHaveProperty("pending_work_output")

    let tries = 0
    world.host.script("inspector", async (child) => {
      tries += 1
      if (tries === 1) return { failure: { code: "E011", message: "the provider hung up" } }
      await child.return({ status: "completed", ...VERDICT, findings: ["it leaks"] })
      child.step()
      return undefined
    })
    const held = await started(world, {
      subagent: "inspector",
      objective: objective(1),
      override: { auto_return: false, auto_review: false },
    })
    await outcomeOf(world, held)
    await world.clock.until(() => world.host.notified.length > 0)
    const [context] = await look()
    const [gate] = await world.engine.store.gates({ status: ["pending"] })
    expect(context).toMatchObject({
      status: "returned",
      return_deadline: gate?.time_expires,
      pending_work_output: { work_id: held.pass.id, summary: { findings: ["it leaks"] }, return_to: "alice" },
      processing_errors: ["E011 the provider hung up"],
    })
    await world.engine.store.release(held.pass.id)
    await world.engine.store.delivered([{ pass_over_id: held.pass.id, message_id: null, at: 1 }])
    expect((await look())[0]).not.toHaveProperty("pending_work_output")
  })

  test("audit lines come a page at a time, each once, and all of them in an export", async () => {
    using made = scene()
    await done(made.world, 5)
    const seen: string[] = []
    let next: string | null = null
    do {
      const page: { items: AuditLine[]; next: string | null } = Schema.AuditPage.parse(
        await made.server.get(`/audit?limit=4${next ? `&cursor=${next}` : ""}`),
      )
      seen.push(...page.items.map((line) => `${line.session_id} ${line.seq}`))
      next = page.next
    } while (next !== null)
    expect(new Set(seen).size).toBe(15)
    expect(seen).toHaveLength(15)
    const answer = await made.server.ask(`${BASE}/audit/export?action=returned`)
    const lines = (await answer.text())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { action: string })
    expect(lines.map((line) => line.action)).toEqual(Array(5).fill("returned"))
  })

  test("sums add up", async () => {
    using made = scene()
    await done(made.world, 3)
    const sums = Schema.Statistics.parse(await made.server.get("/stats"))
    expect(sums).toMatchObject({
      passes: 3,
      running: 0,
      refused: 0,
      tokens: 360,
      by_status: { completed: 3 },
      by_decision: { approved: 3 },
      by_verdict: { UNVERIFIED: 3 },
    })
    expect(sums.cost).toBeCloseTo(0.03)
    expect(sums.pairs).toMatchObject([{ from: "alice", to: "audit", passes: 3, completed: 3 }])
    expect((await made.server.get<{ items: unknown[] }>("/projects")).items).toHaveLength(1)
  })
})

describe("preferences", () => {
  const DIRECTORY = "directory=/project"

  test("hold for every pair with their sources, and a change is shown before it is stored", async () => {
    using made = scene()
    const matrix = Preference.Matrix.parse(await made.server.get(`/preferences?${DIRECTORY}`))
    expect(matrix.pairs.map(({ from, to }) => `${from}->${to}`)).toContain("alice->audit")
    const put = (query: string, body: unknown) =>
      made.server.ask(`${BASE}/preferences/pairs/alice-%3Eaudit?${DIRECTORY}${query}`, {
        method: "PUT",
        body: JSON.stringify(body),
      })
    const shown = Preference.Edited.parse(await (await put("&dry_run=true", { timeout_ms: 42_000 })).json())
    expect(shown).toMatchObject({
      saved: false,
      changes: [{ from: "alice", to: "audit", setting: "timeout_ms", before: 600_000, after: 42_000 }],
    })
    const value = async () => {
      const pair = Preference.Explanation.parse(
        await made.server.get(`/preferences/resolve?${DIRECTORY}&from=alice&to=audit`),
      )
      return pair.settings.find((one) => one.setting === "timeout_ms")
    }
    expect(await value()).toMatchObject({ value: 600_000, source: { layer: "agent" } })
    expect(await (await put("", { timeout_ms: 42_000 })).json()).toMatchObject({ saved: true })
    expect(await value()).toMatchObject({ value: 42_000, source: { layer: "pair", origin: "stored" } })
    const refused = await put("", { timeout_ms: "soon" })
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({ error: { code: "E030" } })
    const dropped = await made.server.ask(`${BASE}/preferences/pairs/alice-%3Eaudit?${DIRECTORY}`, { method: "DELETE" })
    expect(await dropped.json()).toMatchObject({ saved: true, changes: [{ after: 600_000 }] })
    expect(await value()).toMatchObject({ value: 600_000 })
  })

  test("of one pair, one subagent and of all are read as they are stored, and are nothing where nothing is", async () => {
    using made = scene()
    for (const [path, key] of [
      ["pairs/alice-%3Eaudit", { level: "pair", from: "alice", to: "audit" }],
      ["subagents/audit", { level: "subagent", subagent: "audit" }],
      ["defaults", { level: "defaults" }],
    ] as const) {
      const read = async () =>
        Preference.StoredGroup.parse(await made.server.get(`/preferences/${path}?${DIRECTORY}`)) as unknown
      const nothing = { key, settings: {}, created_at: null, updated_at: null, updated_by: null }
      expect(await read()).toEqual(nothing)
      const set = key.level === "subagent" ? { can_modify_files: false } : { timeout_ms: 42_000 }
      await made.server.ask(`${BASE}/preferences/${path}?${DIRECTORY}`, { method: "PUT", body: JSON.stringify(set) })
      expect(await read()).toMatchObject({ key, settings: set, updated_by: expect.any(String) })
    }
    const typo = await made.server.ask(`${BASE}/preferences/pairs/alice?${DIRECTORY}`)
    expect(typo.status).toBe(400)
  })

  test("that are stored here are obeyed by the next pass in another process", async () => {
    using made = scene()
    await made.server.ask(`${BASE}/preferences?${DIRECTORY}`, {
      method: "PUT",
      body: JSON.stringify({
        key: { level: "pair", from: "alice", to: "audit" },
        set: { enabled: false, reason: "not now" },
      }),
    })
    made.world.preferences.push({
      origin: "stored",
      path: "the stored preferences",
      preferences: await made.world.engine.store.preferences("/project"),
    })
    const sent = await made.world.ask({ subagent: "audit" })
    expect(sent).toMatchObject({ ok: false, refusal: { code: "E004" } })
  })
})

test("a project is the same however its folder is spelled", async () => {
  using made = scene()
  using folder = createFolder()
  mkdirSync(folder.at("shop"))
  symlinkSync(folder.at("shop"), folder.at("link"))
  const body = JSON.stringify({ enabled: false })
  for (const directory of [`${folder.at("shop")}/`, `${folder.at("shop")}/.`, folder.at("link")]) {
    const put = `${BASE}/preferences/pairs/alice-%3Eaudit?directory=${encodeURIComponent(directory)}`
    expect((await made.server.ask(put, { method: "PUT", body })).status).toBe(200)
    const stored = await made.world.engine.store.preferences(realpathSync(folder.at("shop")))
    expect(stored.pairs?.["alice->audit"]).toMatchObject({ enabled: false })
    expect((await made.server.ask(put, { method: "DELETE" })).status).toBe(200)
  }
  await done(made.world, 1)
  const { items } = Schema.PassPage.parse(await made.server.get(`?directory=${encodeURIComponent("/project/")}`))
  expect(items).toHaveLength(1)
})

test("what is not known is said to be so, and a question has words", async () => {
  using made = scene()
  const id = "01a1f432-87a2-7000-8ca7-5c7e3836242b"
  expect((await made.server.ask(`${BASE}/${id}/changes`)).status).toBe(404)
  const body = JSON.stringify({ verdict: "question", note: " " })
  const asked = await made.server.ask(`${BASE}/inbox/gat_${"0".repeat(32)}`, { method: "POST", body })
  expect([asked.status, await asked.json()]).toMatchObject([400, { error: { message: "note: a question has words." } }])
})
