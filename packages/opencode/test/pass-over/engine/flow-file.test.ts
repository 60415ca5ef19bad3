import { describe, expect, test } from "bun:test"
import { fileKey } from "../../../src/pass-over/service/flow-name"
import type { FlowRun } from "../../../src/pass-over/service/port-flow"
import { AGENTS, createFlowScene, leaves, type FlowScene } from "../support/flow"

/** Every agent says who it is in what it leaves. */
function every(scene: FlowScene, ...more: string[]) {
  const agents = [...AGENTS, ...more]
  scene.host.agents = async () =>
    agents.map((name) => ({ name, mode: name === "alice" ? ("primary" as const) : ("subagent" as const) }))
  for (const agent of agents)
    scene.host.script(
      agent,
      async (child) => void (await leaves(child, {}, { decision_reason: `Said by ${agent} after a look.` })),
    )
}

const folder = (run: FlowRun) => `.opencode/runs/${run.run_id}/${run.flow}/handoffs/`

const names = (scene: FlowScene, run: FlowRun) =>
  [...scene.files.written.keys()].flatMap((path) =>
    path.startsWith(folder(run)) ? [path.slice(folder(run).length)] : [],
  )

/** Who left each file, by what stands in it. */
const authors = (scene: FlowScene, run: FlowRun) =>
  names(scene, run).map((name) => /Said by (\S+) after/.exec(scene.files.written.get(folder(run) + name) ?? "")?.[1])

describe("the files of a run", () => {
  test("are one for each step and agent, also where both together would be called the same", async () => {
    using scene = createFlowScene([
      `name: x
steps:
  - { id: a, agent: b-c, objective: Look }
  - { id: a-b, agent: c, objective: Look }
  - { id: a-b-d, agent: c, objective: Look }
`,
    ])
    every(scene, "b-c", "c")
    const run = await scene.run("x")
    expect((await scene.settled(run))?.state.status).toBe("completed")
    expect(names(scene, run)).toEqual([
      expect.stringMatching(/^a-b-c-[0-9a-f]{8}\.json$/),
      expect.stringMatching(/^a-b-c-[0-9a-f]{8}\.json$/),
      "a-b-d-c.json",
    ])
    expect(authors(scene, run)).toEqual(["b-c", "c", "c"])
  })

  test("are one for each agent also where capitals make the difference, and none looks like another's earlier round", async () => {
    using scene = createFlowScene([
      `name: x
steps:
  - { id: a, agent: Team, objective: Look, critic: { agent: team, objective: Review } }
  - { id: b, agent: gpt, objective: Look, critic: { agent: gpt.1, objective: Review } }
  - { id: c, agent: scout, objective: Look }
`,
    ])
    every(scene, "team", "Team", "gpt", "gpt.1")
    const run = await scene.run("x")
    expect((await scene.settled(run))?.state.status).toBe("completed")
    const marked = (name: string) => expect.stringMatching(new RegExp(`^${name}-[0-9a-f]{8}\\.json$`))
    expect(names(scene, run)).toEqual([
      marked("a-Team"),
      marked("a-team"),
      "b-gpt.json",
      marked("b-gpt\\.1"),
      "c-scout.json",
    ])
    expect(authors(scene, run)).toEqual(["Team", "team", "gpt", "gpt.1", "scout"])
  })

  test("are told apart where the ids of their steps are too long for a name", async () => {
    const long = "a".repeat(58)
    using scene = createFlowScene([
      `name: top\nsteps:\n  - { id: ${long}, flow: mid }\n`,
      `name: mid\nsteps:\n  - { id: ${long}, flow: low }\n`,
      "name: low\nsteps:\n  - { id: one-step, agent: scout, objective: Look }\n  - { id: one-more, agent: scout, objective: Look }\n",
    ])
    every(scene)
    const run = await scene.run("top")
    const done = await scene.settled(run)
    expect(done?.state.status).toBe("completed")
    const written = names(scene, run)
    expect(written).toHaveLength(2)
    expect(written.filter((name) => /\.\d+\.json$/.test(name))).toEqual([])
    expect(Math.max(...written.map(({ length }) => length))).toBeLessThan(240)
    // Also what stands in them tells one step from the other.
    const steps = written.map((name) => JSON.parse(scene.files.written.get(folder(run) + name) ?? "{}").meta.step_id)
    expect(new Set(steps).size).toBe(2)
  })
})

describe("the draft of a step in work", () => {
  const ONE = `name: x
steps:
  - { id: a, agent: scout, objective: Look }
  - { id: accept, gate: accept it, items: [Is it good?] }
`
  const drafts = (scene: FlowScene, run: FlowRun) => names(scene, run).filter((name) => name.endsWith(".draft.json"))
  const by = { actor: "ada", reason: "not needed" }

  test("is gone when the run goes on without the step, and is there when it is done again", async () => {
    for (const [input, left] of [
      [{ type: "cancel", ...by }, []],
      [{ type: "skip", step: "a", ...by }, []],
      [{ type: "retry", step: "a", actor: "ada" }, ["a-scout.draft.json"]],
    ] as const) {
      using scene = createFlowScene([ONE])
      scene.host.script("scout", (child) => child.told)
      const run = await scene.run("x")
      await scene.clock.advance(10)
      expect(drafts(scene, run)).toEqual(["a-scout.draft.json"])
      await scene.flows.order(run.run_id, input, "ada")
      await scene.clock.advance(10)
      expect(drafts(scene, run)).toEqual([...left])
    }
  })

  test("is taken away at the next start where its opencode was killed before that", async () => {
    using scene = createFlowScene([ONE])
    scene.host.script("scout", (child) => child.told)
    const run = await scene.run("x")
    await scene.clock.advance(10)
    // What follows from the entry is not done any more.
    scene.files.remove = () => {}
    await scene.flows.order(run.run_id, { type: "skip", step: "a", ...by }, "ada")
    expect(drafts(scene, run)).toEqual(["a-scout.draft.json"])
    const files = { ...scene.files, remove: (path: string) => void scene.files.written.delete(path) }
    using later = createFlowScene([ONE], { store: scene.engine.store, owner: "2", seed: 9_000, files })
    expect(await later.flows.recover(() => "dead")).toBe(1)
    expect(drafts(later, run)).toEqual([])
  })
})

test("a name that becomes part of a file's name is as it is where it can be, and keeps a mark where it is cut", () => {
  const hash = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex")
  expect(fileKey("write.tests-2", hash)).toBe("write.tests-2")
  expect(fileKey("team/one", hash)).toBe("team_one")
  expect(fileKey("-x", hash)).toBe("xx")
  expect(fileKey("", hash)).toBe("x")
  const [one, two] = ["one", "two"].map((end) => fileKey("a".repeat(120) + end, hash))
  expect(one).toMatch(/^a{91}-[0-9a-f]{8}$/)
  expect(one).not.toBe(two!)
})
