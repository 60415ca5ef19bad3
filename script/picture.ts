/** Takes the picture of the README from the real panel over a real database: `bun script/picture.ts`. */
import { mkdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { launch, open } from "../packages/app/test/browser/support/browser"
import { fill } from "../packages/app/test/browser/support/story"
import { createWorld } from "../packages/app/test/browser/support/world"

const target = process.argv[2] ?? join(import.meta.dir, "../docs/picture/panel.png")
const MOST_BYTES = 200_000

await using world = await createWorld()
const { release, goOn } = await fill(world)
const browser = await launch()
try {
  const { page } = await open(browser, { viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" })
  await page.goto(await world.link())
  await page.getByText("Find every place that sets").waitFor()
  await page.waitForTimeout(500)
  mkdirSync(dirname(target), { recursive: true })
  await page.screenshot({ path: target })
} finally {
  await browser.close()
  release()
  goOn()
}
const { size } = statSync(target)
if (size > MOST_BYTES) throw new Error(`${target} has ${size} bytes; ${MOST_BYTES} are enough.`)
console.log(`${target} ${size}`)
process.exit(0)
