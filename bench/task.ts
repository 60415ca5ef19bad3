/**
 * A pass against opencode's own `task`: the same parent agent, the same child agent in the same directory, the same
 * number of model requests, in turns on one server. What a tree of the child's own costs is in isolation.ts.
 *
 *   bun bench/task.ts [pairs] [rounds] [bare] [reading]
 *
 * The child answers at once: the emptiest delegation that there is, in which every millisecond of ours is seen. With
 * `reading` it reads the file first, as whoever is asked for a review does. `bare` takes a plugin of a few lines in the
 * place of ours: what the host itself costs, and the least that can be had.
 */
import { join } from "node:path"
import {
  call,
  createModel,
  createSandbox,
  eachSession,
  repeat,
  say,
  type ModelRequest,
  type Server,
} from "@pass-over/rehearsal"
import { build } from "../packages/opencode/script/build"
import { compare } from "./statistics"

const [pairs = 200, rounds = 20] = process.argv.slice(2, 4).map(Number)
const bare = process.argv.includes("bare")
const reading = process.argv.includes("reading")
const ours = async () => (await build()).find(({ path }) => path.endsWith("server.js"))?.path ?? ""
const plugin = bare ? join(import.meta.dir, "bare.ts") : await ours()

await using model = await createModel()
await using box = await createSandbox({
  model,
  plugins: [plugin],
  files: {
    ".opencode/pass-over.json": JSON.stringify({ defaults: { isolation: "none" } }),
    "src/total.ts": "export const total = (xs: number[]) => xs.reduce((a, b) => a + b, 0)\n",
  },
})

const objective = "Review src/total.ts and say whether it is right."
const refused: string[] = []
const native = (request: ModelRequest) => request.user.startsWith("task")

const answer = (request: ModelRequest) =>
  request.tools.some((tool) => tool.name === "pass_over_return")
    ? call("pass_over_return", { status: "completed", decision: "approved", decision_reason: "It adds." })
    : say("Approved: it adds.")
const read = () => call("read", { filePath: join(box.project, "src/total.ts") })

model.play({
  agents: {
    build: eachSession([
      (request: ModelRequest) =>
        native(request)
          ? call("task", { description: "review total", prompt: objective, subagent_type: "audit" })
          : call("pass_over", {
              subagent: "audit",
              objective: `${objective} ${request.session}`,
              reason: "code_review",
            }),
      (request: ModelRequest) => {
        const answer = request.result("pass_over") ?? request.result("task") ?? ""
        // What was refused was fast.
        if (!/approved/i.test(answer)) refused.push(answer.slice(0, 300))
        return say("done")
      },
    ]),
    audit: reading ? eachSession([read, answer]) : repeat(answer),
  },
})

const server = await box.serve()

async function once(server: Server, kind: "task" | "pass"): Promise<number> {
  const session = (await server.client.session.create()).data?.id ?? ""
  const began = performance.now()
  await server.client.session.prompt({
    sessionID: session,
    agent: "build",
    parts: [{ type: "text", text: `${kind}: go` }],
  })
  return performance.now() - began
}

async function measure(concurrency: number, count: number) {
  const times: Record<"task" | "pass", number[]> = { task: [], pass: [] }
  for (let index = 0; index < count; index += 1) {
    // Who goes first changes, so that neither has the warmer machine.
    const order = index % 2 === 0 ? (["task", "pass"] as const) : (["pass", "task"] as const)
    for (const kind of order) {
      times[kind].push(...(await Promise.all(Array.from({ length: concurrency }, () => once(server, kind)))))
    }
  }
  return times
}

await measure(1, 10)
for (const [concurrency, count] of [
  [1, pairs],
  [4, rounds],
  [16, rounds],
] as const) {
  const times = await measure(concurrency, count)
  const name = `${bare ? "bare pass" : "pass"}${reading ? " that reads" : ""} / task`
  console.log(compare(`concurrency ${concurrency}, ${name}`, times.pass, times.task))
}
const problems = model.report()
if (problems) console.log(problems.slice(0, 2_000))
if (refused.length > 0)
  throw new Error(`${refused.length} came to nothing, so these figures mean nothing: ${refused[0]}`)
