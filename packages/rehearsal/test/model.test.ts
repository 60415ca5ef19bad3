import { expect, test } from "bun:test"
import { call, calls, createModel, gate, hold, pause, repeat, reply, say, think } from "../src/index"
import { ask, chunksOf, deltasOf, isComplete, post, textOf } from "./ask"

test("streams pieces in their order, then finish reason, usage and [DONE]", async () => {
  const usage = { input: 11, output: 7, reasoning: 3, cached: 5 }
  await using model = await createModel({
    agents: { build: reply(think("hm"), say("hello"), call("read", { filePath: "a" }), { usage }) },
  })
  const { body, headers } = await ask(model)
  expect(headers.get("content-type")).toBe("text/event-stream")
  expect(deltasOf(body)).toMatchObject([
    { role: "assistant", reasoning_content: "hm" },
    { content: "hello" },
    { tool_calls: [{ index: 0, id: "call_rehearsal-1_0", function: { name: "read", arguments: "" } }] },
    { tool_calls: [{ index: 0, function: { arguments: '{"filePath":"a"}' } }] },
    {},
  ])
  expect(chunksOf(body).at(-2)?.choices[0]?.finish_reason).toBe("tool_calls")
  expect(chunksOf(body).at(-1)?.usage).toMatchObject({ prompt_tokens: 16, completion_tokens: 10 })
  expect(isComplete(body)).toBe(true)
  model.verify()
})

test("cuts text into chunks of the given size, and keeps pauses between them", async () => {
  await using model = await createModel({ agents: { build: say("abcdefg", { chunk_size: 3, gap_ms: 20 }) } })
  const before = performance.now()
  const { body } = await ask(model)
  expect(deltasOf(body).map((delta) => delta.content)).toEqual(["abc", "def", "g", undefined])
  expect(performance.now() - before).toBeGreaterThanOrEqual(39)
})

test("a pause comes before the first byte when it comes first", async () => {
  await using model = await createModel({ agents: { build: reply(pause(50), say("late")) } })
  expect(textOf((await ask(model)).body)).toBe("late")
  const { time } = model.requests()[0]!
  expect(time.first_byte! - time.arrived).toBeGreaterThanOrEqual(49)
  expect(time.ended!).toBeGreaterThanOrEqual(time.first_byte!)
})

test("answers in one object when the client does not stream", async () => {
  await using model = await createModel({ agents: { build: reply(think("hm"), say("a"), say("b"), call("ls")) } })
  const { body, headers } = await ask(model, { stream: false })
  expect(headers.get("content-type")).toBe("application/json")
  expect(JSON.parse(body)).toMatchObject({
    object: "chat.completion",
    choices: [
      {
        finish_reason: "tool_calls",
        message: {
          content: "ab",
          reasoning_content: "hm",
          tool_calls: [{ function: { name: "ls", arguments: "{}" } }],
        },
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  })
})

test("several calls in one turn have their own index and id", async () => {
  await using model = await createModel({ agents: { build: calls(["read", { a: 1 }], ["grep", { b: 2 }]) } })
  const opened = deltasOf((await ask(model)).body).flatMap((delta) => delta.tool_calls?.filter((item) => item.id) ?? [])
  expect(opened).toMatchObject([
    { index: 0, id: "call_rehearsal-1_0", function: { name: "read" } },
    { index: 1, id: "call_rehearsal-1_1", function: { name: "grep" } },
  ])
})

test("ids of calls are not used again by the next scenario", async () => {
  await using model = await createModel({ agents: { build: call("read") } })
  const id = async () => deltasOf((await ask(model)).body)[0]?.tool_calls?.[0]?.id
  const first = await id()
  model.play({ agents: { build: call("read") } })
  expect(await id()).not.toBe(first)
})

test("a function sees what the model was sent", async () => {
  await using model = await createModel({
    agents: {
      bücher: (request) => {
        const { agent, session, system, user, results, tools, turn } = request
        return say(JSON.stringify({ agent, session, system, user, results, tools, turn, read: request.result("read") }))
      },
    },
  })
  const { body } = await ask(model, {
    agent: "bücher",
    messages: [
      { role: "system", content: "be good" },
      { role: "user", content: [{ type: "text", text: "look" }] },
      { role: "assistant", content: "", tool_calls: [toolCall("c1", "read", "{}")] },
      { role: "tool", tool_call_id: "c1", content: "old" },
      { role: "assistant", content: "", tool_calls: [toolCall("c2", "grep", '{"pattern":"x"}')] },
      { role: "tool", tool_call_id: "c2", content: "new" },
    ],
    tools: [{ type: "function", function: { name: "read", description: "Reads", parameters: { type: "object" } } }],
  })
  expect(JSON.parse(textOf(body))).toEqual({
    agent: "bücher",
    session: "ses_1",
    system: "be good",
    user: "look",
    results: [{ id: "c2", name: "grep", input: '{"pattern":"x"}', output: "new" }],
    tools: [{ name: "read", description: "Reads", schema: { type: "object" } }],
    turn: 1,
    read: "old",
  })
})

const toolCall = (id: string, name: string, args: string) => ({
  id,
  type: "function",
  function: { name, arguments: args },
})

test("a closed gate holds the answer where it stands in the reply", async () => {
  const before = gate()
  const between = gate()
  await using model = await createModel({
    agents: { build: reply(hold(before), say("one"), hold(between), say("two")) },
  })
  const answer = post(model)
  await before.reached
  expect(model.requests()[0]?.time.first_byte).toBeUndefined()
  before.open()
  const reader = (await answer).body!.getReader()
  const first = new TextDecoder().decode((await reader.read()).value)
  await between.reached
  expect(textOf(first)).toBe("one")
  expect(model.requests()[0]?.outcome).toBeUndefined()
  between.open()
  await model.idle()
  expect(model.requests()[0]?.outcome).toBe("answered")
})

test("a client that goes away ends its answer", async () => {
  const never = gate()
  await using model = await createModel({ agents: { build: reply(hold(never), say("x")) } })
  const leaving = new AbortController()
  const answer = post(model, { signal: leaving.signal }).catch(() => "left")
  const request = await model.waitFor("build")
  leaving.abort()
  expect(await answer).toBe("left")
  expect(await request.done).toBe("abandoned")
})

test("waitFor resolves when the request comes, or says that it did not", async () => {
  await using model = await createModel({ agents: { audit: repeat(say("ok")) } })
  const second = model.waitFor("audit", { count: 2, session: "ses_b" })
  await ask(model, { agent: "audit", session: "ses_b", text: "first" })
  await ask(model, { agent: "audit", session: "ses_a", text: "other" })
  await ask(model, { agent: "audit", session: "ses_b", text: "second" })
  expect((await second).user).toBe("second")
  expect((await model.waitFor("audit")).user).toBe("first")
  expect(model.requests({ session: "ses_a" })).toHaveLength(1)
  await expect(model.waitFor("audit", { count: 4, timeout_ms: 10 })).rejects.toThrow(
    "Request 4 of audit did not come within 10 ms; there were 3.",
  )
})

test("a refusing model is not there at all, until it accepts again", async () => {
  await using model = await createModel({ agents: { build: say("back") } })
  model.refuse()
  expect(await post(model).catch((error: { code?: string }) => error.code)).toBe("ConnectionRefused")
  await model.accept()
  expect(textOf((await ask(model)).body)).toBe("back")
})

test("a connection that was answering when the port closed brings no further request", async () => {
  const closing = gate()
  await using model = await createModel({ agents: { build: [reply(hold(closing), say("one")), say("two")] } })
  const answer = ask(model)
  await closing.reached
  model.refuse()
  closing.open()
  const first = await answer
  expect([textOf(first.body), isComplete(first.body), first.broken]).toEqual(["one", true, false])
  expect(await post(model).catch((error: { code?: string }) => error.code)).toBe("ConnectionRefused")
  await model.accept()
  expect(textOf((await ask(model)).body)).toBe("two")
})

test("lists its model", async () => {
  await using model = await createModel()
  expect(await (await fetch(`${model.url}/models`)).json()).toMatchObject({ object: "list", data: [{ id: "script" }] })
})
