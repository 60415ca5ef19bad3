/**
 * The guide's seven performance targets, on a database file with the log in its folder. The host and its child are
 * scripted and answer at once, so that what is measured is our own.
 *
 *   bun bench/target.ts [passes]
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { check } from "../packages/opencode/src/pass-over/domain/chain-validator"
import { resolve, type Written } from "../packages/opencode/src/pass-over/domain/config"
import type { ContextMessage } from "../packages/opencode/src/pass-over/domain/context"
import { event, note } from "../packages/opencode/src/pass-over/domain/pass"
import { SHIPPED, SYSTEM, type Effective } from "../packages/opencode/src/pass-over/domain/preference"
import { gather } from "../packages/opencode/src/pass-over/service/context"
import { appendLines } from "../packages/opencode/src/pass-over/store/audit-file"
import { tokens } from "../packages/opencode/src/session/tokens"
import { createEngineWorld } from "../packages/opencode/test/pass-over/support/engine"
import { quantile } from "./statistics"

const [passes = 100] = process.argv.slice(2).map(Number)
const folder = mkdtempSync(join(tmpdir(), "pass-over-bench-target-"))
const MESSAGES = 1_000
const FILES = Array.from({ length: 20 }, (_, index) => `src/file-${index}.ts`)
const WORDS = "the total of the cart is rounded twice before tax and once after it ".repeat(12)

const history: ContextMessage[] = Array.from({ length: MESSAGES }, (_, index) => ({
  id: `msg_${index}`,
  role: index % 20 === 0 ? "user" : "assistant",
  ...(index % 20 === 0 ? {} : { agent_name: "alice" }),
  timestamp: index * 1_000,
  parts: [{ id: `prt_${index}`, type: "text", text: `${index}: ${WORDS.slice(index % 97)} src/file-${index % 40}.ts` }],
}))

const written: Written[] = (["stored", "project", "global"] as const).map((origin, place) => ({
  origin,
  path: `${origin}.json`,
  preferences: {
    pairs: Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`from${index}->to${index % 50}`, { timeout_ms: 1_000 + place }]),
    ),
  },
}))

const real = {
  now: () => Date.now(),
  mono: () => performance.now(),
  after(ms: number, run: () => void) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

using world = createEngineWorld({ path: join(folder, "target.db") })
Object.assign(world.engine, { clock: real, tokens })
const { engine, host } = world
host.messages = async (session_id) => (session_id === "ses_root" ? history : [])

/** When each pass was asked for, prompted, done with its work and brought back. */
type Moments = { asked: number; prompted: number; done: number; brought: Promise<number> }

let moments = {} as { prompted: number; done: number; brought(at: number): void }
host.script("audit", async (child) => {
  moments.prompted = performance.now()
  await child.return({ status: "completed", decision: "approved", decision_reason: "It adds up." })
  moments.done = performance.now()
  child.step()
  await child.told
})
const deliver = host.deliver
host.deliver = async (message) => {
  const how = await deliver(message)
  moments.brought(performance.now())
  return how
}

/** Context has a target of its own, so a pass is set up with none and measured whole with all of it. */
const BARE = { pass_context: false, pass_files: false }

async function pass(index: number, override = {}): Promise<Moments> {
  const { promise, resolve: brought } = Promise.withResolvers<number>()
  moments = { prompted: 0, done: 0, brought }
  const asked = performance.now()
  const sent = await world.ask({ objective: `Check rounding, part ${index}`, files: FILES, wait: false, override })
  if (!sent.ok) throw new Error(sent.refusal.message)
  await promise
  return { asked, prompted: moments.prompted, done: moments.done, brought: promise }
}

async function timed(rounds: number, run: (index: number) => unknown): Promise<number[]> {
  const times: number[] = []
  for (let index = 0; index < rounds; index += 1) {
    const began = performance.now()
    await run(index)
    times.push(performance.now() - began)
  }
  return times
}

const wanted = { session_id: "ses_root", directory: "/project", files: FILES, now: MESSAGES * 1_000 }
const deps = { host, tokens, hash: engine.hash }
const preference = { ...SYSTEM, ...SHIPPED } as Effective

// The first pass of a process loads the tokenizer; it is told apart.
const first = await pass(2 * passes)
console.log(`the first pass of a process: set up in ${(first.prompted - first.asked).toFixed(0)} ms`)

const lived: { setup: number; brought: number; total: number }[] = []
for (let index = 0; index < passes; index += 1) {
  const bare = await pass(2 * index, BARE)
  const whole = await pass(2 * index + 1)
  const at = await whole.brought
  lived.push({ setup: bare.prompted - bare.asked, brought: at - whole.done, total: at - whole.asked })
}
const [known] = await engine.store.list({ session_id: "ses_root" })
if (!known) throw new Error("no pass was made")

async function line() {
  const at = Date.now()
  await engine.store.refuse(note(known!, { action: "refused", actor: "alice", at }), event(known!, "pass.refused", at))
  await engine.store.flushAudit([known!.session_id], (lines) => appendLines(folder, lines))
}

const hop = { from: "scout", to: "audit" }
const results: [string, number, readonly number[]][] = [
  ["pass over setup", 100, lived.map(({ setup }) => setup)],
  [
    "context extraction",
    200,
    await timed(passes, (index) => gather(deps, { ...wanted, objective: `Check rounding, part ${index}` }, preference)),
  ],
  ["chain validation", 10, await timed(passes * 10, () => check(hop, { above: ["alice"], repeated: 1 }))],
  [
    "config resolution",
    5,
    await timed(passes * 10, (index) => resolve(`from${index % 1_000}`, `to${index % 50}`, { written })),
  ],
  ["audit logging", 50, await timed(passes, line)],
  ["return notification", 100, lived.map(({ brought }) => brought)],
  ["total latency", 500, lived.map(({ total }) => total)],
]

console.log(`${MESSAGES} messages, ${FILES.length} files, ${passes} passes; the target holds for p95`)
for (const [name, target, times] of results) {
  const [middle, high] = [quantile(times, 0.5), quantile(times, 0.95)]
  const word = high < target ? "ok" : "TOO SLOW"
  console.log(
    `${name.padEnd(20)} p50 ${middle.toFixed(3).padStart(8)} ms  p95 ${high.toFixed(3).padStart(8)} ms  < ${target} ms  ${word}`,
  )
  if (high >= target) process.exitCode = 1
}
rmSync(folder, { recursive: true, force: true })
