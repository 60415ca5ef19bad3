import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { call, calls, gate, hold, reply, say, type ModelRequest } from "../../../rehearsal/src"
import { createWorld, endWorld, toolCalls, type World } from "../../../opencode/test/pass-over/support/opencode"
import { launch, open } from "./support/browser"
import { serve, type Panel } from "./support/serve"
import { until } from "./support/story"

// The real opencode with the plugin, the real server beside it, and the panel in a real browser.

setDefaultTimeout(180_000)

const held = {} as { world: World; browser: Browser; panel: Panel }

const ASKS = { require_confirmation: true }

const FILES = {
  "src/total.ts": "export const total = (xs: number[]) => xs.reduce((a, b) => a - b, 0)\n",
  "src/tax.ts": "const tax = (x: number) => x * 0.2\n",
  "src/name.ts": "export const name = 'shop'\n",
  "check.sh": `grep -q "a + b" src/total.ts && echo "build ok"\n`,
}

beforeAll(async () => {
  held.world = await createWorld({
    files: FILES,
    preferences: {
      pairs: { "alice->scout": ASKS, "alice->inspector": ASKS, "alice->audit": { verify_command: "sh check.sh" } },
    },
  })
  held.panel = await serve(held.world)
  held.browser = await launch()
})

afterAll(async () => {
  await held.browser?.close()
  await held.panel?.stop()
  if (held.world) expect(await endWorld(held.world)).toEqual([])
})

/** How somebody works the panel. `press` finds a link or a button by its name. */
type Hands = {
  press(page: Page, name: string): Promise<void>
  search(page: Page, text: string): Promise<void>
  approve(page: Page): Promise<void>
  cell(page: Page, from: string, to: string): Promise<void>
  turnOff(page: Page): Promise<void>
}

const column = (to: string) => `.matrix thead th:text-is("${to}")`

const mouse: Hands = {
  press: (page, name) =>
    page
      .locator("a, button")
      .filter({ hasText: new RegExp(`^\\s*${name}`) })
      .first()
      .click(),
  search: (page, text) => page.getByLabel("Search").fill(text),
  approve: (page) => page.getByRole("button", { name: "Approve" }).click(),
  async cell(page, from, to) {
    await page.locator(column(to)).waitFor()
    const index = await page.locator(column(to)).evaluate((head) => (head as HTMLTableCellElement).cellIndex)
    await page
      .locator(".matrix tbody tr", { has: page.locator(`th:text-is("${from}")`) })
      .locator("td")
      .nth(index - 1)
      .click()
  },
  turnOff: async (page) => void (await page.getByLabel("Enabled", { exact: true }).selectOption({ label: "No" })),
}

async function tabTo(page: Page, there: () => Promise<boolean>) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await there()) return
    await page.keyboard.press("Tab")
  }
  throw new Error("not reached with the keyboard")
}

const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement
    const label = element?.id ? document.querySelector(`label[for="${element.id}"]`) : element?.closest("label")
    return (element?.getAttribute("aria-label") ?? label?.textContent ?? element?.textContent ?? "").trim()
  })

const keyboard: Hands = {
  async press(page, name) {
    await tabTo(page, async () => (await focused(page)).startsWith(name))
    await page.keyboard.press("Enter")
  },
  async search(page, text) {
    await tabTo(page, async () => (await focused(page)).startsWith("Search"))
    await page.keyboard.type(text)
  },
  async approve(page) {
    // The first question takes the keyboard by itself once the page is there.
    await page.locator("article.question:focus").waitFor()
    await page.keyboard.press("a")
  },
  async cell(page, from, to) {
    await page.locator(column(to)).waitFor()
    await tabTo(page, () =>
      page.evaluate(
        ([from, to]) => {
          const cell = document.activeElement?.closest("td")
          const head = document.querySelector(".matrix thead")?.querySelectorAll("th")[cell?.cellIndex ?? -1]
          return cell?.closest("tr")?.querySelector("th")?.textContent === from && head?.textContent === to
        },
        [from, to] as const,
      ),
    )
    await page.keyboard.press("Enter")
  },
  async turnOff(page) {
    await tabTo(page, async () => (await focused(page)).startsWith("Enabled"))
    await page.keyboard.press("n")
  },
}

async function story(hands: Hands, subagent: string) {
  const { model, server, store } = held.world
  const working = gate()
  const ask = { subagent, objective: `Look through the totals with ${subagent}`, reason: "code_review" }
  model.play({
    agents: {
      alice: [
        call("pass_over", ask),
        (request: ModelRequest) => say(request.result("pass_over") ?? "nothing"),
        call("pass_over", { ...ask, objective: "Once more" }),
        (request: ModelRequest) => say(request.result("pass_over") ?? "nothing"),
      ],
      [subagent]: [
        call("read", { filePath: "src/total.ts" }),
        reply(hold(working), call("pass_over_return", { decision: "approved", decision_reason: "All totals add up." })),
      ],
    },
  })
  const { page, trouble, context } = await open(held.browser)
  await page.goto(await held.panel.link())
  await page.getByRole("heading", { name: "Now" }).waitFor()

  const { id } = (await server.client.session.create()).data!
  const answer = server.prompt({ agent: "alice", text: "Go.", sessionID: id })
  const card = page.locator("article", { hasText: ask.objective })
  await card.waitFor()
  await hands.press(page, "Inbox")
  await page.getByText(ask.objective).first().waitFor()
  await hands.approve(page)
  await page.getByText("Nothing waits for you").waitFor()

  await hands.press(page, "Now")
  await working.reached
  await card.getByText("running").or(card.getByText("working")).first().waitFor()
  working.open()
  await page.locator(".line", { hasText: ask.objective }).getByText("approved").waitFor()
  expect((await answer).text).toContain("approved")

  await hands.press(page, "Audit")
  await hands.search(page, `totals with ${subagent}`)
  await page.locator(".entry", { hasText: ask.objective }).first().waitFor()
  const actions = (await store.audit({ session_id: id, limit: 50 })).map((line) => line.action)
  expect(actions).toEqual(expect.arrayContaining(["requested", "asked", "answered", "dispatched", "returned"]))

  await hands.press(page, "Preferences")
  await hands.cell(page, "alice", subagent)
  await page.getByRole("heading", { name: `alice → ${subagent}` }).waitFor()
  await hands.turnOff(page)
  await page.getByText(`alice → ${subagent}: Enabled`).waitFor()
  await hands.press(page, "Save")
  await page.getByText("Saved. The next pass obeys it.").waitFor()
  const refused = await server.prompt({ agent: "alice", text: "Again.", sessionID: id })
  expect(refused.text).toContain("E004")
  model.verify()
  expect(trouble).toEqual([])
  await context.close()
}

test("a pass starts in opencode, shows up, asks, is approved, ends, is found, and the next one obeys what was changed", () =>
  story(mouse, "scout"))

test("the same with the keyboard alone", () => story(keyboard, "inspector"))

const edit = (path: string, old_string: string, new_string: string) => ({
  type: "file_modification",
  path,
  edits: [{ old_string, new_string }],
  reason: `corrects ${path}`,
})

test("three corrections and five findings are looked through in the panel: two applied, one declined, the check run, all in the audit", async () => {
  const { model, server, box, store } = held.world
  const finding = (severity: string, path: string, message: string) => ({
    severity,
    category: "build",
    message,
    path,
    line: 1,
  })
  model.play({
    agents: {
      alice: [
        call("pass_over", { subagent: "audit", objective: "Find out why the build fails", reason: "code_review" }),
        (request: ModelRequest) => say(request.result("pass_over") ?? "nothing"),
      ],
      audit: [
        calls(
          ["read", { filePath: "src/total.ts" }],
          ["read", { filePath: "src/tax.ts" }],
          ["read", { filePath: "src/name.ts" }],
        ),
        call("pass_over_return", {
          status: "completed",
          decision: "needs_modification",
          findings: [
            finding("error", "src/total.ts", "it subtracts"),
            finding("error", "src/tax.ts", "tax is not exported"),
            finding("warning", "src/tax.ts", "a magic number"),
            finding("warning", "src/total.ts", "nothing tests the total"),
            finding("info", "src/name.ts", "quotes differ from the rest"),
          ],
          artifacts: [
            edit("src/total.ts", "a - b", "a + b"),
            edit("src/tax.ts", "const tax", "export const tax"),
            edit("src/name.ts", "'shop'", '"shop"'),
          ],
          evidence: [{ type: "file", path: "src/total.ts", line: 1 }],
        }),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Review and fix the build errors" })
  expect(toolCalls(answer.messages, "pass_over")).toHaveLength(1)
  const [pass] = await store.list({ session_id: answer.sessionID })
  const { page, trouble, context } = await open(held.browser)
  await page.goto(await held.panel.link())
  await page.getByRole("heading", { name: "Now" }).waitFor()
  await page.locator(".line", { hasText: "Find out why the build fails" }).click()
  await page.getByRole("heading", { name: "5 findings" }).waitFor()
  await page.getByRole("tab", { name: "Changes" }).click()
  await page.getByRole("heading", { name: "3 files" }).waitFor()
  const at = (path: string) => page.locator(`[data-stop=" ${path}"]`)
  await at("src/total.ts").getByRole("button", { name: "Accept" }).click()
  await page.locator('[data-stop=" src/total.ts"][data-state="accepted"]').waitFor()
  await at("src/tax.ts").getByRole("button", { name: "Accept" }).click()
  await page.locator('[data-stop=" src/tax.ts"][data-state="accepted"]').waitFor()
  await at("src/name.ts").getByRole("button", { name: "Decline" }).click()
  await page.getByLabel("Why").fill("the quotes are none of this task")
  await page.getByRole("dialog").getByRole("button", { name: "Decline" }).click()
  await at("src/name.ts").getByText("the quotes are none of this task").waitFor()
  await page.getByRole("button", { name: "Apply 2 files" }).click()
  await page.getByText("build ok").waitFor()
  await page.screenshot({ path: join(import.meta.dir, "../../../../artifact/panel/appendix-a.png"), fullPage: true })
  expect(box.read("src/total.ts")).toContain("a + b")
  expect(box.read("src/tax.ts")).toContain("export const tax")
  expect(box.read("src/name.ts")).toBe(FILES["src/name.ts"])

  // The opencode that has the project open tells alice what was declined, and starts nothing.
  await until(async () => {
    const { data = [] } = await server.client.session.messages({ sessionID: answer.sessionID })
    return JSON.stringify(data.at(-1)).includes("the quotes are none of this task")
  })
  expect(model.requests({ agent: "alice" })).toHaveLength(2)
  await page.getByRole("tab", { name: "Timeline" }).click()
  await page.getByText("Changes applied").waitFor()
  await page.getByRole("link", { name: "Audit", exact: true }).click()
  await page.getByLabel("Search").fill("quotes are none")
  await page.locator(".entry", { hasText: "declined src/name.ts" }).waitFor()
  const actions = (await store.audit({ pass_over_id: pass!.id, limit: 50 })).map((line) => line.action)
  expect(actions).toEqual(expect.arrayContaining(["returned", "processed", "reviewed", "applied"]))
  model.verify()
  expect(trouble).toEqual([])
  await context.close()
})
