import { expect, test } from "bun:test"
import { transcriptItem, type TranscriptItem } from "../../../src/pass-over/domain/transcript"
import { inOrder } from "../../../src/pass-over/domain/transcript-order"
import { order } from "../../../src/pass-over/service/command"
import { recover, resume } from "../../../src/pass-over/service/recover"
import type { Runner } from "../../../src/pass-over/service/runner"
import { readTranscript } from "../../../src/pass-over/service/transcript"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"
import { plant } from "../support/secrets"

const transcript = async ({ engine }: EngineWorld, { pass }: Pick<Runner, "pass">) =>
  inOrder((await readTranscript(engine.store, pass.id)).flatMap(transcriptItem))

const line = (item: TranscriptItem) =>
  item.kind === "tool" ? item.tool : `${item.kind}: ${item.text.split("\n")[0]?.slice(0, 40)}`

const lines = async (world: EngineWorld, runner: Pick<Runner, "pass">) => (await transcript(world, runner)).map(line)

const TOLD = "told: alice passes a piece of work over to you "

test("what a child is told, thinks, says and does is there while it runs, in order, and stays", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    child.think("The sum comes first.")
    child.say("I read the total.")
    child.tool("read", { filePath: "a.ts" }, "1: a")
    child.say("The sign is wrong.")
    await child.wait(10_000)
    await child.return(VERDICT)
    // The return is how its outcome came, and no line of its own.
    child.tool("pass_over_return", VERDICT, "Taken.")
    child.step()
  })
  const runner = await started(world, { objective: "Is the sum right?" })
  await world.clock.advance(1_000)
  const seen = ["thought: The sum comes first.", "said: I read the total.", "read", "said: The sign is wrong."]
  expect(await lines(world, runner)).toEqual([TOLD.slice(0, 46), ...seen])
  expect((await transcript(world, runner))[0]).toMatchObject({ text: expect.stringContaining("Is the sum right?") })
  await outcomeOf(world, runner)
  await world.clock.advance(2_000)
  expect(await lines(world, runner)).toEqual([TOLD.slice(0, 46), ...seen])
  // Nothing is written twice, though the session is read once more at the end.
  expect(await readTranscript(world.engine.store, runner.pass.id)).toHaveLength(5)
})

test("words wait for what is written anyway, and no longer than a moment; nothing of the pass waits for them", async () => {
  using world = createEngineWorld()
  const { store } = world.engine
  const written: number[] = []
  const announce = store.announce
  store.announce = (...events) => {
    written.push(events.length)
    return announce(...events)
  }
  world.host.script("audit", async (child) => {
    child.say("one")
    child.say("two")
    await child.wait(100)
    child.tool("read", { filePath: "a.ts" }, "1: a")
    await child.wait(100)
    child.say("three")
    await child.wait(10_000)
  })
  const runner = await started(world)
  await world.clock.advance(150)
  expect(written).toEqual([4])
  await world.clock.advance(200)
  expect(written).toEqual([4])
  await world.clock.advance(100)
  expect(written).toEqual([4, 1])
  // A store that hangs, or fails, is no matter of the child's.
  store.announce = () => new Promise(() => {})
  world.engine.hear({
    type: "said",
    session_id: runner.pass.child_session_id!,
    said: { id: "prt_x", kind: "said", text: "four" },
  })
  store.announce = () => Promise.reject(new Error("the disk is full"))
  await world.clock.advance(300)
  runner.input({ type: "cancel", failure: { code: "E016", message: "enough" } })
  expect((await outcomeOf(world, runner)).error_code).toBe("E016")
})

test("what a person says to it stands where it was said, and what it had begun to say when it was stopped, at the end", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    child.say("I begin.")
    await child.told
  })
  const runner = await started(world)
  await world.clock.advance(300)
  const said = await order(world.engine, {
    pass_over_id: runner.pass.id,
    kind: "message",
    text: "Look at refunds too",
    actor: "ada",
  })
  expect(said.ok).toBe(true)
  await world.clock.advance(300)
  const messages = world.host.messages
  world.host.messages = async (id) => [
    ...(await messages(id)),
    {
      id: "msg_z",
      role: "assistant",
      agent_name: "audit",
      timestamp: world.clock.now(),
      parts: [{ id: "prt_z", type: "text", text: "The refunds are", timestamp: world.clock.now() }],
    },
  ]
  runner.input({ type: "cancel", failure: { code: "E016", message: "enough" } })
  await outcomeOf(world, runner)
  await world.clock.advance(1_000)
  expect((await lines(world, runner)).slice(1)).toEqual([
    "said: I begin.",
    "told: ada says: Look at refunds too",
    "said: The refunds are",
  ])
})

test("a pass that goes on in an older session has only what was said for it", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    child.say(`said in ${child.session_id} ${world.host.prompts.length}`)
    await child.return(VERDICT)
    child.step()
  })
  const first = await started(world)
  await outcomeOf(world, first)
  await world.clock.advance(3_000)
  const second = await started(world, { continue: first.pass.id })
  await outcomeOf(world, second)
  await world.clock.advance(3_000)
  expect(second.pass.child_session_id).toBe(first.pass.child_session_id)
  const [one, two] = [await lines(world, first), await lines(world, second)]
  expect([one.length, two.length]).toEqual([2, 2])
  expect(one[1]).not.toBe(two[1]!)
})

test("what was said is there when the opencode that ran it is gone; what it could not write down is added from the session", async () => {
  using first = createEngineWorld()
  first.host.script("audit", async (child) => {
    child.say("I read it.")
    child.tool("read", { filePath: "a.ts" }, "1: a")
    child.say("The sign is wrong.")
    await child.told
  })
  const runner = await started(first)
  await settle(20)
  // Killed before the last words were written down.
  const before = await lines(first, runner)
  expect(before.slice(1)).toEqual(["said: I read it.", "read"])
  using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
  second.host.messages = first.host.messages
  await recover(second.engine, () => "dead")
  expect(await lines(second, runner)).toEqual(before)
  await resume(second.engine, second.project, () => "dead")
  await second.clock.advance(500)
  expect(await lines(second, runner)).toEqual([...before, "said: The sign is wrong."])
  expect(await readTranscript(first.engine.store, runner.pass.id)).toHaveLength(before.length + 1)
})

test("hostile words are words, secrets are none of them, and a flood is cut", async () => {
  using world = createEngineWorld()
  const key = plant(40).find(({ kind }) => kind === "github classic")?.value ?? ""
  world.host.script("audit", async (child) => {
    child.say(`</li><script>alert(1)</script>\u001b[2J ${key}`)
    child.say("x ".repeat(10_000))
    child.tool("bash", { command: `${"y ".repeat(990)}${key}` }, "ok")
    await child.wait(10_000)
  })
  const runner = await started(world)
  await world.clock.advance(1_000)
  const all = (await transcript(world, runner)).slice(1)
  expect(JSON.stringify(all)).not.toContain(key.slice(0, 12))
  expect(all).toMatchObject([
    { text: expect.stringContaining("</li><script>alert(1)</script>\u001b[2J [redacted:") },
    { text: "x ".repeat(4_000), more: 12_000 },
    { kind: "tool", input: expect.stringContaining("[red") },
  ])
  expect((await world.engine.store.eventsOf(runner.pass.id, 1_000)).events).not.toContainEqual(
    expect.objectContaining({ type: "pass.said" }),
  )
})
