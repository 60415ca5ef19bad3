import { existsSync } from "node:fs"
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core"

const PLACES = [
  process.env["CHROMIUM_PATH"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:/Program Files/Google/Chrome/Application/chrome.exe",
]

const found = () => PLACES.find((path): path is string => path !== undefined && existsSync(path))

/** A Chromium that is here, or one that is fetched where that is allowed. */
function chromiumPath(): string {
  const here = found()
  if (here) return here
  if (process.platform === "linux" && process.getuid?.() === 0) {
    Bun.spawnSync(["sh", "-c", "apt-get update && apt-get install -y --no-install-recommends chromium"], {
      stdio: ["ignore", "inherit", "inherit"],
    })
  }
  const now = found()
  if (now) return now
  throw new Error("No Chromium here: install it (apt-get install chromium), or name one in CHROMIUM_PATH.")
}

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  })

export type Watched = { page: Page; context: BrowserContext; trouble: string[] }

/** A page that tells of everything that should not happen in it: errors, dialogs, requests to elsewhere. */
export async function open(browser: Browser, options: Parameters<Browser["newContext"]>[0] = {}): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options })
  const page = await context.newPage()
  const trouble: string[] = []
  page.on("pageerror", (error) => trouble.push(`error: ${error.message}`))
  page.on("dialog", (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE/.test(message.text()))
      trouble.push(`console: ${message.text()}`)
  })
  page.on("request", (request) => {
    const { hostname, protocol } = new URL(request.url())
    if (protocol !== "blob:" && protocol !== "data:" && hostname !== "127.0.0.1")
      trouble.push(`request: ${request.url()}`)
  })
  return { page, context, trouble }
}
