import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import type { Browser, Page } from "playwright-core"
import { answerGate, openGate } from "../../../opencode/src/pass-over/service/gate"
import { launch, open, type Watched } from "./support/browser"
import { fillAudit } from "./support/many"
import { serious } from "./support/serious"
import { fill, until } from "./support/story"
import { go } from "./support/visit"
import { createWorld, type World } from "./support/world"

// What somebody types and where their hand is belongs to them: nothing that happens elsewhere moves it or takes it away.

setDefaultTimeout(60_000)

let browser: Browser
let world: World
let filled: Awaited<ReturnType<typeof fill>>

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
  await watched.page.goto(await world.link())
  await watched.page.getByRole("heading", { level: 1 }).waitFor()
  return watched
}

/** Slow enough for everything that a letter sets off to have happened before the next. */
const SLOWLY = { delay: 60 }

const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement
    return (element?.getAttribute("aria-label") ?? element?.textContent ?? "").trim()
  })

describe("the inbox", () => {
  const ask = async (...names: string[]) => {
    const gates: Record<string, string> = {}
    for (const name of names) {
      const { gate } = await openGate(world.engine, {
        key: `hand ${name}`,
        kind: "question",
        pass: undefined,
        session_id: "ses_root",
        directory: world.directory,
        asked_by: "alice",
        question: `Question ${name}?`,
        detail: {},
        policy: "a test",
        default_action: "reject",
        ttl_ms: 3_600_000,
      })
      gates[name] = gate.gate_id
    }
    return gates
  }
  const answered = async (id: string | undefined) => (await world.engine.store.gate(id ?? ""))?.status
  const answer = (id: string | undefined) =>
    answerGate(world.engine, id ?? "", { verdict: "reject", note: null, by: "ada", surface: "the command line" })
  const card = (page: Page, name: string) => page.locator("article.question", { hasText: `Question ${name}?` })

  test("a note stays under the hand and with its question, whatever becomes of the others and of it", async () => {
    const { first, second, third } = await ask("first", "second", "third")
    const { page, trouble, context } = await enter()
    await go(page, "#/inbox")
    const note = card(page, "third").locator("textarea")
    await note.click()
    await page.keyboard.type("ja, are all r", SLOWLY)
    await answer(first)
    await card(page, "first").waitFor({ state: "detached" })
    await page.keyboard.type("eady? ja", SLOWLY)
    expect(await note.inputValue()).toBe("ja, are all ready? ja")
    await answer(third)
    await card(page, "third").getByText("does not wait any more").waitFor()
    expect(await serious(page)).toEqual([])
    await page.keyboard.type("r a", SLOWLY)
    expect(await note.inputValue()).toBe("ja, are all ready? jar a")
    expect(await card(page, "third").getByRole("button", { name: "Approve" }).count()).toBe(0)
    await card(page, "third").getByRole("button", { name: "Close" }).click()
    await card(page, "third").waitFor({ state: "detached" })
    expect([await answered(second), await answered(filled.gate.gate_id)]).toEqual(["pending", "pending"])
    await answer(second)
    expect(trouble).toEqual([])
    await context.close()
  })

  test("a key answers the question in hand, once, and no other", async () => {
    const gates = await ask("one", "two", "three", "four")
    const { page, trouble, context } = await enter()
    await go(page, "#/inbox")
    await card(page, "two").focus()
    await answer(gates.one)
    await card(page, "one").waitFor({ state: "detached" })
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Question two?")
    for (let times = 0; times < 3; times += 1) await page.keyboard.down("a")
    await card(page, "two").waitFor({ state: "detached" })
    for (let times = 0; times < 3; times += 1) await page.keyboard.down("a")
    await page.keyboard.up("a")
    await page.keyboard.press("a")
    await page.keyboard.press("j")
    await until(() => page.evaluate(() => document.activeElement?.textContent?.includes("Question three?") === true))
    await page.keyboard.press("a")
    await card(page, "three").waitFor({ state: "detached" })
    const names = ["one", "two", "three", "four"]
    expect(await Promise.all(names.map((name) => answered(gates[name])))).toEqual([
      "rejected",
      "approved",
      "approved",
      "pending",
    ])
    await answer(gates.four)
    expect(trouble).toEqual([])
    await context.close()
  })
})

describe("the preferences", () => {
  const editor = async (page: Page) => go(page, "#/preferences?from=alice&to=audit")
  const type = async (page: Page, name: string, text: string) => {
    await page.getByLabel(name, { exact: true }).click()
    await page.keyboard.press("Control+a")
    await page.keyboard.type(text, SLOWLY)
    expect(await focused(page)).toBe(name)
  }

  test("are typed letter by letter, and stored as they were typed", async () => {
    const { page, trouble, context } = await enter()
    await editor(page)
    const grant = '[{ "permission": "bash", "pattern": "ls" }]'
    await type(page, "Timeout", "90000")
    await type(page, "Max cost", "0.5")
    await type(page, "Constraints", "read_only\nno_network")
    await type(page, "Grant", grant)
    for (const [name, text] of [
      ["Timeout", "90000"],
      ["Max cost", "0.5"],
      ["Constraints", "read_only\nno_network"],
      ["Grant", grant],
    ] as const)
      expect(await page.getByLabel(name, { exact: true }).inputValue()).toBe(text)
    await page.locator(".preview", { hasText: "4 changes" }).getByText("1 min 30 s").waitFor()
    await page.getByRole("button", { name: "Save" }).focus()
    await page.keyboard.press("Enter")
    await page.locator(".save-bar").getByText("Saved. The next pass obeys it.").waitFor()
    expect((await world.engine.store.preferences(world.directory)).pairs?.["alice->audit"]).toMatchObject({
      timeout_ms: 90_000,
      max_cost: 0.5,
      constraints: ["read_only", "no_network"],
      grant: [{ permission: "bash", pattern: "ls" }],
    })
    expect(await focused(page)).toBe("Grant")
    await type(page, "Max cost", "1.2")
    expect(await page.getByText("Saved. The next pass obeys it.").count()).toBe(0)
    await type(page, "Max cost", "0.5")
    expect(await page.locator(".save-bar").count()).toBe(0)
    await type(page, "Max cost", "7")
    await page.getByRole("button", { name: "Discard" }).click()
    expect(await page.getByLabel("Max cost").inputValue()).toBe("0.5")
    expect(trouble).toEqual([])
    await context.close()
  })

  test("keep what was typed at another level and where somebody wants to leave, until they say otherwise", async () => {
    const { page, trouble, context } = await enter()
    await editor(page)
    await type(page, "Max tokens", "7000")
    // Another project has become the busiest one.
    const elsewhere = { directory: "/home/ada/elsewhere", passes: 1, latest: Date.now() }
    await context.route("**/projects", async (route) => {
      const { items } = await (await route.fetch()).json()
      await route.fulfill({ json: { items: [elsewhere, ...items] } })
    })
    await Promise.all([page.waitForResponse("**/projects"), world.ask({ objective: "While somebody types" })])
    await page.getByRole("option", { name: "ada/elsewhere" }).waitFor({ state: "attached" })
    expect(await page.locator(".page-head select").inputValue()).toBe(world.directory)
    await page.getByLabel("Where to store it").selectOption("defaults")
    expect(await page.getByLabel("Max tokens").inputValue()).toBe("7000")
    await page.getByLabel("Where to store it").selectOption("subagent")
    await page.getByLabel("Can receive passes").selectOption({ label: "No" })
    await page.getByLabel("Where to store it").selectOption("pair")
    await page.getByText("Not kept, because it cannot be stored there: Can receive passes.").waitFor()
    expect(await page.getByLabel("Max tokens").inputValue()).toBe("7000")
    // Not by another pair, not by a link; and to stay is to lose nothing.
    for (const away of [page.locator("button.cell").first(), page.getByRole("link", { name: "Audit", exact: true })]) {
      await away.click()
      await page.getByText("1 change is not saved").waitFor()
      expect(await serious(page)).toEqual([])
      await page.getByRole("button", { name: "Stay here" }).click()
      expect(await page.getByLabel("Max tokens").inputValue()).toBe("7000")
      expect(page.url()).toContain("from=alice&to=audit")
    }
    await page.getByRole("link", { name: "Audit", exact: true }).click()
    await page.getByRole("button", { name: "Leave without saving" }).click()
    await page.getByRole("heading", { name: "Audit" }).waitFor()
    expect(trouble).toEqual([])
    await context.close()
  })

  test("what the server said to an earlier request says nothing about the next", async () => {
    const { page, context } = await enter()
    await editor(page)
    const late = Promise.withResolvers<void>()
    const heard = Promise.withResolvers<void>()
    await context.route("**/preferences?*", async (route) => {
      if (route.request().postData()?.includes("99")) {
        heard.resolve()
        await late.promise
      }
      await route.continue()
    })
    await type(page, "Max chain depth", "99")
    await heard.promise
    await type(page, "Max chain depth", "4")
    await page.locator(".preview li").waitFor()
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.request().postData()?.includes("99") === true),
      late.resolve(),
    ])
    await answer.finished()
    await page.waitForTimeout(100)
    expect(await page.locator(".save-bar [role=alert]").count()).toBe(0)
    expect(await page.getByRole("button", { name: "Save" }).isEnabled()).toBe(true)
    await context.close()
  })
})

describe("what is on show stays while more is asked for", () => {
  test("a word that could not be sent leaves the focus at its button", async () => {
    const { page, context } = await enter()
    await page
      .getByRole("button", { name: /^Cancel/ })
      .first()
      .click()
    await context.route("**/cancel", (route) => route.abort())
    const yes = page.locator("dialog button.danger")
    await yes.focus()
    await page.keyboard.press("Enter")
    await page.locator("dialog [role=alert]").waitFor()
    expect(await focused(page)).toBe((await yes.textContent())?.trim() ?? "")
    await page.keyboard.press("Escape")
    await page.locator("dialog").waitFor({ state: "detached" })
    expect(await focused(page)).toStartWith("Cancel")
    await context.close()
  })

  test("the audit: letters, focus, filters, the place in the list; an export that fails says so", async () => {
    fillAudit(world.database, 600)
    const { page, trouble, context } = await enter({ viewport: { width: 1400, height: 860 } })
    await go(page, "#/audit?from=scout&to=inspector")
    await page.locator(".entry").first().waitFor()
    expect(await page.getByLabel("From").inputValue()).toBe("scout")
    const to = page.locator("label.field", { hasText: /^To/ }).locator("select")
    expect(await to.inputValue()).toBe("inspector")
    await to.selectOption("")
    await go(page, "#/audit?from=archivist")
    expect(await page.getByLabel("From").inputValue()).toBe("archivist")
    // The list is the same list while another question is asked.
    await page.locator(".entries").evaluate((list) => list.setAttribute("data-mine", ""))
    await page.getByLabel("What happened").selectOption("returned")
    await page.getByText("200 entries").waitFor()
    expect(await page.locator(".entries[data-mine]").count()).toBe(1)
    await page.getByLabel("What happened").selectOption("")
    await page.getByLabel("Search").click()
    await page.keyboard.type("number review", { delay: 300 })
    expect(await page.getByLabel("Search").inputValue()).toBe("number review")
    await page.getByText("500+ entries").waitFor()
    await page.evaluate(() => document.querySelector(".entries > *")?.scrollTo(0, 4_000))
    await page.waitForTimeout(200)
    const chosen = page.locator(".entry").nth(8)
    const text = await chosen.locator(".entry-text").textContent()
    await chosen.click()
    await page.locator(".glance .said").waitFor()
    await page.locator(".glance .loading").waitFor({ state: "detached" })
    expect(await page.evaluate(() => document.querySelector(".entries > *")?.scrollTop)).toBe(4_000)
    await page.locator(".glance").getByRole("button", { name: "Close" }).click()
    expect(await page.evaluate(() => document.activeElement?.querySelector(".entry-text")?.textContent)).toBe(
      text ?? "",
    )
    await context.route("**/audit/export*", (route) => route.abort())
    await page.getByRole("button", { name: "Export" }).click()
    await page.getByRole("alert").getByText("The server does not answer").waitFor()
    expect(trouble).toEqual([])
    await context.close()
  })

  test("a pass: its tabs are walked with the arrows; a dialog gives the focus back, and keeps its words when the pass ends", async () => {
    const end = Promise.withResolvers<void>()
    world.host.script("painter", async (child) => {
      child.step({})
      await end.promise
      await child.return({ status: "completed", findings: [] })
      child.step({})
    })
    const sent = await world.ask({ subagent: "painter", objective: "It ends while somebody writes" })
    if (!sent.ok) throw new Error(sent.refusal.message)
    const { page, trouble, context } = await enter()
    await go(page, `#/pass/${sent.runner.pass.id}/outcome`)
    await page.getByRole("tab", { name: "Outcome" }).focus()
    for (const name of ["Changes", "Work", "Context", "Request", "Timeline"]) {
      await page.keyboard.press("ArrowRight")
      await until(async () => (await focused(page)).startsWith(name))
      await page.locator("main .loading").waitFor({ state: "detached" })
      expect(await focused(page)).toStartWith(name)
    }
    const speak = page.getByRole("button", { name: "Speak" })
    await speak.click()
    await page.getByRole("button", { name: "Close" }).click()
    expect(await focused(page)).toBe("Speak")
    await speak.click()
    await page.keyboard.type("a long message")
    end.resolve()
    await page.locator(".pass-head .limits").waitFor({ state: "detached" })
    expect(await page.getByLabel("Your words").inputValue()).toBe("a long message")
    await page.getByRole("button", { name: "Send" }).click()
    await page.getByRole("dialog").getByRole("alert").waitFor()
    expect(trouble).toEqual([])
    await context.close()
  })
})

describe("what fails", () => {
  test("a page that could not be fetched says so and is fetched again; one that breaks takes no other with it", async () => {
    const { page, context } = await open(browser)
    let tries = 0
    await context.route("**/assets/pass-over-audit*.js", (route) => {
      tries += 1
      return route.abort()
    })
    await page.goto(await world.link())
    // The panel fetches it by itself a little after the first page: that has failed, too.
    await until(() => tries > 0)
    await page.waitForTimeout(100)
    await page.getByRole("link", { name: "Audit", exact: true }).click()
    await page.locator("main").getByText("The server does not answer").waitFor()
    await context.unroute("**/assets/pass-over-audit*.js")
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByRole("heading", { name: "Audit" }).waitFor()
    // An answer that is none of the server's.
    await context.route("**/projects", (route) => route.fulfill({ json: { items: {} } }))
    await page.getByRole("link", { name: "Flows", exact: true }).click()
    await page.locator("main").getByText("Something in this part of the panel went wrong").waitFor()
    await page.getByRole("link", { name: "Now", exact: true }).click()
    await page.getByRole("heading", { name: "Now" }).waitFor()
    await context.unroute("**/projects")
    await context.close()
  })

  test("without a network the server is there all the same; after a break everything on show is asked for anew", async () => {
    const { page, trouble, context } = await open(browser)
    await page.addInitScript(() => {
      const real = fetch
      const cut = (signal: AbortSignal | null | undefined) => {
        const over = new AbortController()
        addEventListener("cut", () => over.abort(), { once: true })
        return AbortSignal.any([over.signal, ...(signal ? [signal] : [])])
      }
      globalThis.fetch = Object.assign(
        (input: RequestInfo | URL, init?: RequestInit) =>
          typeof input === "string" && input.endsWith("/events")
            ? real(input, { ...init, signal: cut(init?.signal) })
            : real(input, init),
        real,
      )
    })
    await page.goto(await world.link())
    await page.getByText("Live", { exact: true }).waitFor()
    await page.evaluate(() => dispatchEvent(new Event("offline")))
    await go(page, "#/flows")
    await page.getByRole("button", { name: "Start release" }).waitFor()
    let asked = 0
    page.on("request", (request) => {
      if (new URL(request.url()).pathname.endsWith("/flows")) asked += 1
    })
    await context.route("**/events", (route) => route.abort())
    await page.evaluate(() => dispatchEvent(new Event("cut")))
    await page.getByText("Offline: showing").waitFor()
    expect(await page.locator(".connection").textContent()).toBe("Not connected")
    await context.unroute("**/events")
    await page.getByText("Live", { exact: true }).waitFor()
    await until(() => asked > 0)
    expect(trouble).toEqual([])
    await context.close()
  })
})
