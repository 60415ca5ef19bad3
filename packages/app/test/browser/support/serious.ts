import axe from "axe-core"
import type { Page } from "playwright-core"

type Result = {
  violations: { id: string; impact: string | null; help: string; nodes: { html: string; target: unknown[] }[] }[]
}

/** What axe finds on a page that keeps somebody from using it. */
export async function serious(page: Page) {
  // The policy of the page lets no script in from outside; a debugger may.
  await page.evaluate(axe.source)
  const found = await page.evaluate(() => (globalThis as unknown as { axe: { run(): Promise<unknown> } }).axe.run())
  return (found as Result).violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, help, nodes }) => `${id}: ${help} ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`)
}
