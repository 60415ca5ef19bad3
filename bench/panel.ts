/**
 * The panel's figures: events to 1, 10 and 100 listeners against bare Hono, from the moment that they are told to the
 * last listener who has them, next to what the commit alone takes; the first view; a list of 100,000 entries; and
 * whether opencode is slowed by an open panel.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { launch, open } from "../packages/app/test/browser/support/browser"
import { fillAudit } from "../packages/app/test/browser/support/many"
import { buildPanel } from "../packages/app/script/build"
import { folderOf } from "../packages/opencode/src/server/address"
import { findServer, panelLink } from "../packages/opencode/src/server/client"
import { openDatabase } from "../packages/opencode/src/pass-over/store/open"
import { createStore } from "../packages/opencode/src/pass-over/store/store"
import { panelOpen } from "./panel-open"
import { quantile } from "./statistics"

const ROUNDS = 300
const WARM = 30
const ENTRIES = 100_000

const root = mkdtempSync(join(tmpdir(), "pass-over-bench-"))
const database = join(root, "pass-over.db")

async function start(command: string[]): Promise<{ url: string; stop: () => Promise<unknown> }> {
  const child = Bun.spawn(command, {
    env: { ...process.env, PASS_OVER_DB: database },
    stdio: ["ignore", "pipe", "inherit"],
  })
  const { value } = await child.stdout.getReader().read()
  const url = /http:\/\/[\d.:]+/.exec(new TextDecoder().decode(value))?.[0]
  if (!url) throw new Error(`${command.join(" ")} did not start`)
  return { url, stop: () => (child.kill(), child.exited) }
}

/** So many listeners; `all` comes when each of them has heard a certain word. */
async function listen(url: string, headers: Record<string, string>, count: number) {
  const over = new AbortController()
  const waiting = new Map<string, { left: number; resolve: () => void }>()
  const ready: Promise<void>[] = []
  const follow = async (opened: () => void) => {
    const answer = await fetch(url, { headers, signal: over.signal })
    const decoder = new TextDecoder()
    let rest = ""
    for await (const chunk of answer.body ?? []) {
      rest += decoder.decode(chunk, { stream: true })
      if (rest.includes("ready")) opened()
      for (const [word, wait] of waiting) {
        if (!rest.includes(word)) continue
        rest = ""
        wait.left -= 1
        if (wait.left === 0) wait.resolve()
      }
    }
  }
  for (let index = 0; index < count; index += 1) {
    const { promise, resolve } = Promise.withResolvers<void>()
    ready.push(promise)
    void follow(resolve).catch(() => {})
  }
  await Promise.all(ready)
  return {
    close: () => over.abort(),
    all: (word: string) =>
      new Promise<void>((resolve) => {
        const done = () => (waiting.delete(word), resolve())
        waiting.set(word, { left: count, resolve: done })
      }),
  }
}

type Teller = { name: string; url: string; headers: Record<string, string>; tell: (word: string) => Promise<unknown> }

async function measure(tellers: Teller[], count: number) {
  const taken = new Map(tellers.flatMap(({ name }) => [name, `${name}, told`].map((one) => [one, [] as number[]])))
  const rooms = await Promise.all(tellers.map((teller) => listen(teller.url, teller.headers, count)))
  for (let round = 0; round < ROUNDS + WARM; round += 1) {
    for (const [index, teller] of tellers.entries()) {
      const word = `word-${round}-${index}-end`
      const heard = rooms[index]?.all(word)
      const began = performance.now()
      await teller.tell(word)
      const told = performance.now()
      await heard
      if (round < WARM) continue
      taken.get(teller.name)?.push(performance.now() - began)
      taken.get(`${teller.name}, told`)?.push(told - began)
    }
  }
  for (const room of rooms) room.close()
  return taken
}

const ms = (value: number) => `${value.toFixed(2)} ms`

async function events(ours: { url: string; secret: string }, bare: { url: string }) {
  const opened = openDatabase(database)
  if (!opened.ok) throw new Error(opened.problem)
  const store = createStore(opened, database)
  const tell = (word: string) =>
    store.announce({
      type: "pass.message",
      pass_over_id: "019a0000-0000-7000-8000-000000000001",
      session_id: "ses_bench",
      directory: "/bench",
      at: Date.now(),
      data: { word },
    })
  const tellers: Teller[] = [
    {
      name: "ours",
      url: `${ours.url}/api/pass-over/events`,
      headers: { authorization: `Bearer ${ours.secret}` },
      tell,
    },
    {
      name: "bare Hono",
      url: `${bare.url}/events`,
      headers: {},
      tell: (word) => fetch(bare.url, { method: "POST", body: word }),
    },
  ]
  for (const count of [1, 10, 100]) {
    const taken = await measure(tellers, count)
    const at = (name: string, q: number) => quantile(taken.get(name) ?? [], q)
    console.log(
      `events to ${String(count).padStart(3)}: ours p50 ${ms(at("ours", 0.5))} p99 ${ms(at("ours", 0.99))}, ` +
        `bare Hono p50 ${ms(at("bare Hono", 0.5))} p99 ${ms(at("bare Hono", 0.99))}, ` +
        `the commit alone p50 ${ms(at("ours, told", 0.5))} p99 ${ms(at("ours, told", 0.99))}, ` +
        `ratio ${(at("ours", 0.5) / at("bare Hono", 0.5)).toFixed(2)} / ${(at("ours", 0.99) / at("bare Hono", 0.99)).toFixed(2)}`,
    )
  }
  store.close()
}

async function panel(found: NonNullable<Awaited<ReturnType<typeof findServer>>>) {
  const browser = await launch()
  const { page, context } = await open(browser)
  const scripts: number[] = []
  page.on("response", (response) => {
    if (!response.url().endsWith(".js")) return
    void response
      .request()
      .sizes()
      .then(({ responseBodySize }) => scripts.push(responseBodySize))
  })
  const began = performance.now()
  await page.goto(await panelLink(found))
  await page.getByRole("heading", { level: 1 }).waitFor()
  await page.getByText("Nothing runs").waitFor()
  console.log(`first view: usable after ${ms(performance.now() - began)}`)
  await page.waitForLoadState("networkidle").catch(() => {})
  console.log(`first view: ${(scripts.reduce((sum, size) => sum + size, 0) / 1000).toFixed(1)} kB of compressed script`)

  await page.evaluate('location.hash = "#/audit"')
  await page.locator(".entry").first().waitFor()
  const scrolled = await page.evaluate<Scrolled>(SCROLL)
  console.log(
    `${ENTRIES} entries, scrolled through ${scrolled.rows}: frames p50 ${ms(scrolled.p50)} p95 ${ms(scrolled.p95)} longest ${ms(scrolled.longest)}, ${scrolled.nodes} rows in the page`,
  )
  await context.close()
  await browser.close()
}

type Scrolled = { rows: number; p50: number; p95: number; longest: number; nodes: number }

/** Runs in the page, where there is a document: scrolls on for twenty seconds and takes the time of every frame. */
const SCROLL = `(async () => {
  const list = document.querySelector(".entries > *")
  const frames = []
  const end = performance.now() + 20_000
  let last = performance.now()
  let nodes = 0
  while (performance.now() < end) {
    list.scrollTop += 1_500
    await new Promise(requestAnimationFrame)
    const now = performance.now()
    frames.push(now - last)
    last = now
    nodes = Math.max(nodes, document.querySelectorAll(".entry").length)
  }
  const sorted = frames.toSorted((a, b) => a - b)
  const at = (q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]
  return { rows: Math.round(list.scrollTop / 44), p50: at(0.5), p95: at(0.95), longest: at(1), nodes }
})()`

try {
  await buildPanel()
  const cli = join(import.meta.dir, "../packages/opencode/src/cli/main.ts")
  const ours = await start([process.execPath, cli, "serve"])
  const bare = await start([process.execPath, join(import.meta.dir, "panel-bare.ts")])
  const found = await findServer(folderOf(database))
  if (!found) throw new Error("the server does not answer")
  await events({ url: ours.url, secret: found.secret }, bare)
  fillAudit(database, ENTRIES)
  await panel(found)
  await Promise.all([ours.stop(), bare.stop()])
  await panelOpen()
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 5 })
}
process.exit(0)
