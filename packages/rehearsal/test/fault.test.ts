import { expect, test } from "bun:test"
import { once } from "node:events"
import { connect } from "node:net"
import { createModel, call, fault, pause, repeat, reply, say, type Reply, type Recorded } from "../src/index"
import { ask, chunksOf, deltasOf, isComplete, post, textOf, type Received } from "./ask"

type Seen = Received & { request: Recorded }

/** Plays one reply to a plain client, and a good one after it: a fault must not spoil the next answer. */
async function seen(step: Reply, stream = true): Promise<Seen> {
  await using model = await createModel({ agents: { build: [step, say("recovered")] } })
  const received = await ask(model, { stream })
  expect(textOf((await ask(model)).body)).toBe("recovered")
  model.verify()
  return { ...received, request: model.requests()[0]! }
}

/** The error code of a request that gets no response at all. */
async function unanswered(step: Reply) {
  await using model = await createModel({ agents: { build: step } })
  return { code: await codeOf(post(model)), outcome: await model.requests()[0]?.done }
}

const codeOf = (answer: Promise<Response>) =>
  answer.then(
    () => "answered",
    (error: { code?: string }) => error.code,
  )

test("a reset that comes first leaves no response", async () => {
  expect(await unanswered(fault.reset())).toEqual({ code: "ECONNRESET", outcome: "reset" })
})

test("a refusal has the place and the times of a step, and the connection is truly refused", async () => {
  const steps = [say("one"), repeat(fault.refuse(), 2), reply(pause(50), fault.refuse()), say("two")]
  await using model = await createModel({ agents: { build: steps } })
  expect(textOf((await ask(model)).body)).toBe("one")
  expect(await codeOf(post(model))).toBe("ConnectionRefused")
  expect(await codeOf(post(model, { stream: false }))).toBe("ConnectionRefused")
  expect(await codeOf(post(model))).toBe("ConnectionRefused")
  expect(textOf((await ask(model)).body)).toBe("two")
  const ends = model.requests().map((request) => request.outcome)
  expect(ends).toEqual(["answered", "refused", "refused", "refused", "answered"])
  const { time } = model.requests()[3]!
  expect(time.ended! - time.arrived).toBeGreaterThanOrEqual(49)
  model.verify()
})

test("a refusal is for the agent whose step it is", async () => {
  await using model = await createModel({ agents: { build: [fault.refuse(), say("again")], scout: say("through") } })
  const [build, scout] = await Promise.all([codeOf(post(model)), ask(model, { agent: "scout" })])
  expect([build, textOf(scout.body)]).toEqual(["ConnectionRefused", "through"])
  expect(model.report()).toContain('2 of 2: say "again"')
  expect(textOf((await ask(model)).body)).toBe("again")
  model.verify()
})

test("a refusal nobody asked for is reported by its name", async () => {
  await using model = await createModel({ agents: { build: repeat(fault.refuse(), 2) } })
  await codeOf(post(model))
  expect(model.report()).toContain("1 of 1: refuse, repeated 2 (played 1)")
})

test("a refusal in mid-stream is reported, for there is none", async () => {
  await using model = await createModel({ agents: { build: reply(say("some"), fault.refuse()) } })
  expect((await ask(model)).status).toBe(400)
  expect(model.report()).toContain("A connection that is in use cannot be refused")
})

test("a reset in mid-stream breaks the body after what was said", async () => {
  const { status, body, broken, request } = await seen(reply(say("some"), fault.reset(), say("never")))
  expect({ status, broken, text: textOf(body), outcome: request.outcome }).toEqual({
    status: 200,
    broken: true,
    text: "some",
    outcome: "reset",
  })
})

for (const [name, step] of [
  ["first", fault.stall()],
  ["in mid-stream", reply(say("some"), fault.stall())],
] as const) {
  test(`a stall ${name} keeps the connection open and sends nothing more`, async () => {
    await using model = await createModel({ agents: { build: step } })
    const leaving = AbortSignal.timeout(400)
    const received = await ask(model, { signal: leaving }).catch(() => "no response")
    if (name === "first") expect(received).toBe("no response")
    if (name === "in mid-stream") expect(received).toMatchObject({ broken: true })
    if (typeof received === "object") expect(textOf(received.body)).toBe("some")
    expect(await model.requests()[0]!.done).toBe("abandoned")
  })
}

test("a cut ends the body in good order, without its end", async () => {
  const { broken, body, request } = await seen(reply(say("some"), fault.cut(), say("never")))
  expect({ broken, text: textOf(body), complete: isComplete(body) }).toEqual({
    broken: false,
    text: "some",
    complete: false,
  })
  expect(request.outcome).toBe("cut")
})

test("a cut answer without streaming is half a JSON object", async () => {
  const { broken, body } = await seen(reply(say("some"), fault.cut()), false)
  expect(broken).toBe(false)
  expect(() => JSON.parse(body)).toThrow()
})

test("a torn stream ends within a JSON value", async () => {
  const { broken, body } = await seen(reply(say("some"), fault.torn()))
  expect(broken).toBe(false)
  expect(body).toEndWith('"choi')
  expect(() => chunksOf(body)).toThrow()
})

test("an error can come in place of a chunk", async () => {
  const { body } = await seen(reply(say("some"), fault.message("overloaded")))
  expect(body).toContain('data: {"error":{"message":"overloaded","type":"server_error"}}\n\n')
})

test.each([429, 500, 503])("status %i with an error body", async (code) => {
  const { status, body, headers } = await seen(fault.status(code))
  expect(status).toBe(code)
  expect(headers.get("retry-after")).toBeNull()
  expect(JSON.parse(body).error.message).toBe(`The script answers with status ${code}.`)
})

test("a rate limit with Retry-After", async () => {
  const { status, headers } = await seen(fault.rateLimit(7))
  expect({ status, after: headers.get("retry-after") }).toEqual({ status: 429, after: "7" })
})

test("an empty answer is complete, with nothing in it", async () => {
  const { body } = await seen(fault.empty())
  expect(deltasOf(body)).toEqual([{}])
  expect(isComplete(body)).toBe(true)
})

test("a blank answer has no bytes", async () => {
  const { status, body, broken } = await seen(fault.blank())
  expect({ status, body, broken }).toEqual({ status: 200, body: "", broken: false })
})

test("a web page in place of a stream", async () => {
  const { status, headers, body } = await seen(fault.wrongType())
  expect({ status, type: headers.get("content-type") }).toEqual({ status: 200, type: "text/html" })
  expect(body).toStartWith("<!doctype html>")
})

test("tool arguments that are not JSON", async () => {
  const { body } = await seen(fault.badArguments("read"))
  const text = deltasOf(body).map((delta) => delta.tool_calls?.[0]?.function.arguments ?? "")
  expect(() => JSON.parse(text.join(""))).toThrow()
  expect(isComplete(body)).toBe(true)
})

test("two calls under one id", async () => {
  const { body } = await seen(fault.sameId(["read", {}], ["grep", {}]))
  const ids = deltasOf(body).flatMap((delta) => delta.tool_calls?.flatMap((item) => item.id ?? []) ?? [])
  expect(ids).toEqual(["call_same", "call_same"])
})

test("a flood is as long as it was ordered", async () => {
  const { body } = await seen(reply(fault.flood(10_000_000), call("read")))
  expect(textOf(body).length).toBe(10_000_000)
  expect(isComplete(body)).toBe(true)
})

test("a flood waits for a slow reader, and ends when the reader leaves", async () => {
  await using model = await createModel({ agents: { build: fault.flood(1_000_000_000) } })
  const { port } = new URL(model.url)
  const body = JSON.stringify({ messages: [], stream: true })
  const head = ["POST /v1/chat/completions HTTP/1.1", "x-rehearsal-agent: build", `content-length: ${body.length}`]
  const before = process.memoryUsage.rss()
  const reader = connect(Number(port), "127.0.0.1", () => reader.write(`${head.join("\r\n")}\r\n\r\n${body}`))
  await once(reader, "data")
  reader.pause()
  await Bun.sleep(100)
  expect(model.requests()[0]?.outcome).toBeUndefined()
  expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000)
  reader.destroy()
  expect(await model.requests()[0]!.done).toBe("abandoned")
})
