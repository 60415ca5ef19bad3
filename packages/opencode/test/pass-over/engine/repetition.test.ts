import { expect, test } from "bun:test"
import { countBy, range } from "remeda"
import { createEngineWorld, type EngineWorld, type EngineWorldOptions } from "../support/engine"
import { createFolder } from "../support/folder"

const SAME = { objective: "Review the last commit" }

function waiting(options: EngineWorldOptions = {}): EngineWorld {
  const world = createEngineWorld(options)
  for (const agent of ["audit", "scout"]) world.host.script(agent, async (child) => child.told)
  return world
}

const codes = (sent: readonly Awaited<ReturnType<EngineWorld["ask"]>>[]) =>
  sent.map((one) => (one.ok ? "sent" : one.refusal.code)).toSorted()

test("the same objective asked for side by side is refused from the fourth time on, and each refusal is written down", async () => {
  using world = waiting()
  const sent = await Promise.all(Array.from({ length: 10 }, () => world.ask(SAME)))
  expect(codes(sent)).toEqual([...Array(7).fill("E003"), ...Array(3).fill("sent")])
  expect(await world.engine.store.list({})).toHaveLength(3)
  const refused = await world.engine.store.audit({ action: "refused" })
  expect(refused).toHaveLength(7)
  expect(refused[0]?.summary).toContain("Repetition: alice has passed this same objective to audit 3 times already")
  // Another agent, another objective and another session tree are nobody's repetition.
  expect(codes([await world.ask({ ...SAME, subagent: "scout" }), await world.ask()])).toEqual(["sent", "sent"])
  expect(codes([await world.ask(SAME, { session_id: "ses_other" })])).toEqual(["sent"])
})

test("it holds over two processes on one database", async () => {
  using folder = createFolder()
  const path = folder.at("pass-over.db")
  using one = waiting({ path })
  using two = waiting({ path, owner: "2", seed: 1_000_000, serial: 1_000 })
  const asks = Array.from({ length: 10 }, (_, index) => (index % 2 ? one : two).ask(SAME))
  expect(codes(await Promise.all(asks))).toEqual([...Array(7).fill("E003"), ...Array(3).fill("sent")])
  expect(await one.engine.store.list({})).toHaveLength(3)
})

/** Every agent at every place of every chain asks every agent for the same, one time more often than it may, all at once. */
async function storm(world: EngineWorld, trees: number) {
  const agents = ["alice", "scout", "audit", "inspector"]
  const room = { running: 10_000, running_per_subagent: 10_000, running_per_model: 10_000, tree: { passes: 10_000 } }
  // A pair with alice behind it makes her somebody that work may be passed back to.
  const preferences = { limits: room, pairs: { "*->alice": {} } }
  world.preferences.push({ origin: "project", path: ".opencode/pass-over.json", preferences })
  const codes: string[] = []
  const pending = new Set<Promise<void>>()
  const all = (agent: string, session_id: string) => {
    const asks = agents.flatMap((subagent) => range(0, 4).map(() => ({ subagent, ...SAME })))
    const done = Promise.all(asks.map((ask) => world.ask(ask, { agent, session_id }))).then((sent) => {
      codes.push(...sent.map((one) => (one.ok ? "sent" : one.refusal.code)))
    })
    pending.add(done)
    return done.finally(() => pending.delete(done))
  }
  for (const agent of agents.slice(1)) {
    world.host.script(agent, async (child) => {
      await all(agent, child.session_id)
      await child.told
    })
  }
  range(0, trees).forEach((tree) => void all("alice", `ses_root${tree}`))
  // Who was let in has its child a moment later, and only then asks in its turn.
  for (let sent = 1; pending.size > 0 || world.host.prompts.length < sent;) {
    await Bun.sleep(5)
    sent = codes.filter((code) => code === "sent").length
  }
  return countBy(codes, (code) => code)
}

test("under load no chain is too long, none goes in a circle, and nobody is asked the same too often", async () => {
  using world = createEngineWorld()
  const trees = 3
  // A tree: each of nine pairs three times. What an agent asks of itself or of those above it is a cycle, and what the
  // third of a chain asks is too deep, whomever it asks.
  expect(await storm(world, trees)).toEqual({ sent: 27 * trees, E002: 18 * 16 * trees, E003: (7 + 126) * trees })
  const passes = await world.engine.store.list({ limit: 1_000 })
  expect(passes).toHaveLength(27 * trees)
  for (const pass of passes) {
    const chain = [...pass.ancestors, pass.subagent_id]
    expect(chain.length).toBeLessThanOrEqual(3)
    expect(new Set(chain).size).toBe(chain.length)
  }
  const alike = countBy(passes, (pass) =>
    [pass.root_session_id, pass.originating_agent_id, pass.subagent_id, pass.objective_hash].join(" "),
  )
  expect(Object.values(alike)).toEqual(Array.from({ length: 9 * trees }, () => 3))
}, 30_000)
