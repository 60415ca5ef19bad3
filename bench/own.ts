/**
 * What of a pass is ours: the plugin with a host of a few lines around it, which plays what the real one does and says in
 * an empty pass. Time of one pass, without opencode, git or a model: what a change in here costs or spares is seen in it
 * to a tenth of a millisecond or so, and in bench/task.ts hardly at all.
 *
 *   bun bench/own.ts [passes] [at once] [path of a built plugin]
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

const [passes = 2_000, concurrency = 8] = process.argv.slice(2, 4).map(Number)
const path = resolve(process.argv[4] ?? join(import.meta.dir, "../packages/opencode/src/index.ts"))

// The last line of a transcript and the log files come later.
const REST_MS = 2_500

const home = mkdtempSync(join(tmpdir(), "pass-over-own-"))
process.on("exit", () => rmSync(home, { recursive: true, force: true }))
const directory = join(home, "project")
for (const folder of [".opencode", "src"]) mkdirSync(join(directory, folder), { recursive: true })
writeFileSync(join(directory, ".opencode/pass-over.json"), JSON.stringify({ defaults: { isolation: "none" } }))
writeFileSync(join(directory, "src/total.ts"), "export const total = (xs: number[]) => xs.reduce((a, b) => a + b, 0)\n")
for (const name of ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"]) {
  process.env[name] = join(home, name.toLowerCase())
}

type Json = Record<string, unknown>
type Call = { tool: string; sessionID: string; callID: string; messageID: string; args: Json }
// bench/bare.ts has fewer of them.
type Hooks = {
  event(input: { event: Json }): Promise<void>
  config(config: Json): Promise<void>
  dispose?(): Promise<void>
  tool: Record<string, { execute(args: Json, context: Json): Promise<unknown> }>
  "tool.execute.before"?(call: Json, output: Json): Promise<void>
  "tool.execute.after"?(call: Json, output: unknown): Promise<void>
}

const none = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }
const allowed = [{ permission: "*", pattern: "*", action: "allow" }]
const agents = [
  { name: "build", mode: "primary", permission: allowed },
  { name: "audit", mode: "subagent", permission: [...allowed, { permission: "edit", pattern: "*", action: "deny" }] },
]

let count = 0
const id = (prefix: string) => `${prefix}_${String((count += 1)).padStart(26, "0")}`
const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))

const state: { hooks?: Hooks } = {}
const stops = new Map<string, () => void>()
const said = (type: string, properties: Json) => state.hooks?.event({ event: { id: id("evt"), type, properties } })

const sessionOf = (sessionID: string, given: Json) => ({
  id: sessionID,
  slug: "quiet-river",
  version: "1.18.33",
  projectID: "project",
  directory,
  title: "New session",
  ...given,
  cost: 0,
  tokens: none,
  time: { created: Date.now(), updated: Date.now() },
})

const messageOf = (sessionID: string, messageID: string, role: string, more: Json = {}) => ({
  id: messageID,
  sessionID,
  role,
  time: { created: Date.now() },
  agent: "audit",
  mode: "audit",
  cost: 0,
  tokens: none,
  modelID: "script",
  providerID: "rehearsal",
  path: { cwd: directory, root: directory },
  ...more,
})

async function part(sessionID: string, messageID: string, of: Json) {
  await said("message.part.updated", {
    sessionID,
    part: { id: id("prt"), sessionID, messageID, ...of },
    time: Date.now(),
  })
}

/** The user's message, and the beginning of an answer to it. */
async function begin(session: Json, text: string) {
  const sessionID = String(session.id)
  const [asked, answer] = [id("msg"), id("msg")]
  await said("message.updated", { sessionID, info: messageOf(sessionID, asked, "user") })
  await part(sessionID, asked, { type: "text", text })
  await said("session.updated", { sessionID, info: session })
  await said("session.status", { sessionID, status: { type: "busy" } })
  await said("message.updated", { sessionID, info: messageOf(sessionID, answer, "assistant") })
  await said("session.updated", { sessionID, info: session })
  await said("session.diff", { sessionID, diff: [] })
  await said("message.updated", { sessionID, info: messageOf(sessionID, asked, "user", { summary: { diffs: [] } }) })
  await said("session.status", { sessionID, status: { type: "busy" } })
  await part(sessionID, answer, { type: "step-start", snapshot: "0".repeat(40) })
  await turn()
  return answer
}

async function end(sessionID: string, messageID: string) {
  await part(sessionID, messageID, { type: "step-finish", reason: "tool-calls", tokens: none, cost: 0 })
  await said("message.updated", {
    sessionID,
    info: messageOf(sessionID, messageID, "assistant", { finish: "tool-calls" }),
  })
  await turn()
}

async function call({ tool, sessionID, callID, messageID, args }: Call, history: Json[]) {
  const { hooks } = state
  const partID = id("prt")
  const started = { start: Date.now() }
  const show = (shown: Json) => part(sessionID, messageID, { id: partID, type: "tool", tool, callID, state: shown })
  await show({ status: "pending", input: {}, raw: "" })
  await hooks?.["tool.execute.before"]?.({ tool, sessionID, callID }, { args })
  await show({ status: "running", input: args, time: started })
  const context = {
    sessionID,
    messageID,
    callID,
    agent: tool === "pass_over" ? "build" : "audit",
    abort: new AbortController().signal,
    extra: { model: { id: "script", providerID: "rehearsal" } },
    messages: history,
    ask: async () => {},
  }
  const given = await hooks?.tool[tool]?.execute(args, context)
  const { title, output, metadata } =
    typeof given === "string" ? { title: "", output: given, metadata: {} } : Object(given)
  await hooks?.["tool.execute.after"]?.({ tool, sessionID, callID, args }, { title, output, metadata })
  await show({ status: "completed", input: args, output, title, metadata, time: { ...started, end: Date.now() } })
  return String(output)
}

/** A child that returns at once. */
async function run(sessionID: string, text: string) {
  const answer = await begin(sessionOf(sessionID, {}), text)
  const args = { status: "completed", decision: "approved", decision_reason: "It adds." }
  const stopped = new Promise<void>((resolve) => void stops.set(sessionID, resolve))
  await call({ tool: "pass_over_return", sessionID, callID: id("call"), messageID: answer, args }, [])
  const ended = end(sessionID, answer)
  await stopped
  await ended
  const error = { name: "MessageAbortedError", data: { message: "Aborted" } }
  await said("session.error", { sessionID, error })
  await said("session.status", { sessionID, status: { type: "idle" } })
  await said("session.idle", { sessionID })
  const info = messageOf(sessionID, answer, "assistant", { error })
  await said("message.updated", { sessionID, info })
  return { info, parts: [] }
}

async function created(given: Json) {
  const session = sessionOf(id("ses"), given)
  await said("session.created", { sessionID: session.id, info: session })
  await said("session.updated", { sessionID: session.id, info: session })
  return session
}

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  const [, what, sessionID = "", deed] = pathname.split("/")
  if (what === "agent") return Response.json(agents)
  if (what !== "session") return Response.json(true)
  if (deed === "abort") {
    stops.get(sessionID)?.()
    return Response.json(true)
  }
  const body: unknown = request.method === "GET" ? {} : await request.json()
  if (sessionID === "") return Response.json(await created(Object(body)))
  if (request.method === "PATCH") return Response.json(body)
  return Response.json(await run(sessionID, String(Object(body).parts?.[0]?.text)))
}

async function pass() {
  const session = await created({})
  const sessionID = session.id
  const text = "Is the total right?"
  const messageID = await begin(session, text)
  const callID = id("call")
  const args = {
    subagent: "audit",
    objective: `Review src/total.ts and say whether it is right. ${sessionID}`,
    reason: "code_review",
  }
  const asked = id("msg")
  const history = [
    {
      info: messageOf(sessionID, asked, "user"),
      parts: [{ id: id("prt"), type: "text", text, messageID: asked, sessionID }],
    },
  ]
  const output = await call({ tool: "pass_over", sessionID, callID, messageID, args }, history)
  if (!/approved/i.test(output)) throw new Error(`came to nothing: ${output}`)
  await end(sessionID, messageID)
}

async function go(number: number) {
  for (let index = 0; index < number; index += concurrency) {
    await Promise.all(Array.from({ length: concurrency }, pass))
    await turn()
  }
}

const { default: plugin } = await import(path)
const input = {
  directory,
  worktree: directory,
  // Where opencode listens nowhere, this is what it gives.
  serverUrl: new URL("http://localhost:4096"),
  client: {
    _client: { getConfig: () => ({ baseUrl: "http://localhost:4096", fetch: (request: Request) => answer(request) }) },
  },
}
const hooks: Hooks = await plugin.server(input)
state.hooks = hooks
await hooks.config({ agent: {} })
await go(Math.max(200, passes / 4))
await Bun.sleep(REST_MS)
for (let round = 0; round < 3; round += 1) {
  const before = process.cpuUsage()
  const began = performance.now()
  await go(passes)
  const wall = performance.now() - began
  const meanwhile = process.cpuUsage(before)
  // What is put off belongs to it.
  await Bun.sleep(REST_MS)
  const whole = process.cpuUsage(before)
  const ms = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000 / passes
  console.log(
    `${passes} passes, ${concurrency} at once: ${(wall / passes).toFixed(2)} ms each; processor ${ms(meanwhile).toFixed(2)} ms each, with what is put off ${ms(whole).toFixed(2)} ms`,
  )
}
await hooks.dispose?.()
process.exit(0)
