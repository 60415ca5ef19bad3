import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { launch, open, type Watched } from "./support/browser"
import { serious } from "./support/serious"
import { fillAudit } from "./support/many"
import { CART_BEFORE, fill, LIST_BEFORE, until } from "./support/story"
import { go } from "./support/visit"
import { createWorld, type World } from "./support/world"

setDefaultTimeout(120_000)

/** More than two pages of the list. */
const MANY = 1_200

const SHOTS = join(import.meta.dir, "../../../../artifact/panel")

let browser: Browser
let world: World
let filled: Awaited<ReturnType<typeof fill>>
const opened: Watched[] = []

beforeAll(async () => {
  browser = await launch()
  world = await createWorld()
  filled = await fill(world)
})

afterAll(async () => {
  await browser?.close()
  await world?.[Symbol.asyncDispose]()
})

async function enter(options: Parameters<typeof open>[1] = {}): Promise<Watched> {
  const watched = await open(browser, options)
  opened.push(watched)
  await watched.page.goto(await world.link())
  await watched.page.getByRole("heading", { level: 1 }).waitFor()
  return watched
}

const done = async () =>
  (await world.engine.store.passes({ limit: 50 })).find(
    (row) => row.result && row.pass.objective.startsWith("Review src"),
  )?.pass.id ?? ""

async function pages(): Promise<Record<string, string>> {
  const id = await done()
  return {
    now: "#/now",
    inbox: "#/inbox",
    outcome: `#/pass/${id}/outcome`,
    changes: `#/pass/${id}/changes`,
    work: `#/pass/${id}/work`,
    context: `#/pass/${id}/context`,
    request: `#/pass/${id}/request`,
    timeline: `#/pass/${id}/timeline`,
    running: `#/pass/${filled.scout}`,
    flows: "#/flows",
    run: `#/run/${filled.run}`,
    missing: "#/pass/019a0000-0000-7000-8000-000000000001",
    audit: "#/audit",
    "audit-none": "#/audit?text=nothing-like-this",
    preferences: "#/preferences?from=alice&to=audit",
  }
}

describe("every page", () => {
  for (const [name, width, height] of [
    ["small", 360, 780],
    ["middle", 1280, 860],
    ["large", 2560, 1300],
  ] as const) {
    for (const colorScheme of ["light", "dark"] as const) {
      test(`${name}, ${colorScheme}: nothing serious for axe, nothing that sticks out, nothing that fails`, async () => {
        const { page, trouble, context } = await enter({
          viewport: { width, height },
          colorScheme,
          reducedMotion: "reduce",
        })
        mkdirSync(SHOTS, { recursive: true })
        for (const [at, hash] of Object.entries(await pages())) {
          await go(page, hash)
          expect({ at, found: await serious(page) }).toEqual({ at, found: [] })
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
          expect({ at, over: Math.max(0, over) }).toEqual({ at, over: 0 })
          await page.screenshot({ path: join(SHOTS, `${at}-${name}-${colorScheme}.png`) })
        }
        await go(page, "#/audit")
        await page.locator(".entry").first().click()
        await page.locator(".glance h2, .glance h3, .glance a").first().waitFor()
        expect(await serious(page)).toEqual([])
        await page.screenshot({ path: join(SHOTS, `glance-${name}-${colorScheme}.png`) })
        expect(trouble).toEqual([])
        await context.close()
      })
    }
  }

  test("the check would find a page that is not as it should be", async () => {
    const { page, context } = await enter()
    await page.evaluate(() => document.querySelector("main")?.append(document.createElement("button")))
    expect((await serious(page)).join(" ")).toContain("button-name")
    await context.close()
  })
})

describe("the door", () => {
  test("opens by a link once, stays open for its tab, and to nobody else", async () => {
    const link = await world.link()
    const first = await open(browser)
    await first.page.goto(link)
    await first.page.getByRole("heading", { name: "Now" }).waitFor()
    expect(first.page.url()).not.toContain("ticket")
    await first.page.reload()
    await first.page.getByRole("heading", { name: "Now" }).waitFor()
    const second = await open(browser)
    await second.page.goto(link)
    await second.page.getByText("used already or is too old").waitFor()
    expect(await second.page.content()).not.toContain("discount")
    expect(await first.context.cookies()).toEqual([])
    await first.context.close()
    await second.context.close()
  })

  test("gone while it is away, the page says so and keeps what it has; of a new server it says how to get in", async () => {
    const { page, context } = await enter()
    await page.getByText("Find every place that sets").waitFor()
    await world.stop()
    await page.getByText("Offline").waitFor()
    expect(await page.getByText("Find every place that sets").count()).toBe(1)
    await world.start()
    await page.getByText("pass-over open").waitFor()
    await page.getByText("The server was started anew").waitFor()
    expect(await page.getByText("used already or is too old").count()).toBe(0)
    expect(await page.content()).not.toContain("Find every place that sets")
    // Into the tab that is open already.
    await page.goto(await world.link())
    await page.getByText("Live", { exact: true }).waitFor()
    const sent = await world.ask({ objective: "Asked after the server came back" })
    expect(sent.ok).toBe(true)
    await page.getByText("Asked after the server came back").waitFor()
    await context.close()
  })
})

test("the first view needs less than 100 kB of compressed script", async () => {
  const { page, context } = await open(browser)
  const sizes: Promise<number>[] = []
  page.on("response", (response) => {
    if (!response.url().endsWith(".js")) return
    sizes.push(
      response
        .request()
        .sizes()
        .then((size) => size.responseBodySize),
    )
  })
  await page.goto(await world.link())
  await page.getByRole("heading", { name: "Now" }).waitFor()
  await page.locator("article").first().waitFor()
  const sum = (await Promise.all(sizes)).reduce((all, size) => all + size, 0)
  expect(sum).toBeGreaterThan(10_000)
  expect(sum).toBeLessThan(100_000)
  await context.close()
})

describe("the story", () => {
  test("a pass shows up, is spoken to, is cancelled, ends in its place, and is found in the audit", async () => {
    const { page, trouble, context } = await enter()
    const sent = await world.ask({ subagent: "scout", objective: "Map the payment module for the story" })
    if (!sent.ok) throw new Error(sent.refusal.message)
    const card = page.locator("article", { hasText: "Map the payment module" })
    await card.waitFor()
    await card.getByText(/left/).waitFor()
    await card.getByRole("button", { name: "Speak scout" }).click()
    await page.getByLabel("Your words").fill("Look at refunds too")
    await page.getByRole("button", { name: "Send" }).click()
    await until(() =>
      world.host.said.some(
        ({ text }) => text === "ada says: Look at refunds too" || text.endsWith("Look at refunds too"),
      ),
    )
    await card.getByRole("button", { name: "Cancel scout" }).click()
    await page.getByLabel(/^Why/).fill("the story goes on")
    await page.getByRole("button", { name: "Cancel the pass" }).click()
    await page.locator(".line", { hasText: "Map the payment module" }).getByText("cancelled").waitFor()
    expect(await card.count()).toBe(0)
    await page.getByRole("link", { name: "Audit", exact: true }).click()
    await page.getByLabel("Search").fill("payment module")
    await page.getByText(/^\d (entry|entries)$/).waitFor()
    await page.locator(".entry").first().click()
    await page.getByRole("link", { name: "Open the whole pass" }).click()
    await page.getByRole("heading", { name: "Map the payment module for the story" }).waitFor()
    expect(trouble).toEqual([])
    await context.close()
  })

  test("what a child is told, says and does is seen while it does it, in place, and stays", async () => {
    const step = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    world.host.script("inspector", async (child) => {
      child.think("Where to begin?")
      child.say("I look for it.\n<b>not bold</b>")
      await step.promise
      child.tool("grep", { pattern: "watched live" }, "nothing")
      child.say(`It is nowhere. ${"word ".repeat(2_000)}`)
      await end.promise
      child.say("So it is right.")
      await child.return({ status: "completed", decision: "approved", decision_reason: "seen live", findings: [] })
      child.step({})
    })
    const sent = await world.ask({ subagent: "inspector", objective: "Watch me" })
    if (!sent.ok) throw new Error(sent.refusal.message)
    const { page, trouble, context } = await enter({ viewport: { width: 1280, height: 1100 } })
    await go(page, `#/pass/${sent.runner.pass.id}/work`)
    const list = page.getByRole("list", { name: "Transcript" })
    const cursors: string[] = []
    page.on("request", (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname.endsWith("/transcript")) cursors.push(searchParams.get("cursor") ?? "")
    })
    const line = (text: string) => list.locator("li", { hasText: text })
    await line("It said").getByText("<b>not bold</b>").waitFor()
    // What it was told stands open at the top; what it thought is one line until somebody opens it.
    await line("It was told").getByRole("region").getByText("# Objective").waitFor()
    await line("It thought").locator("summary").click()
    await line("It thought").getByRole("region", { name: "It thought" }).waitFor()
    step.resolve()
    await line("watched live").waitFor()
    await line("It is nowhere.").getByText("… 2,015 more characters").waitFor()
    // More has come, and what was open is open still.
    expect(await line("It thought").locator("details[open]").count()).toBe(1)
    const shoot = async (name: string) => {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await serious(page)).toEqual([])
        expect(await page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth))).toBe(0)
        await page.screenshot({ path: join(SHOTS, `transcript-${name}-${colorScheme}.png`), fullPage: true })
      }
    }
    await shoot("running")
    await line("watched live").locator("summary").click()
    await line("watched live").getByText("nothing").waitFor()
    end.resolve()
    await line("It ended: completed").getByText("seen live").waitFor()
    const order = ["It was told", "It thought", "It said", "grep", "It said", "It said", "It ended: completed"]
    const heads = async () =>
      (await list.locator("li").allTextContents()).map((text) => order.find((head) => text.startsWith(head)) ?? text)
    await until(async () => (await heads()).length === order.length)
    expect(await heads()).toEqual(order)
    await shoot("ended")
    // What is known already was not asked for again.
    expect(cursors.length).toBeGreaterThan(1)
    expect(cursors).not.toContain("0")
    // It is the server that knows it, not the page.
    await page.reload()
    await line("So it is right.").waitFor()
    expect(await heads()).toEqual(order)
    await list.getByRole("link", { name: "Read its outcome" }).click()
    await page.getByText("seen live").first().waitFor()
    expect(trouble).toEqual([])
    await context.close()
  })

  test("a question is answered, and a preference changed that the next pass obeys, with the keyboard alone", async () => {
    const { page, trouble, context } = await enter()
    const tabTo = async (what: (page: Page) => Promise<boolean>) => {
      for (let tries = 0; tries < 120; tries += 1) {
        if (await what(page)) return
        await page.keyboard.press("Tab")
      }
      throw new Error("not reached with the keyboard")
    }
    const on = (text: string) => (page: Page) =>
      page.evaluate((text) => {
        const named = document.activeElement
        return (named?.getAttribute("aria-label") ?? named?.textContent ?? "").trim().startsWith(text)
      }, text)
    await tabTo(on("Inbox"))
    await page.keyboard.press("Enter")
    await page.getByText("May alice pass").waitFor()
    await page.keyboard.press("a")
    await until(async () => (await world.engine.store.gate(filled.gate.gate_id))?.status === "approved")
    await page.getByText("Nothing waits for you").waitFor()
    expect(await world.engine.store.gate(filled.gate.gate_id)).toMatchObject({ surface: "the panel" })

    await tabTo(on("Preferences"))
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Preferences" }).waitFor()
    await page.locator("button.cell").first().waitFor()
    const cell = async (page: Page) =>
      page.evaluate(() => {
        const element = document.activeElement
        const row = element?.closest("tr")?.querySelector("th")?.textContent
        const column = element?.closest("td")?.cellIndex ?? -1
        const head = document.querySelector(".matrix thead")?.querySelectorAll("th")[column]?.textContent
        return row === "alice" && head === "inspector"
      })
    await tabTo(cell)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "alice → inspector" }).waitFor()
    await tabTo(on("Enabled"))
    await page.keyboard.press("n")
    await page.getByText("alice → inspector: Enabled").waitFor()
    expect((await world.ask({ subagent: "inspector", objective: "Still allowed before it is saved" })).ok).toBe(true)
    await tabTo(on("Save"))
    await page.keyboard.press("Enter")
    await page.getByText("Saved. The next pass obeys it.").waitFor()
    expect(await world.ask({ subagent: "inspector", objective: "Not any more" })).toMatchObject({
      ok: false,
      refusal: { code: "E004" },
    })
    expect(trouble).toEqual([])
    await context.close()
  })

  test("a value that cannot be is refused with a sentence, and not saved", async () => {
    const { page, context } = await enter()
    await go(page, "#/preferences?from=alice&to=audit")
    await page.getByLabel("Max chain depth").click()
    await page.keyboard.press("Control+a")
    await page.keyboard.type("99")
    await page.locator(".save-bar [role=alert]").waitFor()
    expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true)
    await page.getByRole("button", { name: "Discard" }).click()
    expect(await page.locator(".save-bar").count()).toBe(0)
    await context.close()
  })

  test("what a pass proposes is accepted, applied as it was shown, and undone", async () => {
    const file = join(world.directory, "src/cart.js")
    mkdirSync(join(world.directory, "src"), { recursive: true })
    writeFileSync(file, CART_BEFORE)
    const sent = await world.ask({ objective: "Correct the discount, as a proposal" })
    if (!sent.ok) throw new Error(sent.refusal.message)
    const { output } = await sent.runner.outcome
    const { page, trouble, context } = await enter()
    await go(page, `#/pass/${sent.runner.pass.id}/outcome`)
    await page.locator(".pass-head .badge", { hasText: "not verified" }).waitFor()
    expect(output.summary.verdict?.unresolved).not.toEqual([])
    for (const { claim, why } of output.summary.verdict?.unresolved ?? [])
      await page.locator("li", { hasText: claim }).filter({ hasText: why }).first().waitFor()
    await page.getByText("I did not look at the invoices").waitFor()
    await go(page, `#/pass/${sent.runner.pass.id}/changes`)
    await page.getByText("src/cart.js").first().waitFor()
    expect(await page.getByRole("button", { name: /^Apply/ }).isDisabled()).toBe(true)
    await page.getByRole("button", { name: "Accept the file src/cart.js" }).click()
    await page.locator('.stop[data-state="accepted"]').waitFor()
    expect(readFileSync(file, "utf8")).toBe(CART_BEFORE)
    await page.getByRole("button", { name: "Apply 1 file" }).click()
    await page.getByText("Applied by").waitFor()
    expect(readFileSync(file, "utf8")).toContain("1 - discount")
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByRole("button", { name: "Apply 1 file" }).waitFor()
    expect(readFileSync(file, "utf8")).toBe(CART_BEFORE)
    expect(trouble).toEqual([])
    await context.close()
  })

  test("a change is gone through by keys alone: parts taken and declined with a reason, side by side, applied, sent back", async () => {
    const file = join(world.directory, "src/list.js")
    mkdirSync(join(world.directory, "src"), { recursive: true })
    writeFileSync(file, LIST_BEFORE)
    const sent = await world.ask({ subagent: "painter", objective: "Rewrite the list in three places" })
    if (!sent.ok) throw new Error(sent.refusal.message)
    await sent.runner.outcome
    const { page, trouble, context } = await enter()
    await go(page, `#/pass/${sent.runner.pass.id}/changes`)
    await page.getByText("part 2").first().waitFor({ state: "attached" })
    const state = (stop: string) => page.locator(`[data-stop="${stop} src/list.js"]`).getAttribute("data-state")
    const at = () => page.evaluate(() => document.activeElement?.getAttribute("data-stop") ?? "")
    for (const expected of ["", "1", "2"]) {
      await page.keyboard.press("j")
      await until(async () => (await at()) === `${expected} src/list.js`)
    }
    await page.keyboard.press("r")
    await page.getByRole("dialog").waitFor()
    await page.keyboard.type("jkarv is what I type, and no key")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await until(async () => (await state("2")) === "declined")
    await page.getByText("jkarv is what I type, and no key").waitFor()
    await page.keyboard.press("k")
    await until(async () => (await at()) === "1 src/list.js")
    await page.keyboard.press("a")
    await until(async () => (await state("1")) === "accepted")
    expect(await at()).toBe("1 src/list.js")
    expect([await state(""), await state("3")]).toEqual(["part", "open"])
    expect(await page.locator(".diff.split").count()).toBe(0)
    await page.keyboard.press("v")
    await page.locator(".diff.split").first().waitFor()
    expect(await page.locator(".diff.split").count()).toBe(3)
    for (const [name, width] of [
      ["small", 360],
      ["middle", 1280],
      ["large", 2560],
    ] as const) {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 1000 })
        expect(await serious(page)).toEqual([])
        expect(await page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth))).toBe(0)
        await page.screenshot({ path: join(SHOTS, `split-${name}-${colorScheme}.png`), fullPage: true })
      }
    }
    const press = async (name: string) => {
      for (let tries = 0; tries < 60; tries += 1) {
        if (await page.evaluate((name) => document.activeElement?.textContent?.trim() === name, name)) break
        await page.keyboard.press("Tab")
      }
      await page.keyboard.press("Enter")
    }
    await press("Send back what was declined")
    const { store } = world.engine
    await until(async () => (await store.tells(world.directory)).length > 0)
    const [told] = await store.tells(world.directory)
    expect(told).toMatchObject({ kind: "rework", actor: expect.any(String) })
    expect(told?.text).toContain("src/list.js#2: jkarv is what I type, and no key")
    const result = "audit does it again in its own session."
    await store.answer({ command_id: told?.command_id ?? "", status: "done", result, at: Date.now() })
    await page.getByText("Sent back").waitFor()
    await page.getByRole("status").getByText(result).waitFor()
    await press("Apply 1 file")
    await page.getByText("Applied by").waitFor()
    expect(readFileSync(file, "utf8")).toBe(LIST_BEFORE.replace("line 2\n", "line two\n"))
    await page.keyboard.press("v")
    expect(trouble).toEqual([])
    await context.close()
  })

  test("a flow is seen as it goes, waits for its person, is paused, goes on and ends; another is started and cancelled", async () => {
    const { page, trouble, context } = await enter()
    await go(page, `#/run/${filled.run}`)
    const box = (id: string) =>
      page.locator(".box", { has: page.locator("strong", { hasText: new RegExp(`^${id}$`) }) })
    await box("collect").getByText("done").waitFor()
    await box("check.texts").getByText("in work").waitFor()
    await page.getByRole("button", { name: "Pause" }).click()
    await page.getByRole("button", { name: "Resume" }).waitFor()
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Resume")
    filled.goOn()
    await box("check.numbers").getByText("done").waitFor()
    await box("agree").getByRole("link", { name: "Answer in the inbox" }).click()
    const question = page.locator("article", { hasText: "May this be released?" })
    await question.getByRole("button", { name: "Approve" }).click()
    await question.waitFor({ state: "detached" })
    await go(page, `#/run/${filled.run}`)
    await box("agree").getByText("done").waitFor()
    expect(await box("write").getByText("not yet").count()).toBe(1)
    await page.getByRole("button", { name: "Resume" }).click()
    await page.locator(".pass-head").getByText("completed").waitFor()
    await box("write").getByRole("link", { name: "Open its pass write" }).waitFor()
    await box("write").getByRole("button", { name: "Again from here write" }).click()
    await until(async () => (await world.flows.state(filled.run))?.state.usage.passes === 7)
    await page.locator(".pass-head").getByText("completed").waitFor()

    await page.getByRole("link", { name: "Flows" }).first().click()
    await page.getByRole("button", { name: "Start release" }).click()
    expect(await page.getByRole("button", { name: "Start", exact: true }).isDisabled()).toBe(true)
    await page.getByLabel("what").fill("the next one")
    await page.getByRole("button", { name: "Start", exact: true }).click()
    await page.getByRole("heading", { name: "release" }).waitFor()
    await page.getByText("the next one").waitFor()
    await box("agree").getByText("waiting for you").waitFor()
    await box("agree").getByRole("button", { name: "Leave out agree" }).click()
    await page.getByLabel("Why").fill("agreed on the phone")
    await page.getByRole("dialog").getByRole("button", { name: "Leave out" }).click()
    await box("agree").getByText("left out").waitFor()
    await box("agree").getByText("agreed on the phone").waitFor()
    await page.locator(".pass-head").getByText("completed").waitFor()
    await page.getByRole("link", { name: "Flows" }).first().click()
    await page.getByRole("heading", { name: "Flows", exact: true }).waitFor()
    await page.locator(".line", { hasText: "the next one" }).first().waitFor()
    // The list shows what it had until it has asked again.
    await until(async () => (await page.locator(".line", { hasText: "release" }).count()) === 2)
    expect(trouble).toEqual([])
    await context.close()
  })

  test("many entries are scrolled through to the last one, each once and in order, with few of them in the page", async () => {
    fillAudit(world.database, MANY)
    const { page, trouble, context } = await enter()
    await go(page, "#/audit?from=archivist")
    await page.locator(".entry").first().waitFor()
    const shown = () =>
      page.evaluate(() =>
        [...document.querySelectorAll(".entry-text")].map((entry) =>
          Number(/number (\d+)/.exec(entry.textContent)?.[1]),
        ),
      )
    const seen = new Set<number>()
    await until(async () => {
      const rows = await shown()
      expect(rows.length).toBeLessThan(60)
      expect(rows).toEqual(rows.toSorted((a, b) => b - a))
      for (const row of rows) seen.add(row)
      await page.evaluate(() => document.querySelector(".entries > *")?.scrollBy(0, 400))
      return rows.at(-1) === 0
    }, 60_000)
    expect(seen.size).toBe(MANY)
    await page.getByText(`${MANY.toLocaleString("en")} entries`).waitFor()
    expect(trouble).toEqual([])
    await context.close()
  })

  test("the audit is handed over as a file", async () => {
    const { page, context } = await enter()
    await go(page, "#/audit?action=returned")
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).click(),
    ])
    const lines = (await Bun.file(await download.path()).text()).trim().split("\n")
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ action: "returned", hash: expect.any(String) })
    await context.close()
  })
})
