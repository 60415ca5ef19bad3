import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import {
  call,
  calls,
  createModel,
  createSandbox,
  eachSession,
  fault,
  gate,
  hold,
  reply,
  say,
  think,
  type Model,
  type Sandbox,
  type Server,
} from "../src/index"

setDefaultTimeout(30_000)

// One opencode for the file: each test plays its own scenario on the same model, in sessions of its own.
const world = {} as { model: Model; box: Sandbox; server: Server }

beforeAll(async () => {
  world.model = await createModel()
  world.box = await createSandbox({
    model: world.model,
    files: { "README.md": "# The project\n", "src/a.ts": "export const a = 1\n" },
    config: { agent: { scout: { mode: "subagent", description: "Looks around", prompt: "You look around." } } },
  })
  world.server = await world.box.serve()
})

afterEach(() => world.model.verify())

afterAll(async () => {
  const leaked = await world.box.dispose()
  world.model.stop()
  expect(leaked).toEqual([])
})

test("a prompt is answered as the script says", async () => {
  const { model, server } = world
  const usage = { input: 11, output: 7, reasoning: 3, cached: 5 }
  model.play({ agents: { build: reply(think("hm"), say("hello there", { chunk_size: 4 }), { usage }) } })
  const answer = await server.prompt({ agent: "build", text: "hi" })
  expect(answer.text).toBe("hello there")
  expect(answer.parts.map((part) => part.type)).toEqual(["step-start", "reasoning", "text", "step-finish"])
  expect(answer.info.tokens).toMatchObject({ input: 11, output: 7, reasoning: 3, cache: { read: 5, write: 0 } })
  expect(answer.messages.map((message) => message.info.role)).toEqual(["user", "assistant"])
})

test("the model sees who asks, what was said and which tools are offered", async () => {
  const { model, server } = world
  model.play({ agents: { build: say("ok") } })
  const { sessionID: session } = await server.prompt({ agent: "build", text: "look at this" })
  const [request] = model.requests({ agent: "build" })
  expect(request).toMatchObject({ agent: "build", session, parent: undefined, turn: 1, user: "look at this" })
  expect(request?.system).toContain(world.box.project)
  expect(request?.tools.map((tool) => tool.name)).toContain("read")
  expect(request?.tools.find((tool) => tool.name === "read")?.schema).toMatchObject({ required: ["filePath"] })
})

test("calls of one turn run, and their results come in the next request", async () => {
  const { model, server } = world
  model.play({
    agents: {
      build: [
        calls(["read", { filePath: "README.md" }], ["grep", { pattern: "export", path: "src" }]),
        (request) => say(request.results.map((item) => item.name).join("+")),
      ],
    },
  })
  const answer = await server.prompt({ agent: "build", text: "read both" })
  expect(answer.text).toBe("read+grep")
  const last = model.requests({ agent: "build" })[1]
  expect(last?.result("read")).toContain("# The project")
  expect(last?.result("grep")).toContain("a.ts")
})

test("task makes children, each with its own run of its agent's script", async () => {
  const { model, server } = world
  const task = (prompt: string) => ({ description: prompt, prompt, subagent_type: "scout" })
  const together = gate()
  model.play({
    agents: {
      build: [
        calls(["task", task("north")], ["task", task("south")]),
        (request) => say(request.results.map((item) => /found (\w+)/.exec(item.output)?.[1]).join(" and ")),
      ],
      scout: eachSession((first) => [
        reply(hold(together), call("read", { filePath: "README.md" })),
        say(`found ${first.user}`),
      ]),
    },
  })
  const answer = server.prompt({ agent: "build", text: "explore" })
  // Both are held at their first request at once: they run in parallel.
  await model.waitFor("scout", { count: 2 })
  together.open()
  const { text, sessionID } = await answer
  expect(text).toBe("north and south")
  const children = model.requests({ agent: "scout" })
  expect(children).toHaveLength(4)
  expect(new Set(children.map((request) => request.parent))).toEqual(new Set([sessionID]))
  expect(new Set(children.map((request) => request.session)).size).toBe(2)
})

test("a rate limit is retried when its time is up", async () => {
  const { model, server } = world
  model.play({ agents: { build: [fault.rateLimit(1), say("recovered")] } })
  using events = await server.events()
  const { text } = await server.prompt({ agent: "build", text: "hi" })
  expect(text).toBe("recovered")
  const retry = await events.until("session.status", (event) => event.properties.status.type === "retry")
  expect(retry.properties.status).toMatchObject({ attempt: 1, message: "The script answers with status 429." })
  const [first, second] = model.requests({ agent: "build" })
  expect(second!.time.arrived - first!.time.ended!).toBeGreaterThan(900)
})

test("a reset in mid-stream is retried", async () => {
  const { model, server } = world
  model.play({ agents: { build: [reply(say("half"), fault.reset()), say("recovered")] } })
  const { text } = await server.prompt({ agent: "build", text: "hi" })
  expect(text).toEndWith("recovered")
  expect(model.requests({ agent: "build" }).map((request) => request.outcome)).toEqual(["reset", "answered"])
})

test("a refused connection is retried", async () => {
  const { model, server } = world
  model.play({ agents: { build: say("recovered") } })
  using events = await server.events()
  model.refuse()
  const answer = server.prompt({ agent: "build", text: "hi" })
  const retry = await events.until("session.status", (event) => event.properties.status.type === "retry")
  expect(retry.properties.status).toMatchObject({ message: expect.stringContaining("Unable to connect") })
  await model.accept()
  expect((await answer).text).toBe("recovered")
})

test("a connection is refused at the step that says so, and the next step answers the retry", async () => {
  const { model, server } = world
  model.play({ agents: { build: [call("read", { filePath: "README.md" }), fault.refuse(), say("recovered")] } })
  using events = await server.events()
  const { text } = await server.prompt({ agent: "build", text: "hi" })
  expect(text).toBe("recovered")
  const retry = await events.until("session.status", (event) => event.properties.status.type === "retry")
  expect(retry.properties.status).toMatchObject({ attempt: 1, message: expect.stringContaining("Unable to connect") })
  const ends = model.requests({ agent: "build" }).map((request) => request.outcome)
  expect(ends).toEqual(["answered", "refused", "answered"])
})

test("a step can close the port behind its own answer", async () => {
  const { model, server } = world
  const closing = () => {
    model.refuse()
    return call("read", { filePath: "README.md" })
  }
  model.play({ agents: { build: [closing, say("recovered")] } })
  using events = await server.events()
  const answer = server.prompt({ agent: "build", text: "hi" })
  const retry = await events.until("session.status", (event) => event.properties.status.type === "retry")
  expect(retry.properties.status).toMatchObject({ message: expect.stringContaining("Unable to connect") })
  expect(model.requests({ agent: "build" })).toHaveLength(1)
  await model.accept()
  expect((await answer).text).toBe("recovered")
})

test("broken tool arguments come back to the model as a tool result", async () => {
  const { model, server } = world
  model.play({ agents: { build: [fault.badArguments("read"), say("I see")] } })
  await server.prompt({ agent: "build", text: "hi" })
  expect(model.requests({ agent: "build" })[1]?.messages.at(-1)?.text).toContain("invalid")
})

test("an aborted session leaves a stalled answer", async () => {
  const { model, server } = world
  model.play({ agents: { build: reply(say("wait"), fault.stall()) } })
  const sessionID = (await server.client.session.create()).data!.id
  const answer = server.prompt({ agent: "build", text: "hi", sessionID })
  const request = await model.waitFor("build")
  await server.client.session.abort({ sessionID })
  expect(await request.done).toBe("abandoned")
  expect((await answer).info.error?.name).toBe("MessageAbortedError")
})

test("an unexpected request ends the turn at once, and the report says who asked for what", async () => {
  const { model, server } = world
  model.play({ agents: { build: call("read", { filePath: "README.md" }) } })
  const { info, sessionID: session } = await server.prompt({ agent: "build", text: "read it" })
  expect(info.error).toMatchObject({
    name: "APIError",
    data: { statusCode: 400, isRetryable: false, message: expect.stringContaining("build has 1 step, all played") },
  })
  expect(model.requests({ agent: "build" })).toHaveLength(2)
  const report = model.report()
  expect(report).toContain(`Unexpected request from agent "build", session ${session}, its request 2`)
  expect(report).toContain("user: read it")
  expect(report).toContain('assistant: call read {"filePath":"README.md"}')
  expect(report).toMatch(/tools: .*\bread\b/)
  expect(model.verify).toThrow("Unexpected request")
  model.play({ agents: {} })
})
