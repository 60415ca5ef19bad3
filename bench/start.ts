/**
 * What our plugin costs where nobody uses it: opencode's start and its first answer, with our plugin and with an empty
 * one, in turns.
 *
 *   bun bench/start.ts [pairs]
 */
import { createModel, createSandbox, repeat, say, type Sandbox } from "@pass-over/rehearsal"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "../packages/opencode/script/build"
import { compare } from "./statistics"

const [pairs = 30] = process.argv.slice(2).map(Number)
const ours = (await build()).find(({ path }) => path.endsWith("server.js"))?.path ?? ""
const folder = mkdtempSync(join(tmpdir(), "pass-over-bench-"))
const empty = join(folder, "empty.js")
writeFileSync(empty, 'export default { id: "empty", server: async () => ({}) }\n')

await using model = await createModel()
model.play({ agents: { build: repeat(say("hello")) } })
await using bare = await createSandbox({ model, plugins: [empty] })
await using full = await createSandbox({ model, plugins: [ours] })

async function once(box: Sandbox): Promise<number> {
  const began = performance.now()
  const ran = await box.run({ agent: "build", prompt: "hello" })
  if (ran.code !== 0) throw new Error(ran.stderr)
  return performance.now() - began
}

for (const box of [bare, full]) await once(box)
const times = { bare: [] as number[], full: [] as number[] }
for (let index = 0; index < pairs; index += 1) {
  // Who goes first changes, so that neither has the warmer machine.
  const order = index % 2 === 0 ? (["bare", "full"] as const) : (["full", "bare"] as const)
  for (const kind of order) times[kind].push(await once(kind === "bare" ? bare : full))
}
console.log(compare("opencode run to its first answer, our plugin / an empty one", times.full, times.bare))
rmSync(folder, { recursive: true, force: true })
