import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { changesOf } from "../../../opencode/src/pass-over/service/change/deps"
import { mergeWithPresent } from "../../../opencode/src/pass-over/service/change/merge"
import { launch, open } from "./support/browser"
import { serious } from "./support/serious"
import { until } from "./support/story"
import { createWorld, type World } from "./support/world"

setDefaultTimeout(120_000)

const SHOTS = join(import.meta.dir, "../../../../artifact/panel")

let browser: Browser
let world: World

beforeAll(async () => {
  browser = await launch()
  world = await createWorld()
  mkdirSync(join(world.directory, "src"), { recursive: true })
  mkdirSync(SHOTS, { recursive: true })
})

afterAll(async () => {
  await browser?.close()
  await world?.[Symbol.asyncDispose]()
})

type Proposed = { path: string; before?: string; after: string }

/** A pass that proposes these files. */
async function proposed(objective: string, files: readonly Proposed[]) {
  for (const { path, before } of files) {
    if (before !== undefined) writeFileSync(join(world.directory, path), before)
  }
  const artifacts = files.map(({ path, before, after }) => ({
    type: "file_modification",
    path,
    old_content: before ?? "",
    new_content: after,
    reason: "as asked",
    confidence: "high",
  }))
  world.host.script("painter", async (child) => {
    await child.return({ status: "completed", findings: [], artifacts })
    child.step({})
  })
  const sent = await world.ask({ subagent: "painter", objective })
  if (!sent.ok) throw new Error(sent.refusal.message)
  await sent.runner.outcome
  return sent.runner.pass
}

async function changesTab(id: string, options: Parameters<typeof open>[1] = {}) {
  const watched = await open(browser, options)
  const { page } = watched
  await page.goto(await world.link())
  await page.getByRole("heading", { level: 1 }).waitFor()
  await page.evaluate((to) => void (location.hash = to), `#/pass/${id}/changes`)
  await page.locator(".change").first().waitFor()
  return watched
}

const shoot = (page: Page, name: string) =>
  page.screenshot({ path: join(SHOTS, `changes-${name}.png`), fullPage: true })

test("of a long file nothing is accepted before its last line could be seen", async () => {
  const after = Array.from({ length: 6_000 }, (_, index) => `line ${index}\n`).join("")
  const pass = await proposed("Write a long file", [{ path: "src/long.txt", after }])
  const { page, trouble, context } = await changesTab(pass.id)
  await page.getByText("4,000 more lines are not shown.").waitFor()
  const accept = page.getByRole("button", { name: "Accept the file src/long.txt" })
  const all = page.getByRole("button", { name: "Accept all" })
  expect([await accept.isDisabled(), await all.isDisabled()]).toEqual([true, true])
  await shoot(page, "long")
  await page.keyboard.press("j")
  await page.keyboard.press("a")
  await page.getByRole("button", { name: "Show 2,000 more" }).click()
  await page.getByText("2,000 more lines are not shown.").waitFor()
  expect(await page.locator('.stop[data-state="accepted"]').count()).toBe(0)
  await page.getByRole("button", { name: "Show 2,000 more" }).click()
  await page.getByText("line 5999").waitFor()
  expect([await accept.isDisabled(), await all.isDisabled()]).toEqual([false, false])
  await page.keyboard.press("a")
  await page.locator('.stop[data-state="accepted"]').waitFor()
  expect(trouble).toEqual([])
  await context.close()
})

/** What has the focus, by its name and whether it is a button. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { className = "", textContent = "" } = document.activeElement ?? {}
    return `${document.activeElement?.tagName} ${className}: ${textContent}`.trim()
  })

test("whoever goes by keys stays where they are: a button that is out of use keeps the focus, one that goes hands it on", async () => {
  const pass = await proposed("Keep my place", [{ path: "src/place.txt", after: "one\n" }])
  const { page, trouble, context } = await changesTab(pass.id)
  const accept = page.getByRole("button", { name: "Accept the file src/place.txt" })
  await accept.focus()
  await page.keyboard.press("Enter")
  await page.locator('.stop[data-state="accepted"]').waitFor()
  expect(await focused(page)).toStartWith("BUTTON button small: Accept")
  expect(await accept.isDisabled()).toBe(true)
  // Out of use means so.
  await page.keyboard.press("Enter")
  await page.getByRole("button", { name: "Apply 1 file" }).focus()
  await page.keyboard.press("Enter")
  await page.getByRole("button", { name: "Undo" }).waitFor()
  await until(async () => (await focused(page)).startsWith("DIV actions decide: Applied"))
  await page.keyboard.press("Tab")
  expect(await focused(page)).toBe("BUTTON button: Undo")
  expect(trouble).toEqual([])
  await context.close()
})

test("what turns the reading direction and what is not seen stands as its number", async () => {
  const before = "if (access) {\n  go()\n}\n"
  const after = "/*\u202e } \u2066if (admin)\u2069 \u2066 begin */\n  go()\n  const \u3164 = 1 // 👩‍👩‍👧\n}"
  const pass = await proposed("Show what is \u202ehidden", [{ path: "src/trojan.js", before, after }])
  const { page, trouble, context } = await changesTab(pass.id)
  await page.getByText("Something here is not seen").waitFor()
  const text = await page.locator("main").innerText()
  expect(text).toContain("/*U+202E } U+2066if (admin)U+2069 U+2066 begin */")
  expect(text).toContain("const U+3164 = 1 // 👩‍👩‍👧")
  expect(text).toContain("no line break at the end")
  expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u3164]/)
  expect(await page.locator("h1 .hidden-char").innerText()).toBe("U+202E")
  expect(await serious(page)).toEqual([])
  await shoot(page, "hidden")
  await page.keyboard.press("v")
  await page.locator(".diff.split .hidden-char").first().waitFor()
  await shoot(page, "hidden-split")
  await page.keyboard.press("v")
  expect(trouble).toEqual([])
  await context.close()
})

test("the name of an agent hides nothing either, also one that a model made up and that was refused", async () => {
  expect((await world.ask({ subagent: "au\u200bdit\u202ex", objective: "Look at it" })).ok).toBe(false)
  const { page, trouble, context } = await open(browser)
  await page.goto(await world.link())
  await page.getByRole("heading", { level: 1 }).waitFor()
  await page.evaluate(() => void (location.hash = "#/audit?action=refused"))
  await page.locator(".entry").first().click()
  await page.locator(".glance h2").waitFor()
  for (const place of [".entry-who", ".glance h2"])
    expect(await page.locator(place).first().innerText()).toBe("alice → auU+200BditU+202Ex")
  expect(trouble).toEqual([])
  await context.close()
})

test("a key decides about no file that is closed or out of sight", async () => {
  const files = Array.from({ length: 7 }, (_, index) => ({ path: `src/f${index}.txt`, after: `text ${index}\n` }))
  const pass = await proposed("Write seven files", files)
  const { page, trouble, context } = await changesTab(pass.id)
  const opened = () => page.locator("details.change[open]").count()
  expect(await opened()).toBe(0)
  await page.keyboard.press("j")
  await page.getByText("text 0").waitFor()
  await page.keyboard.press("j")
  await page.getByText("text 1").waitFor()
  expect(await opened()).toBe(2)
  await page.locator("details.change summary").nth(1).click()
  await until(async () => (await opened()) === 1)
  await page.keyboard.press("a")
  await page.keyboard.press("r")
  expect(await page.getByRole("dialog").count()).toBe(0)
  await page.locator("details.change summary").nth(1).click()
  await page.getByText("text 1").waitFor()
  await page.locator('[data-stop=" src/f1.txt"]').focus()
  await page.keyboard.press("a")
  await page.locator(".change-state", { hasText: "accepted" }).waitFor()
  const states = await page.locator("details.change .change-state").allInnerTexts()
  expect(states.map((text) => text.slice(2))).toEqual([
    "not decided",
    "accepted",
    ...Array.from({ length: 5 }, () => "not decided"),
  ])
  await shoot(page, "seven")
  expect(trouble).toEqual([])
  await context.close()
})

test("of two changes of one pass a key means one, and the one that was replaced is decided about no more", async () => {
  const body = Array.from({ length: 30 }, (_, index) => `l${index}\n`).join("")
  const path = "src/two.js"
  const { id } = await proposed("Change it twice", [{ path, before: body, after: body.replace("l3\n", "L3\n") }])
  writeFileSync(join(world.directory, path), body.replace("l25\n", "mine\n"))
  const { store } = world.engine
  const [files, pass, [change]] = [changesOf(world.engine), await store.find(id), await store.changes(id)]
  if (!files || !pass || !change) throw new Error("nothing to merge")
  expect(await mergeWithPresent(files, pass, change)).toMatchObject({ ok: true })
  const { page, trouble, context } = await changesTab(id)
  await page.getByText("It was merged with what is there now").waitFor()
  expect(await page.getByRole("button", { name: /^Apply/ }).count()).toBe(1)
  await page.keyboard.press("v")
  expect(await page.getByRole("button", { name: "Side by side" }).first().getAttribute("aria-pressed")).toBe("true")
  await page.keyboard.press("v")
  await page.keyboard.press("j")
  await page.locator('.stop[data-current="true"]').waitFor()
  expect(await page.locator('.stop[data-current="true"]').count()).toBe(1)
  await page.keyboard.press("a")
  await page.locator('.stop[data-state="accepted"]').waitFor()
  expect(await page.getByRole("button", { name: "Apply 1 file" }).isEnabled()).toBe(true)
  const verdicts = await Promise.all((await store.changes(id)).map(({ change_id }) => store.verdicts(change_id)))
  expect(verdicts.map((all) => all.length)).toEqual([0, 1])
  await shoot(page, "two")
  expect(trouble).toEqual([])
  await context.close()
})
