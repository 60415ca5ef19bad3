import { expect, test } from "bun:test"
import { sendMany, type Many } from "../../../src/pass-over/service/send-many"
import { VERDICT } from "../support/drive"
import { createEngineWorld } from "../support/engine"

const CALLER = {
  agent: "alice",
  session_id: "ses_root",
  message_id: "msg_1",
  call_id: "call_1",
  by: "model",
  model: null,
} as const

const ask = (subagent: string, objective: string) => ({ subagent, objective, reason: "test", return_required: false })

async function all(world: ReturnType<typeof createEngineWorld>, asks: ReturnType<typeof ask>[]): Promise<Many[]> {
  const sent = await sendMany(world.engine, world.project, CALLER, asks)
  const found = {} as { results?: Many[] }
  void sent.results.then((results) => (found.results = results))
  await world.clock.until(() => found.results !== undefined)
  return found.results ?? []
}

test("results stand in the order of the asks, whoever is done first, and one failure takes nothing from the others", async () => {
  using world = createEngineWorld()
  let most = 0
  let running = 0
  world.host.script("audit", async (child) => {
    running += 1
    most = Math.max(most, running)
    const slow = child.prompt.text.includes("slow")
    await child.wait(slow ? 5_000 : 100)
    running -= 1
    if (child.prompt.text.includes("broken")) return { failure: { code: "E011", message: "gone", final: true } }
    await child.return({ ...VERDICT, decision_reason: slow ? "slow" : "fast" })
    child.step()
    return undefined
  })
  const results = await all(world, [
    ask("audit", "slow one"),
    ask("nobody", "x"),
    ask("audit", "fast one"),
    ask("audit", "broken one"),
  ])
  expect(most).toBe(3)
  expect(
    results.map((each) =>
      each.ok ? (each.outcome.output.summary.decision_reason ?? each.outcome.error_code) : each.refusal.code,
    ),
  ).toEqual(["slow", "E001", "fast", "E011"])
})

test("a batch that is sent twice is one batch, and too many at once are refused", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
  })
  const first = await all(world, [ask("audit", "a"), ask("audit", "b")])
  expect(first.map((each) => each.ok)).toEqual([true, true])
  expect(await world.engine.store.list({})).toHaveLength(2)
  const many = await all(
    world,
    Array.from({ length: 51 }, (_, index) => ask("audit", `${index}`)),
  )
  expect(many).toHaveLength(51)
  expect(many.every((each) => !each.ok && each.refusal.code === "E014")).toBe(true)
})
