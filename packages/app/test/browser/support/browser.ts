import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core"
import { chromiumPath } from "../../../../../script/test/provide"

/** `npm test` installs one where it may, before any suite runs. */
function browserPath(): string {
  const path = chromiumPath()
  if (path) return path
  throw new Error("No Chromium here: install it (apt-get install chromium), or name one in CHROMIUM_PATH.")
}

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: browserPath(),
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
