/**
 * A pass against opencode's own `task`: the same parent agent, the same child agent in the same directory, the same
 * number of model requests, in turns on one server. What a tree of the child's own costs is in isolation.ts.
 *
 *   bun bench/task.ts [pairs] [rounds] [bare] [reading] [terminal]
 *
 * It runs `opencode serve`, where what plugins ask of opencode goes through a socket; with `terminal` it is the terminal
 * that people sit before, where it does not. Before each prompt it waits so long that opencode has nothing left to do:
 * nobody pays for what another has left behind. A whole run takes half an hour. The first pairs, whose code has never run
 * before, are told apart. The child answers at once: the emptiest delegation that there is, in which every millisecond of
 * ours is seen. With `reading` it reads the file first, as whoever is asked for a review does. `bare` takes a plugin of a
 * few lines in the place of ours: what the host itself costs, and the least that can be had.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { call, createModel, createSandbox, eachSession, repeat, say, type ModelRequest } from "@pass-over/rehearsal"
import { build } from "../packages/opencode/script/build"
import { DRIVE, type Drive } from "./drive"
import { compare } from "./statistics"
import { measure, type Measured, type Plan } from "./turns"

const WARM = 100
const LOOK_MS = 500

const [pairs = 200, rounds = 20] = process.argv.slice(2, 4).map(Number)
const bare = process.argv.includes("bare")
const reading = process.argv.includes("reading")
const terminal = process.argv.includes("terminal")
const plan: Plan = { warm: WARM, pairs, rounds }
const ours = async () => (await build()).find(({ path }) => path.endsWith("server.js"))?.path ?? ""
const plugin = bare ? join(import.meta.dir, "bare.ts") : await ours()

await using model = await createModel()
await using box = await createSandbox({
  model,
  plugins: terminal ? [plugin, join(import.meta.dir, "drive.ts")] : [plugin],
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

async function inServer(): Promise<Measured[]> {
  const server = await box.serve()
  return measure(server.client, plan)
}

async function inTerminal(): Promise<Measured[]> {
  const out = join(box.root, "driven.json")
  const drive: Drive = { ...plan, out }
  await using _tui = await box.tui({ env: { [DRIVE]: JSON.stringify(drive) } })
  while (!existsSync(out)) await Bun.sleep(LOOK_MS)
  const told: Measured[] | string = JSON.parse(readFileSync(out, "utf8"))
  if (typeof told === "string") throw new Error(told)
  return told
}

const measured = await (terminal ? inTerminal() : inServer())
for (const [index, { concurrency, times }] of measured.entries()) {
  const name = `${bare ? "bare pass" : "pass"}${reading ? " that reads" : ""} / task`
  console.log(compare(`${index === 0 ? "the first, " : ""}concurrency ${concurrency}, ${name}`, times.pass, times.task))
}
const problems = model.report()
if (problems) console.log(problems.slice(0, 2_000))
if (refused.length > 0)
  throw new Error(`${refused.length} came to nothing, so these figures mean nothing: ${refused[0]}`)
