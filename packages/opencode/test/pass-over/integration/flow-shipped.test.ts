import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { call, say, type ModelRequest } from "@pass-over/rehearsal"
import { createWorld, endWorld, type World } from "../support/opencode"

setDefaultTimeout(120_000)

const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld()
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (let left = 400; left > 0; left -= 1) {
    const found = await look()
    if (found !== undefined) return found
    await Bun.sleep(50)
  }
  throw new Error(`${what} did not come`)
}

const checked = (overall_passed: boolean) => ({
  checks: {},
  overall_passed,
  blocking_issues: overall_passed ? [] : ["floats lose cents"],
  warnings: [],
})

const judge = (yes: boolean) => [
  call("read", { filePath: "src/total.ts" }),
  call("pass_over_return", {
    status: "completed",
    decision: yes ? "approved" : "needs_modification",
    decision_reason: `Looked at src/total.ts: ${yes ? "integers are kept" : "floats lose cents"}.`,
    ...(yes
      ? {}
      : {
          findings: [
            { severity: "error", category: "bug", message: "floats lose cents", path: "src/total.ts", line: 1 },
          ],
        }),
    evidence: [{ type: "file", path: "src/total.ts", line: 1 }],
    artifacts: [
      {
        type: "message",
        role: "internal",
        content: JSON.stringify({ handoff: { findings: checked(yes) } }),
        visibility: "originator_only",
      },
    ],
  }),
]

const messagesOf = async (sessionID: string) =>
  (await held.world.server.client.session.messages({ sessionID })).data ?? []

const brought = async (sessionID: string) =>
  (await messagesOf(sessionID)).flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "text" && part.text.startsWith("The flow council") ? [part] : [])),
  )

const start = (wait: boolean) =>
  call("flow", { action: "start", name: "council", inputs: { question: "May src/total.ts use floats?" }, wait })

const council = { audit: judge(true), inspector: judge(false), scout: judge(true) }

test("the council that comes with the product: two of three agree, and the call's answer has it", async () => {
  const { model, server, store } = held.world
  model.play({
    agents: { alice: [start(true), (request: ModelRequest) => say(request.result("flow") ?? "nothing")], ...council },
  })
  const answer = await server.prompt({ agent: "alice", text: "Let them decide." })
  expect(answer.text).toContain("council: completed")
  expect(answer.text).toContain("2 of 3 branches passed (quorum 2)")
  expect(answer.text).toContain("floats lose cents")
  await until("delivery", async () =>
    (await store.flowDeliveries({ session_id: answer.sessionID })).length === 0 ? true : undefined,
  )
  await Bun.sleep(300)
  expect(await brought(answer.sessionID)).toEqual([])
})

test("a council that nobody waits for brings its end as one message, with which the idle originator goes on", async () => {
  const { model, server, store } = held.world
  model.play({ agents: { alice: [start(false), say("I go on."), say("Now I know.")], ...council } })
  const answer = await server.prompt({ agent: "alice", text: "Let them decide." })
  expect(answer.text).toBe("I go on.")
  const [message] = await until("the end", async () => {
    const found = await brought(answer.sessionID)
    return found.length > 0 ? found : undefined
  })
  expect(message).toMatchObject({
    synthetic: true,
    metadata: { pass_over_flow: { flow: "council", status: "completed" } },
  })
  await until("the next turn", async () => (model.requests({ agent: "alice" }).length >= 3 ? true : undefined))
  expect(model.requests({ agent: "alice" })[2]?.user).toContain("2 of 3 branches passed (quorum 2)")
  expect(await store.flowDeliveries({ session_id: answer.sessionID })).toEqual([])
  await until("rest", async () => {
    const status = (await server.client.session.status()).data ?? {}
    return (status[answer.sessionID]?.type ?? "idle") === "idle" ? true : undefined
  })
  expect(await brought(answer.sessionID)).toHaveLength(1)
})
