import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { call, createModel, createSandbox, repeat, say, type ModelRequest } from "@pass-over/rehearsal"
import { plugin, storeOf } from "../support/opencode"

// `PASS_OVER_LONG=1 bun test ./test/pass-over/integration/flow-kill.test.ts` kills at 15 moments; else at two of them.
const MOMENTS = process.env.PASS_OVER_LONG ? 15 : 2
setDefaultTimeout(900_000)

const FLOW = `name: three
steps:
  - { id: find, agent: scout, objective: Find it }
  - id: make
    agent: general
    objective: Make it
    critic: { agent: audit, objective: Review it, rounds: 2 }
  - { id: accept, gate: release, items: ["Is it right?"] }
  - { id: end, agent: inspector, objective: End it }
`

const model = await createModel()
afterAll(() => model.stop())

const leave = (request: ModelRequest) =>
  call("pass_over_return", {
    status: "completed",
    decision: "approved",
    decision_reason: `The work of ${request.agent} holds for src/total.ts.`,
  })

/** A sandbox with the flow begun; the moments of its life are told by what the model was asked. */
async function begun() {
  const box = await createSandbox({
    model,
    plugins: [await plugin()],
    files: { "src/total.ts": "export const total = 1\n", ".opencode/flows/three.yaml": FLOW },
  })
  mkdirSync(box.data, { recursive: true })
  model.play({
    agents: {
      alice: repeat((request: ModelRequest) =>
        request.result("flow") === undefined
          ? call("flow", { action: "start", name: "three", wait: false })
          : say("begun"),
      ),
      "*": repeat(leave),
    },
  })
  const server = await box.serve()
  await server.client.app.agents()
  return { box, server }
}

type World = Awaited<ReturnType<typeof begun>>

async function until<T>(what: string, look: () => Promise<T | undefined>, tries = 600): Promise<T> {
  for (let at = 0; at < tries; at += 1) {
    const found = await look().catch(() => undefined)
    if (found !== undefined) return found
    await Bun.sleep(100)
  }
  throw new Error(`${what} did not happen`)
}

/** Lets a run end, whoever has to be asked, and tells what became of it. */
async function ended({ box }: World) {
  const store = storeOf(box)
  try {
    return await until("the end of the run", async () => {
      const [run] = await store.runs({})
      if (!run) return undefined
      const gates = await store.gates({ run_id: run.run_id })
      const open = gates.find(({ status }) => status === "pending")
      if (open) {
        const answer = { verdict: "approve" as const, note: null, by: "ada", surface: "test" }
        const data = { gate_id: open.gate_id }
        const told = {
          type: "gate.answered" as const,
          pass_over_id: run.run_id,
          session_id: open.session_id,
          directory: open.directory,
          at: Date.now(),
          data,
        }
        await store.answerGate({ gate_id: open.gate_id, answer, at: Date.now(), event: told })
      }
      if (run.status !== "completed" && run.status !== "stopped") return undefined
      const passes = await store.list({})
      const outcomes = await Promise.all(passes.map(async (pass) => ({ pass, outcome: await store.outcome(pass.id) })))
      const entries = await store.entries(run.run_id)
      return {
        status: run.status,
        reason: run.reason,
        asked: gates.map(({ key, status }) => `${key.split(":")[2]} ${status}`),
        left: entries.flatMap(({ input }) => (input.type === "left" ? [input.key] : [])),
        done: outcomes
          .flatMap(({ pass, outcome }) => (outcome?.error_code === null ? [pass.call_id?.split(":")[2] ?? ""] : []))
          .toSorted((a, b) => (a < b ? -1 : 1)),
      }
    })
  } finally {
    store.close()
  }
}

test(`a flow on the real opencode, killed at ${MOMENTS} moments, ends the same every time`, async () => {
  const expected = {
    status: "completed",
    reason: null,
    asked: ["accept?1 approved"],
    left: ["find#1", "make#1", "make#2", "end#1"],
    done: ["end#1", "find#1", "make#1", "make#2"],
  }
  for (let moment = 0; moment < MOMENTS; moment += 1) {
    const world = await begun()
    const { server, box } = world
    void server.prompt({ agent: "alice", text: "Go." }).catch(() => {})
    const store = storeOf(box)
    await until("the run", async () => (await store.runs({}))[0])
    store.close()
    // From right after its first entry until it waits for a person and beyond.
    await Bun.sleep(moment * 120)
    await server.kill()
    const again = await box.serve()
    await again.client.app.agents()
    expect(await ended(world)).toMatchObject(expected)
    expect(await box.dispose()).toEqual([])
  }
})
