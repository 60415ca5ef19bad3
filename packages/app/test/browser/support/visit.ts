import type { Page } from "playwright-core"

/** Goes to a page of the panel, and waits until it has what it shows. */
export async function go(page: Page, hash: string) {
  await page.evaluate((to) => void (location.hash = to), hash)
  await page.waitForTimeout(150)
  await page.waitForFunction(
    () => document.querySelector("main h1, main [role=alert]") !== null && !document.querySelector("main .loading"),
  )
}
