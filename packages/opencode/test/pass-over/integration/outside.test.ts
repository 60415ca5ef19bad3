import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test"
import { cpSync } from "node:fs"
import { dirname, join } from "node:path"
import { call, createModel, createSandbox, type Model, type Sandbox } from "@pass-over/rehearsal"
import { findServer } from "../../../src/server/client"
import { passOver } from "../support/launcher"
import { until } from "../support/until"
import { databaseOf, plugin, storeOf } from "../support/opencode"
import { somethingLeft } from "../../../src/left"

setDefaultTimeout(120_000)

const held = {} as { model: Model; box: Sandbox }

const FILES = { "src/total.ts": "export const total = (xs: number[]) => xs.reduce((a, b) => a - b, 0)\n" }

beforeEach(async () => {
  const model = await createModel()
  held.model = model
  held.box = await createSandbox({ model, plugins: [await plugin()], files: FILES })
})
afterEach(async () => {
  held.model.verify()
  expect(await held.box.dispose()).toEqual([])
  held.model.stop()
})

const REJECTED = {
  decision: "rejected",
  findings: [{ severity: "error", category: "correctness", message: "It subtracts.", path: "src/total.ts", line: 1 }],
}

const serving = (box: Sandbox) => box.processes().filter(({ command }) => / serve --hostname /.test(command))

describe("a pass that is started from a shell", () => {
  test("runs in the opencode that has the project open", async () => {
    const { model, box } = held
    const server = await box.serve()
    await server.client.app.agents()
    await until("opencode among the owners", async () => somethingLeft(databaseOf(box)) || undefined)
    model.play({ agents: { audit: call("pass_over_return", REJECTED) } })
    const ran = await passOver(box, "run", "audit", "Review src/total.ts", "--files", "src/total.ts", "--json")
    expect([ran.err, ran.code]).toEqual(["", 10])
    expect(ran.json()).toMatchObject({ output: { summary: { decision: "rejected", issues_found: 1 } } })
    using store = Object.assign(storeOf(box), { [Symbol.dispose]: () => store.close() })
    const [pass] = await store.list({})
    // Its session is one of opencode's own, with the child below it, and nothing was said in it.
    const { data: child } = await server.client.session.get({ sessionID: pass!.child_session_id! })
    expect(child?.parentID).toBe(pass!.session_id)
    const { data: root } = await server.client.session.get({ sessionID: pass!.session_id })
    expect(root?.title).toBe("audit: Review src/total.ts")
    expect((await server.client.session.messages({ sessionID: pass!.session_id })).data).toEqual([])
    expect(serving(box)).toHaveLength(1)
  })

  test("with a model that opencode does not have says so", async () => {
    const { box } = held
    const server = await box.serve()
    await server.client.app.agents()
    await until("opencode among the owners", async () => somethingLeft(databaseOf(box)) || undefined)
    for (const [model, said] of [
      ["rehearsal/scrpt", "opencode has no model rehearsal/scrpt; did you mean rehearsal/script?"],
      ["nobody/at-all", "opencode has no model nobody/at-all; opencode models lists those that it has"],
    ] as const) {
      const ran = await passOver(box, "run", "audit", "Review", "--model", model)
      expect([ran.code, ran.out]).toEqual([12, expect.stringContaining(said)])
      expect(ran.out).not.toMatch(/[{}]|E011: E011/)
    }
  })

  test("gets an opencode of its own where none has the project open, which goes when its passes have ended", async () => {
    const { model, box } = held
    model.play({
      agents: { audit: call("pass_over_return", { decision: "approved" }), scout: call("pass_over_return", REJECTED) },
    })
    // Two at once share it.
    const [first, second] = await Promise.all([
      passOver(box, "run", "audit", "Review src/total.ts"),
      passOver(box, "run", "scout", "Look at src/total.ts", "--json"),
    ])
    expect([first.err, first.code]).toEqual(["", 0])
    expect(first.out).toContain("audit: approved")
    expect([second.err, second.code]).toEqual(["", 10])
    using store = Object.assign(storeOf(box), { [Symbol.dispose]: () => store.close() })
    const owners = new Set((await store.list({})).map(({ owner_id }) => owner_id))
    expect(owners.size).toBe(1)
    expect(await box.leftovers(15_000)).toEqual([])
  })

  test("is taken up again where the opencode that had it in hand was killed before it began", async () => {
    const { model, box } = held
    const store = storeOf(box)
    const dead = `own_${"d".repeat(32)}` as const
    await store.enter({ owner_id: dead, pid: 1, process_start: "0", host: "nowhere", place: "nowhere" }, Date.now())
    await store.leave(dead)
    const at = Date.now()
    const start_id = `sta_${"a".repeat(32)}` as const
    await store.askStart({
      start_id,
      directory: box.project,
      session_id: null,
      named: false,
      ask: { subagent: "audit", objective: "Review src/total.ts", reason: "code_review", from: "alice" },
      actor: "ada",
      state: "pending",
      owner_id: null,
      pass_over_id: null,
      refusal: null,
      time_created: at,
      time_expires: at + 600_000,
    })
    await store.claimStart({ start_id, from: null, owner_id: dead })
    model.play({ agents: { audit: call("pass_over_return", { decision: "approved" }) } })
    const server = await box.serve()
    await server.client.app.agents()
    const outcome = await until("the outcome", async () => {
      const order = await store.start(start_id)
      return order?.pass_over_id ? store.outcome(order.pass_over_id) : undefined
    })
    expect(outcome.output.summary.decision).toBe("approved")
    expect(await store.list({})).toHaveLength(1)
    store.close()
  })

  test("is refused with what to do where the plugin is not installed", async () => {
    await using model = await createModel()
    await using box = await createSandbox({ model, files: FILES })
    const ran = await passOver(box, "run", "audit", "Review")
    expect(ran).toMatchObject({ code: 13, err: expect.stringContaining("pass-over init") })
    expect(await box.leftovers(5_000)).toEqual([])
  })
})

test("a pass is started over HTTP with curl, and its record is read as the guide says", async () => {
  const { model, box } = held
  model.play({ agents: { audit: call("pass_over_return", { decision: "approved" }) } })
  const serve = passOver(box, "serve", "--json")
  const url = await until("the server", async () => {
    const server = await findServer(join(box.data, "opencode/pass-over"))
    return server?.url
  })
  const secret = (await Bun.file(join(box.data, "opencode/pass-over/secret")).text()).trim()
  type Said = {
    start_id: string
    pass_over_id: string | null
    pass: { id: string; session_id: string }
    output: unknown
    items: { action: string; pass_over_id: string }[]
  }
  const curl = async (...argv: string[]) => {
    const child = Bun.spawn(["curl", "-sS", "-H", `Authorization: Bearer ${secret}`, ...argv], { stdout: "pipe" })
    return JSON.parse(await child.stdout.text()) as Said
  }
  const body = JSON.stringify({ directory: box.project, subagent: "audit", objective: "Review src/total.ts" })
  const json = ["-H", "Content-Type: application/json", "--data", body]
  const started = await curl("-X", "POST", `${url}/api/pass-over`, ...json)
  expect(started).toMatchObject({ subagent: "audit", refusal: null })
  const pass = await until("the outcome", async () => {
    const { pass_over_id } = await curl(`${url}/api/pass-over/starts/${started.start_id}`)
    if (!pass_over_id) return undefined
    const found = await curl(`${url}/api/pass-over/${pass_over_id}`)
    return found.output ? found.pass : undefined
  })
  const audit = await curl(
    "-X",
    "GET",
    `${url}/api/pass-over/audit?session_id=${pass.session_id}&start_time=1700000000`,
  )
  expect(audit.items.map(({ action }) => action)).toContain("returned")
  const returns = await curl("-X", "GET", `${url}/api/pass-over/returns?session_id=${pass.session_id}`)
  expect(returns.items).toMatchObject([{ pass_over_id: pass.id }])
  for (const { pid, command } of box.processes()) if (command.endsWith(" serve --json")) process.kill(pid, "SIGTERM")
  await serve
  expect(await box.leftovers(15_000)).toEqual([])
})

test("with the plugin's option serve, opencode's start brings the API and the panel, which outlive it for a while", async () => {
  const { model } = held
  model.play({ agents: {} })
  await using box = await createSandbox({ model, plugins: [[await plugin(), { serve: true }]], files: FILES })
  const server = await box.serve()
  await server.client.app.agents()
  const folder = join(box.data, "opencode/pass-over")
  const found = await until("the server", () => findServer(folder))
  expect((await fetch(`${found.url}/api/pass-over/health`)).status).toBe(401)
  expect((await fetch(found.url)).headers.get("content-type")).toContain("text/html")
  await server.stop()
  expect((await findServer(folder))?.url).toBe(found.url)
  for (const { pid, command } of box.processes()) if (/cli\.js serve/.test(command)) process.kill(pid, "SIGTERM")
  expect(await box.leftovers(5_000)).toEqual([])
})

test("of two copies of the plugin one is at work, and the user is told where both are", async () => {
  const { model, box } = held
  const copy = join(box.project, "..", "copy")
  cpSync(dirname(await plugin()), copy, { recursive: true })
  box.write(".opencode/opencode.json", JSON.stringify({ plugin: [join(copy, "server.js")] }))
  const server = await box.serve()
  const events = await server.events()
  await server.client.app.agents()
  const { properties } = await events.until("tui.toast.show")
  expect(properties.message).toContain("Pass Over is loaded twice")
  expect(properties.message).toContain(join(copy, "server.js"))
  await until("opencode among the owners", async () => somethingLeft(databaseOf(box)) || undefined)
  for (const objective of ["One", "Two", "Three"]) {
    model.play({ agents: { audit: call("pass_over_return", { decision: "approved" }) } })
    expect((await passOver(box, "run", "audit", objective)).code).toBe(0)
  }
})
