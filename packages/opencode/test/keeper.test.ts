import { expect, test } from "bun:test"
import { keep } from "../src/keeper"
import { order } from "../src/pass-over/service/command"
import { answerGate } from "../src/pass-over/service/gate"
import { outcomeOf, started, VERDICT } from "./pass-over/support/drive"
import { createEngineWorld } from "./pass-over/support/engine"
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
