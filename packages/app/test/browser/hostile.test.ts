import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Browser } from "playwright-core"
import { openGate } from "../../../opencode/src/pass-over/service/gate"
import { HOSTILE, OWN } from "./support/attacks"
import { launch, open } from "./support/browser"
import { createWorld, type World } from "./support/world"

setDefaultTimeout(240_000)

let browser: Browser
let world: World

beforeAll(async () => {
  browser = await launch()
  world = await createWorld()
})

afterAll(async () => {
  await browser?.close()
  await world?.[Symbol.asyncDispose]()
})

const refused: string[] = []
const unfinished: string[] = []
let changed = 0

const filled = (text: string, other: string) => (text.trim() === "" ? other : text)

/** A file with hostile content, under a hostile name where the system allows it. */
function place(said: string, text: string, index: number): string {
  for (const name of [said, `file-${index}.txt`]) {
    try {
      if (/[/\\]/.test(name) || name.length > 100 || name !== name.toWellFormed()) continue
      writeFileSync(join(world.directory, name), text.toWellFormed())
      return name
    } catch {
      // The system does not take this name.
    }
  }
  return said
}

const agentOf = (text: string) => `a ${text.slice(0, 100)}`

/** A pass with the same hostile text in every field that a model, a file or a person can fill. */
async function plant(text: string, index: number) {
  const said = filled(text, `empty ${index}`)
  world.host.script("audit", async (child) => {
    child.tool(said.slice(0, 200), { [said.slice(0, 100)]: said }, said)
    child.think(said)
    child.say(said)
    child.say(`DECISION: ${said}\nAnswer: no\nReasoning: ${said}`)
    const path = place(said, text, index)
    const file = {
      type: "file_modification",
      path,
      old_content: text.toWellFormed(),
      new_content: `${text}\n${text}`.toWellFormed(),
      reason: said,
      confidence: "low",
    }
    const message = { type: "message", role: "assistant", content: said, visibility: "user_visible" }
    // Some names and contents are refused as a change; what is said is shown all the same.
    for (const artifacts of [[file, message], [message]]) {
      const told = await child.return({
        status: "completed",
        decision: "rejected",
        decision_reason: said,
        findings: [{ severity: "error", category: said, message: said, path: said, line: 1, suggested_fix: said }],
        recommendations: [said],
        artifacts,
      })
      if (!/^E\d{3} /.test(told)) break
    }
    child.step({})
  })
  // Refused, because nobody could hold it to such a thing: the refusal and its audit line quote it.
  if (index < OWN.length)
    await world.ask({ objective: said, constraints: [said.slice(0, 2_000)] }, { call_id: `no_${index}` })
  const sent = await world.ask(
    { objective: `${said} ${index}`, background: said, reason: said.slice(0, 2_000) },
    { agent: agentOf(text), session_id: `ses ${text.slice(0, 100)}`, call_id: `call_${index}` },
  )
  if (!sent.ok) return void refused.push(sent.refusal.message)
  const { output } = await sent.runner.outcome
  if (output.summary.change) changed += 1
  if (output.status !== "completed") unfinished.push(output.completion_reason ?? "")
  return sent.runner.pass.id
}

const ask = (text: string, index: number) =>
  openGate(world.engine, {
    key: `hostile ${index}`,
    kind: "question",
    pass: undefined,
    session_id: "ses_root",
    directory: world.directory,
    asked_by: filled(text, "x"),
    question: filled(text, "x"),
    detail: { [filled(text.slice(0, 50), "x")]: text },
    policy: filled(text, "x"),
    default_action: "reject",
    ttl_ms: 3_600_000,
  })

/** Flows with hostile text in what a file can say, and runs that ask a person with it. */
async function plantFlows() {
  const folder = join(world.directory, ".opencode", "flows")
  const texts = OWN.filter((text) => text.trim() !== "" && text.isWellFormed()).slice(0, 60)
  for (const [index, text] of texts.entries()) {
    const steps = [{ id: "ask", gate: text, items: [text] }]
    const flow = { name: `h${index}`, description: text, inputs: { x: { default: text, description: text } }, steps }
    writeFileSync(join(folder, `h${index}.json`), JSON.stringify(flow))
  }
  writeFileSync(
    join(folder, "<img src=x onerror=alert(1)>.yaml"),
    `name: ${OWN[0]}\nsteps: "<script>alert(1)</script>"`,
  )
  const runs: string[] = []
  for (const [index, text] of texts.slice(0, 10).entries()) {
    const wanted = { session_id: "ses_root", originator: "alice", by: "model" as const, model: null }
    const started = await world.flows.start({ name: `h${index}`, inputs: { x: text }, ...wanted })
    if (started.ok) runs.push(started.run.run_id)
  }
  expect(runs.length).toBeGreaterThan(5)
  return runs
}

test("there are enough attacks", () => {
  expect(new Set(OWN).size).toBeGreaterThanOrEqual(100)
  expect(HOSTILE.length).toBeGreaterThan(500)
})

test("hostile text in every field: nothing runs, nothing loads from elsewhere", async () => {
  const ids: string[] = []
  // opencode takes any name for an agent; one that it has not is refused before it is written down.
  const known = await world.host.agents()
  const named = HOSTILE.map((text) => ({ name: agentOf(text), mode: "primary" as const }))
  world.host.agents = async () => [...known, ...named]
  for (const [index, text] of HOSTILE.entries()) {
    const id = await plant(text, index)
    if (id) ids.push(id)
    if (index % 6 === 0) await ask(text, index)
  }
  expect(ids.length > 500 ? [] : refused.slice(0, 3)).toEqual([])
  expect(unfinished.length < 30 ? [] : [unfinished.length, ...unfinished.slice(0, 3)]).toEqual([])
  expect(changed).toBeGreaterThan(400)
  await world.engine.store.putPreference({
    directory: world.directory,
    key: { level: "pair", from: "alice", to: "audit" },
    before: {},
    settings: { reason: OWN.join("\n").slice(0, 4_000) },
    actor: OWN[0] ?? "",
    at: Date.now(),
  })

  const runs = await plantFlows()
  const { page, trouble } = await open(browser)
  await page.exposeFunction("caught", (what: string) => void trouble.push(`ran: ${what}`))
  await page.addInitScript(
    "for (const name of ['alert','confirm','prompt','print','open']) globalThis[name] = () => globalThis.caught(name)",
  )
  await page.goto(await world.link())
  await page.getByRole("heading", { level: 1 }).waitFor()
  const look = async (hash: string) => {
    await page.evaluate((to) => void (location.hash = to), hash)
    await page.waitForFunction(
      () => document.querySelector("main h1, main [role=alert]") !== null && !document.querySelector("main .loading"),
    )
    const odd = await page.evaluate(() =>
      [...document.querySelectorAll("#root *")].flatMap((element) => [
        ...([
          "SCRIPT",
          "IFRAME",
          "OBJECT",
          "EMBED",
          "STYLE",
          "BASE",
          "META",
          "LINK",
          "IMG",
          "VIDEO",
          "AUDIO",
          "MARQUEE",
        ].includes(element.tagName)
          ? [element.tagName]
          : []),
        ...[...element.attributes]
          .filter(({ name, value }) => name.startsWith("on") || /^\s*(javascript|data|vbscript):/i.test(value))
          .map(({ name, value }) => `${element.tagName} ${name}=${value.slice(0, 60)}`),
      ]),
    )
    // A title may hold any text; it is an attribute that nothing follows.
    expect({ hash, odd: odd.filter((one) => !/ (title|aria-label|value|datetime)=/.test(one)) }).toEqual({
      hash,
      odd: [],
    })
  }
  /** Opens every line of a transcript: what is in it is not made before. */
  const unfold = async (hash: string) => {
    await page.locator(".uses .spoken").first().waitFor()
    await page.evaluate(() => {
      for (const details of document.querySelectorAll("details")) details.open = true
    })
    await page.locator(".uses pre").first().waitFor()
    expect(await page.locator(".uses details:not(:has(.said, pre))").count()).toBe(0)
    await look(hash)
  }
  await look("#/now")
  await look("#/inbox")
  await look("#/audit")
  await look("#/flows")
  for (const id of runs) await look(`#/run/${id}`)
  await look("#/preferences?from=alice&to=audit")
  const sample = ids.filter((_, index) => index < OWN.length || index % 5 === 0)
  for (const id of sample) await look(`#/pass/${id}/outcome`)
  for (const tab of ["changes", "work", "context", "request", "timeline"])
    for (const id of ids.slice(0, 30)) {
      await look(`#/pass/${id}/${tab}`)
      if (tab === "work") await unfold(`#/pass/${id}/${tab}`)
    }
  for (const text of OWN.slice(0, 60))
    await look(
      `#/audit?text=${encodeURIComponent(text.toWellFormed())}&agent=${encodeURIComponent(text.toWellFormed())}`,
    )
  for (const text of OWN) {
    await page.evaluate((to) => void (location.hash = to), `#/${text.toWellFormed()}`)
    await page.evaluate((to) => void (location.hash = to), `#/pass/${encodeURIComponent(text.toWellFormed())}`)
  }
  await page.waitForTimeout(200)
  expect(trouble.filter((one) => !/400|404/.test(one))).toEqual([])
})

test("the watch would see a script that runs and a picture that loads", async () => {
  const { page, trouble } = await open(browser)
  await page.goto(await world.link())
  await page.evaluate(() => {
    alert(1)
    document.body.append(Object.assign(document.createElement("img"), { src: "https://evil.example/x.png" }))
  })
  await page.waitForTimeout(200)
  expect(trouble.some((one) => one.startsWith("dialog"))).toBe(true)
  expect(trouble.some((one) => one.includes("evil.example"))).toBe(true)
})
