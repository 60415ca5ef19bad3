/**
 * What our plugin costs where it is loaded and nobody passes anything on: opencode's own `task`, on servers with our
 * plugin and on servers with an empty one that stand beside one another and are asked in turns. One process differs from
 * the next by more than that, so there are several of each.
 *
 *   bun bench/loaded.ts [rounds] [servers of each kind]
 */
import { call, createModel, createSandbox, eachSession, repeat, say } from "@pass-over/rehearsal"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "../packages/opencode/script/build"
import { compare, quantile } from "./statistics"

const [rounds = 80, each = 2] = process.argv.slice(2).map(Number)
// By then the code of both has run often, and ours is loaded.
const WARM = 40

const ours = (await build()).find(({ path }) => path.endsWith("server.js"))?.path ?? ""
const folder = mkdtempSync(join(tmpdir(), "pass-over-bench-"))
const empty = join(folder, "empty.js")
// The agent that works is there in both.
writeFileSync(
  empty,
  `export default { id: "empty", server: async () => ({ config: async (config) => {
    config.agent = { ...config.agent, audit: { mode: "subagent", description: "Reviews.", prompt: "You review." } }
  } }) }\n`,
)

await using model = await createModel()
model.play({
  agents: {
    build: eachSession([
      call("task", { description: "review total", prompt: "Review src/total.ts.", subagent_type: "audit" }),
      say("done"),
    ]),
    audit: repeat(say("Approved: it adds.")),
  },
})

type Kind = "bare" | "full"

async function stand(kind: Kind) {
  const box = await createSandbox({ model, plugins: [kind === "full" ? ours : empty] })
  const { client, pid } = await box.serve()
  return { kind, box, pid, session: client.session, times: [] as number[], busy: [] as number[] }
}

type Stand = Awaited<ReturnType<typeof stand>>

/** Milliseconds for which its main thread has had a processor; of the threads of a process the first has its number. */
const processor = (pid: number) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6

async function once({ session, pid, times, busy }: Stand) {
  const sessionID = (await session.create()).data?.id ?? ""
  const [began, before] = [performance.now(), processor(pid)]
  await session.prompt({ sessionID, agent: "build", parts: [{ type: "text", text: "go" }] })
  times.push(performance.now() - began)
  busy.push(processor(pid) - before)
}

const stands: Stand[] = []
for (let index = 0; index < each; index += 1) stands.push(await stand("bare"), await stand("full"))
for (let round = 0; round < WARM + rounds; round += 1) {
  // Who goes first changes, so that none has the warmer machine.
  const first = round % stands.length
  for (const one of [...stands.slice(first), ...stands.slice(0, first)]) await once(one)
}

const all = (kind: Kind, of: "times" | "busy") =>
  stands.filter((one) => one.kind === kind).flatMap((one) => one[of].slice(WARM))
console.log(compare("task, with our plugin / an empty one", all("full", "times"), all("bare", "times")))
console.log(compare("its main thread", all("full", "busy"), all("bare", "busy")))
for (const { kind, busy } of stands) console.log(`  ${kind} ${quantile(busy.slice(WARM), 0.5).toFixed(0)} ms`)
for (const { box } of stands) await box.dispose()
rmSync(folder, { recursive: true, force: true })
