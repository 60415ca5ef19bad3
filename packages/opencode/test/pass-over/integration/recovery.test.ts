import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { call, gate, hold, reply, say, type Gate, type Scenario, type Server } from "@pass-over/rehearsal"
import { openEnvelope } from "../../../src/pass-over/domain/envelope"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { broken } from "../proof/laws"
import { PATIENCE_MS, report, scale } from "../proof/scale"
import { connect } from "../support/database"
import { createWorld, databaseOf, endWorld, toolCalls, type World } from "../support/opencode"
import { until } from "../support/until"

setDefaultTimeout(PATIENCE_MS)

const held = {} as { world: World; server: Server }

beforeAll(async () => {
  held.world = await createWorld()
  held.server = held.world.server
})
afterEach(() => held.world.model.play({ agents: {} }))
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

/** The next opencode on the same data, with its plugin loaded. */
async function restart() {
  held.server = await held.world.box.serve()
  await held.server.client.app.agents()
}

const handover = (objective: string, more: Record<string, unknown> = {}) =>
  call("pass_over", { subagent: "audit", objective, reason: "code_review", ...more })
const back = call("pass_over_return", {
  decision: "approved",
  decision_reason: "It is right.",
  findings: ["a finding"],
})
const read = () => call("read", { filePath: join(held.world.box.project, "src/total.ts") })

type Moment = {
  /** Where the process is killed: the scenario waits there. */
  play: (there: Gate) => Scenario
  status: string
  /** What of the child's work has to be there afterwards. */
  kept: string[]
}

/** The moments of a pass at which the model has the word. The last of them come when everything is over. */
const MOMENTS: Record<string, Moment> = {
  "before the child's first answer": {
    play: (there) => ({ agents: { alice: handover("Never begin"), audit: reply(hold(there)) } }),
    status: "failed",
    kept: [],
  },
  "in the middle of the child's answer": {
    play: (there) => ({
      agents: { alice: handover("Read and speak"), audit: [read(), reply(say("I see"), hold(there))] },
    }),
    status: "failed",
    kept: ["tool_result"],
  },
  "after the return, before its step is over": {
    play: (there) => ({ agents: { alice: handover("Return"), audit: [read(), reply(back, hold(there))] } }),
    status: "completed",
    kept: ["finding", "tool_result"],
  },
  "when the originator has its answer": {
    play: (there) => ({ agents: { alice: [handover("Return in peace"), reply(hold(there))], audit: [read(), back] } }),
    status: "completed",
    kept: ["finding", "tool_result"],
  },
  "while the originator works on, having not waited": {
    play: (there) => ({
      agents: {
        alice: [handover("Later", { wait: false }), reply(hold(gate()))],
        audit: [read(), reply(back, hold(there))],
      },
    }),
    status: "completed",
    kept: ["finding", "tool_result"],
  },
}

/** Kills opencode with a pass at a moment of its life, so many milliseconds later, and starts it again. */
async function killedAt(moment: Moment, late_ms: number): Promise<{ pass: Pass; session: string }> {
  const { model, store } = held.world
  const there = gate()
  model.play(moment.play(there))
  const session = (await held.server.client.session.create()).data!.id
  const turn = held.server.prompt({ agent: "alice", text: "Go.", sessionID: session }).catch(() => {})
  await there.reached
  // What the tools of an answer do, they do while it is on its way.
  await Bun.sleep(150 + late_ms)
  await held.server.kill()
  there.open()
  await turn
  model.play({ agents: {} })
  await restart()
  const [pass] = await store.list({ session_id: session })
  if (!pass) throw new Error("no pass was made")
  return { pass, session }
}

/** How often a result stands in its originator's session: as the answer to the call, or as a message. */
async function received(session: string, pass: Pass): Promise<number> {
  const messages = (await held.server.client.session.messages({ sessionID: session })).data ?? []
  const answers = toolCalls(messages, "pass_over").filter((part) => openEnvelope(part.state.output ?? "") !== undefined)
  const brought = messages
    .flatMap((message) => message.parts)
    .filter((part) => part.type === "text" && part.synthetic && part.text.includes(pass.id))
  return answers.length + brought.length
}

async function check(moment: Moment, { pass, session }: { pass: Pass; session: string }) {
  const { store, model } = held.world
  const outcome = await until("the whole outcome", async () => {
    const found = await store.outcome(pass.id)
    return found?.transcript === "read" ? found : undefined
  })
  await until("the result", async () => ((await received(session, pass)) > 0 ? true : undefined))
  using database = connect(databaseOf(held.world.box))
  await until("the end of its delivery", async () =>
    (await store.deliveries(session)).length === 0 ? true : undefined,
  )
  expect(broken(database.client, pass.id)).toEqual([])
  expect(outcome.output.status as string).toBe(moment.status)
  expect(outcome.output.artifacts.map((artifact) => artifact.type as string)).toEqual(
    expect.arrayContaining(moment.kept),
  )
  expect(await received(session, pass)).toBe(1)
  // No money is spent without the user.
  expect(model.requests()).toEqual([])
}

const ROUNDS = scale(1, 4)
const CHOSEN = Object.entries(MOMENTS).filter(([name]) => scale(0, 1) === 1 || !name.startsWith("when"))

for (const [name, moment] of CHOSEN) {
  test(`opencode killed ${name}: one outcome, delivered once, nothing lost`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await check(moment, await killedAt(moment, round * 70))
      report("killed", { name, round })
    }
  })
}

test("opencode killed after a child's return that worked in a tree of its own: its changes are there to be decided about", async () => {
  const { box, store } = held.world
  const command = "echo made > made.txt && rm src/total.ts"
  const wrote = call("bash", { command, description: "Change" })
  const hash = new Bun.CryptoHasher("sha256").update("made\n").digest("hex")
  const proven = call("pass_over_return", {
    status: "completed",
    decision_reason: "It is made.",
    findings: [{ severity: "info", category: "x", message: "made", path: "made.txt" }],
    evidence: [
      { type: "command", command, exit_code: 0 },
      { type: "file", path: "made.txt", hash: hash.slice(0, 12) },
    ],
  })
  const moment: Moment = {
    play: (there) => ({
      agents: {
        alice: handover("Change it", { subagent: "general", override: { isolation: "worktree" } }),
        general: [wrote, reply(proven, hold(there))],
      },
    }),
    status: "completed",
    kept: ["finding", "file_modification"],
  }
  const killed = await killedAt(moment, 100)
  await check(moment, killed)
  const changes = await store.changes(killed.pass.id)
  expect(changes.map(({ origin, files }) => [origin, files.map(({ path }) => path)])).toEqual([
    ["isolated", ["made.txt", "src/total.ts"]],
  ])
  const summary = (await store.outcome(killed.pass.id))?.output.summary
  expect(summary?.change).toMatchObject({ files: 2, origin: "isolated" })
  expect(summary?.verdict).toEqual({ status: "VERIFIED", checked: 3, unresolved: [] })
  expect(box.read("src/total.ts")).toContain("total")
  await held.server.client.instance.dispose()
  await until("the end of its tree", async () =>
    box.git("worktree", "list").trim().split("\n").length === 1 ? true : undefined,
  )
  await held.server.client.app.agents()
})

test("opencode killed while a child of a child is at work in a tree of its own: both are read, and no tree is left", async () => {
  const { box, model, store } = held.world
  const there = gate()
  const bash = (command: string) => call("bash", { command, description: "x" })
  const isolated = { override: { isolation: "worktree" } }
  model.play({
    agents: {
      alice: handover("Change both", { subagent: "scout", ...isolated }),
      scout: [bash("echo above > above.txt"), handover("Change below", isolated)],
      audit: [bash("cat above.txt > below.txt"), reply(say("I see"), hold(there))],
    },
  })
  const session = (await held.server.client.session.create()).data!.id
  const turn = held.server.prompt({ agent: "alice", text: "Go.", sessionID: session }).catch(() => {})
  await there.reached
  const trees = await store.worktrees()
  expect(trees.filter(({ pass_over_id }) => pass_over_id !== null)).toHaveLength(2)
  await held.server.kill()
  there.open()
  await turn
  model.play({ agents: {} })
  await restart()
  const passes = await store.list({ root_session_id: session })
  expect(passes.map(({ subagent_id }) => subagent_id)).toEqual(["scout", "audit"])
  const [above, below] = await Promise.all(
    passes.map(({ id }) => until("its change", async () => (await store.changes(id)).at(-1))),
  )
  expect([above, below].map((change) => change?.files.map(({ path }) => path))).toEqual([["above.txt"], ["below.txt"]])
  expect(below?.directory).toBe(box.project)
  const gone = async () =>
    (await store.worktrees()).length === 0 && trees.every(({ directory }) => !existsSync(directory)) ? true : undefined
  await held.server.client.instance.dispose()
  await until("the end of their trees", gone)
  expect(box.git("worktree", "list").trim().split("\n")).toHaveLength(1)
  await held.server.client.app.agents()
})

test("opencode's own task, killed in the middle, is still running after the restart", async () => {
  const { model } = held.world
  const there = gate()
  model.play({
    agents: {
      build: call("task", { description: "review total", prompt: "Review it.", subagent_type: "general" }),
      general: [read(), reply(say("I see"), hold(there))],
    },
  })
  const session = (await held.server.client.session.create()).data!.id
  const turn = held.server.prompt({ agent: "build", text: "Go.", sessionID: session }).catch(() => {})
  await there.reached
  await Bun.sleep(150)
  await held.server.kill()
  there.open()
  await turn
  model.play({ agents: {} })
  await restart()
  await Bun.sleep(2_000)
  const messages = (await held.server.client.session.messages({ sessionID: session })).data ?? []
  expect(toolCalls(messages, "task").map((part) => part.state.status)).toEqual(["running"])
  expect(messages.flatMap((message) => message.parts).some((part) => part.type === "text" && part.synthetic)).toBe(
    false,
  )
})
