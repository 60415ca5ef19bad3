import { expect, test } from "bun:test"
import { call, createModel, eachSession, repeat, say, type Reply, type Scenario } from "../src/index"
import { ask, textOf } from "./ask"

/** What the scenario answers to these agents and sessions, in this order. */
async function answers(scenario: Scenario, asked: [agent: string, session: string, text?: string][]) {
  await using model = await createModel(scenario)
  const texts: string[] = []
  for (const [agent, session, text = "hi"] of asked) {
    const { status, body } = await ask(model, { agent, session, text })
    texts.push(status === 200 ? textOf(body) : `${status} ${JSON.parse(body).error.message}`)
  }
  return { texts, report: model.report(), verify: model.verify }
}

test("a list is one queue for all sessions of its agent", async () => {
  const { texts, report } = await answers({ agents: { a: [say("1"), say("2")], b: say("b") } }, [
    ["a", "s1"],
    ["b", "s2"],
    ["a", "s3"],
  ])
  expect(texts).toEqual(["1", "b", "2"])
  expect(report).toBe("")
})

test("eachSession plays from the top in every session", async () => {
  const { texts, report } = await answers({ agents: { a: eachSession([say("1"), say("2")]) } }, [
    ["a", "s1"],
    ["a", "s2"],
    ["a", "s2"],
    ["a", "s1"],
  ])
  expect(texts).toEqual(["1", "1", "2", "2"])
  expect(report).toBe("")
})

test("eachSession can choose its steps by the first request", async () => {
  const script = eachSession((first) => [say(`got ${first.user}`), say("end")])
  const { texts } = await answers({ agents: { a: script } }, [
    ["a", "s1", "x"],
    ["a", "s2", "y"],
    ["a", "s1", "ignored"],
  ])
  expect(texts).toEqual(["got x", "got y", "end"])
})

test("repeat plays a number of times, or for ever without counting as unplayed", async () => {
  const { texts, report } = await answers(
    { agents: { a: [repeat(say("1"), 2), repeat((r) => say(`turn ${r.turn}`))] } },
    [
      ["a", "s1"],
      ["a", "s1"],
      ["a", "s1"],
      ["a", "s2"],
    ],
  )
  expect(texts).toEqual(["1", "1", "turn 3", "turn 1"])
  expect(report).toBe("")
})

test("a repeat that was not played so often is unplayed", async () => {
  const { report } = await answers({ agents: { a: repeat(say("1"), 3) } }, [["a", "s1"]])
  expect(report).toContain('1 of 1: say "1", repeated 3 (played 1)')
})

test("a step after an endless one is refused at once", async () => {
  await expect(createModel({ agents: { a: [repeat(say("1")), say("2")] } })).rejects.toThrow("can never be played")
  await expect(createModel({ agents: { a: eachSession([repeat(say("1")), say("2")]) } })).rejects.toThrow(
    "never be played",
  )
})

test('"*" answers for agents without a script, and titles are answered by default', async () => {
  const { texts, report } = await answers({ agents: { a: say("a"), "*": [say("1"), say("2")] } }, [
    ["x", "s1"],
    ["a", "s1"],
    ["y", "s1"],
    ["title", "s1"],
  ])
  expect(texts).toEqual(["1", "a", "2", "Rehearsal"])
  expect(report).toBe("")
})

test("a request after the end of a script is answered with 400 and reported", async () => {
  const { texts, report, verify } = await answers({ agents: { a: say("1") } }, [
    ["a", "s1"],
    ["a", "s1", "and now?"],
  ])
  expect(texts[1]).toBe("400 The script of a has 1 step, all played. The rehearsal's report has the details.")
  expect(report).toBe(`The model was not used as its scenario says: 1 problem.

1. Unexpected request from agent "a", session s1, its request 2 (number 2 of all).
   The script of a has 1 step, all played.
   It was sent:
     system: (none)
     tools: none
     user: and now?

All requests:
  1. a s1: user: hi
  2. a s1: user: and now?`)
  expect(verify).toThrow("Unexpected request")
})

test("an agent nobody wrote a script for is unexpected", async () => {
  const { texts, report } = await answers({ agents: { a: say("1"), b: repeat(say("b")) } }, [
    ["a", "s1"],
    ["scout", "s2"],
    ["", ""],
  ])
  expect(texts[1]).toStartWith('400 There is no script for "scout". Scripts: a, b.')
  expect(texts[2]).toStartWith("400 There is no script for a client that names no agent.")
  expect(report).toContain("2 problems.")
})

test("steps nobody asked for are reported", async () => {
  const { report, verify } = await answers(
    { agents: { a: [say("1"), call("read", { filePath: "x" }), () => say("3")], b: eachSession([say("b")]) } },
    [["a", "s1", "start"]],
  )
  expect(report).toBe(`The model was not used as its scenario says: 2 problems.

1. Not played: 2 of 3 steps of a.
     2 of 3: call read {"filePath":"x"}
     3 of 3: a function
   Its last request (number 1) ended with: user: start

2. Not played: 1 of 1 steps of b.
     1 of 1: say "b"
   It was never asked.

All requests:
  1. a s1: user: start`)
  expect(verify).toThrow("Not played")
})

test("a step that throws is reported and answered with 400", async () => {
  const wrong = () => {
    throw new Error("no such tool result")
  }
  const { texts, report } = await answers({ agents: { a: wrong } }, [["a", "s1"]])
  expect(texts[0]).toStartWith("400 The script of a, step 1 of 1 threw: Error: no such tool result")
  expect(report).toContain('A step failed for agent "a"')
})

test("a reply that is no JSON, or none at all, is reported", async () => {
  const circular: Record<string, unknown> = {}
  circular["self"] = circular
  const forgot = (() => {}) as unknown as () => Reply
  await using model = await createModel({ agents: { a: call("read", circular), b: forgot } })
  expect((await ask(model, { agent: "a" })).status).toBe(400)
  expect((await ask(model, { agent: "b" })).status).toBe(400)
  expect(model.report()).toContain("The script of a, step 1 of 1 threw: TypeError: JSON.stringify cannot serialize")
  expect(model.report()).toContain("The function of b, step 1 of 1 gave no reply.")
})

test("a chooser that throws is reported too, and a chosen script that nobody began", async () => {
  const wrong = () => {
    throw new Error("unknown errand")
  }
  const { texts, report } = await answers({ agents: { a: eachSession(wrong), b: eachSession(wrong) } }, [["a", "s1"]])
  expect(texts[0]).toStartWith("400 The script of a threw: Error: unknown errand")
  expect(report).toContain("Not played: all steps of b.\n   It was never asked.")
})

test("routes and bodies that no client of ours sends are reported", async () => {
  await using model = await createModel()
  expect((await fetch(`${model.url}/responses`, { method: "POST", body: "{}" })).status).toBe(404)
  expect((await fetch(`${model.url}/chat/completions`, { method: "POST", body: "no" })).status).toBe(400)
  expect(model.report()).toContain("Unexpected request: POST /v1/responses")
  expect(model.report()).toContain("A request whose body is not a JSON object.")
  expect(model.verify).toThrow()
})

test("a new scenario starts afresh, and speaks up for the old one unless verify already has", async () => {
  await using model = await createModel({ agents: { a: say("1") } })
  expect(() => model.play({ agents: { a: say("2") } })).toThrow("Not played")
  expect(textOf((await ask(model, { agent: "a" })).body)).toBe("2")
  expect(model.requests()).toHaveLength(1)
  model.play({ agents: { a: say("3") } })
  expect(model.requests()).toHaveLength(0)
  expect(model.verify).toThrow("Not played")
  model.play({ agents: {} })
  model.verify()
})
