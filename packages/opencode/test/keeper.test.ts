import { expect, test } from "bun:test"
import { keep } from "../src/keeper"
import { order } from "../src/pass-over/service/command"
import { answerGate } from "../src/pass-over/service/gate"
import { recover } from "../src/pass-over/service/recover"
import { outcomeOf, started, VERDICT } from "./pass-over/support/drive"
import { createEngineWorld, type EngineWorld } from "./pass-over/support/engine"
import { settle } from "./pass-over/support/fake-clock"
import { createFolder } from "./pass-over/support/folder"

/** The keeper looks about by a real clock, and so does this. */
async function comes(done: () => boolean) {
  const until = performance.now() + 5_000
  while (!done() && performance.now() < until) await Bun.sleep(10)
  return done()
}

test("while an answer is carried out for long, a cancel from another process is heard", async () => {
  using folder = createFolder()
  using world = createEngineWorld({ path: folder.at("some.db") })
  using other = createEngineWorld({ path: folder.at("some.db"), owner: "2", seed: 1_000 })
  const { engine, project, host } = world
  engine.projects.set(project.directory, project)
  const preferences = { pairs: { "alice->audit": { auto_return: false, auto_review: false } } }
  world.preferences.push({ origin: "project", path: "p", preferences })
  host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
  })
  const heard = { answer: false, cancel: false }
  host.script("scout", async (child) => {
    await child.told
    heard.cancel = true
  })
  const held = await started(world)
  await outcomeOf(world, held)
  const running = await started(world, { subagent: "scout" })
  await settle(20)
  host.deliver = () => {
    heard.answer = true
    return new Promise(() => {})
  }

  const keeper = keep(engine)
  using _ = { [Symbol.dispose]: () => void keeper.leave() }
  await keeper.recovered
  const [gate] = await other.engine.store.gates({ pass_over_id: held.pass.id, kind: "delivery" })
  await answerGate(other.engine, gate!.gate_id, { verdict: "approve", note: null, by: "ada", surface: "test" })
  expect(await comes(() => heard.answer)).toBe(true)
  await order(other.engine, { pass_over_id: running.pass.id, kind: "cancel", text: "", actor: "ada" })
  expect(await comes(() => heard.cancel)).toBe(true)
  expect(await outcomeOf(world, running)).toMatchObject({ error_code: "E016" })
})

/** Two opencodes on one database; of the second nothing is known but what it has begun, as where it was killed. */
function two() {
  const folder = createFolder()
  const world = createEngineWorld({ path: folder.at("some.db") })
  const killed = createEngineWorld({ path: folder.at("some.db"), owner: "2", seed: 1_000 })
  world.engine.projects.set(world.project.directory, world.project)
  killed.preferences.push({
    origin: "project",
    path: "p",
    preferences: { pairs: { "alice->scout": { require_confirmation: true } } },
  })
  return {
    world,
    killed,
    [Symbol.dispose]() {
      world[Symbol.dispose]()
      killed[Symbol.dispose]()
      folder[Symbol.dispose]()
    },
  }
}

const confirmation = async ({ engine }: EngineWorld) => (await engine.store.gates({ kind: "confirmation" }))[0]

test("who has left takes its place again: what is asked from elsewhere is heard, and nobody takes its passes", async () => {
  using held = two()
  const { world, killed } = held
  const { engine } = world
  world.host.script("audit", (child) => child.told)
  const keeper = keep(engine)
  using _ = { [Symbol.dispose]: () => void keeper.leave() }
  await keeper.recovered
  const known = async () => (await engine.store.owners()).some(({ owner_id }) => owner_id === engine.owner_id)
  expect(await known()).toBe(true)
  await keeper.leave()
  expect(await known()).toBe(false)
  keeper.enter()
  await keeper.recovered
  expect(await known()).toBe(true)
  const running = await started(world)
  await settle(20)
  expect(await recover(killed.engine, () => "alive")).toBe(0)
  await order(killed.engine, { pass_over_id: running.pass.id, kind: "cancel", text: "", actor: "ada" })
  expect(await comes(() => running.run.phase === "ended")).toBe(true)
})

test("a project that was open already goes on with what a killed opencode has left in it, as one that is opened", async () => {
  using held = two()
  const { world, killed } = held
  world.host.script("scout", (child) => child.told)
  killed.host.script("audit", (child) => child.told)
  world.host.messages = killed.host.messages
  const keeper = keep(world.engine, 20)
  using _ = { [Symbol.dispose]: () => void keeper.leave() }
  await keeper.recovered
  const [working, waiting] = [await started(killed), await started(killed, { subagent: "scout" })]
  await settle(20)
  expect(await comes(() => world.host.delivered.length === 1)).toBe(true)
  expect(world.host.delivered).toMatchObject([{ start: false, text: expect.stringContaining(working.pass.id) }])
  expect(await comes(() => world.engine.running.get(waiting.pass.id) !== undefined)).toBe(true)
  const gate = await confirmation(world)
  await answerGate(killed.engine, gate!.gate_id, { verdict: "approve", note: null, by: "ada", surface: "test" })
  expect(await comes(() => world.host.children.length === 1)).toBe(true)
})

test("a yes that nobody hears has its pass taken over at once", async () => {
  using held = two()
  const { world, killed } = held
  world.host.script("scout", (child) => child.told)
  const keeper = keep(world.engine)
  using _ = { [Symbol.dispose]: () => void keeper.leave() }
  await keeper.recovered
  await started(killed, { subagent: "scout" })
  await settle(20)
  await Bun.sleep(400)
  expect(world.engine.running.all()).toEqual([])
  const gate = await confirmation(world)
  // The process of its asker is gone, and with it whoever would have heard this.
  killed.engine.gates.tell = () => {}
  await answerGate(killed.engine, gate!.gate_id, { verdict: "approve", note: null, by: "ada", surface: "test" })
  expect(await comes(() => world.host.children.length === 1)).toBe(true)
})

test("so has one whose opencode has closed its project, and goes on with another", async () => {
  using held = two()
  const { world, killed: elsewhere } = held
  world.host.script("scout", (child) => child.told)
  const closing = new AbortController()
  elsewhere.project.closing = closing.signal
  const keepers = [keep(elsewhere.engine), keep(world.engine)]
  using _ = { [Symbol.dispose]: () => void keepers.map((keeper) => keeper.leave()) }
  await Promise.all(keepers.map(({ recovered }) => recovered))
  const waiting = await started(elsewhere, { subagent: "scout" })
  await settle(20)
  closing.abort()
  expect(await waiting.outcome).toMatchObject({ left: "waiting" })
  const gate = await confirmation(world)
  await answerGate(elsewhere.engine, gate!.gate_id, { verdict: "approve", note: null, by: "ada", surface: "test" })
  expect(await comes(() => world.host.children.length === 1)).toBe(true)
  expect((await world.engine.store.find(waiting.pass.id))?.owner_id).toBe(world.engine.owner_id)
})

test("whoever could not come into the list of owners comes into it with a later beat, and the log is not filled meanwhile", async () => {
  using folder = createFolder()
  using world = createEngineWorld({ path: folder.at("some.db") })
  const { store } = world.engine
  const { enter } = store
  let tries = 0
  store.enter = async () => {
    tries += 1
    throw new Error("the disk is full")
  }
  const keeper = keep(world.engine, 20)
  using _ = { [Symbol.dispose]: () => void keeper.leave() }
  await keeper.recovered
  expect(await comes(() => tries > 3)).toBe(true)
  expect(await store.owners()).toEqual([])
  expect(world.logged.map(({ message }) => message)).toEqual([
    "entering the list of owners failed",
    "the heartbeat failed",
  ])

  store.enter = enter
  const there = async () => (await store.owners()).some(({ owner_id }) => owner_id === world.engine.owner_id)
  const end = performance.now() + 5_000
  while (!(await there()) && performance.now() < end) await Bun.sleep(10)
  expect(await there()).toBe(true)
})
