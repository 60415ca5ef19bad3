import { afterAll, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { call, createModel, createSandbox, repeat, say, type ModelRequest } from "@pass-over/rehearsal"
import { plugin, storeOf } from "../support/opencode"

// `bun script/proof.ts flow` kills at 15 moments; else at two of them.
const long = Boolean(process.env.PASS_OVER_LONG) || process.env.PASS_OVER_PROOF === "all"
const MOMENTS = long ? 15 : 2
setDefaultTimeout(900_000)

/** How long the flow takes until it waits for a person, about. */
const LIFE_MS = 2_700

const model = await createModel()
afterAll(() => model.stop())

const FINDINGS: Record<string, unknown> = {
  scout: { existing_implementations: [], conflicts: [], patterns_found: [], recommendations: [] },
  general: { files_created: [], files_modified: [], tests_written: [], implementation_notes: [] },
  inspector: { checks: {}, overall_passed: true, blocking_issues: [], warnings: [] },
}
const AGAIN = { recommendation: "LOOP", can_further_iteration_help: true, reason: "it can be put right" }
const DEFECT = { severity: "error", category: "bug", message: "it loses cents", path: "src/total.ts", line: 1 }

/** Every step leaves what it is asked for; the critic sends the first round back. */
function leave(request: ModelRequest) {
  const agent = request.agent ?? ""
  const again = agent === "audit" && !request.user.includes("round 2")
  const note = {
    context_summary: `The ${agent} looked at src/total.ts.`,
    ...(agent === "audit" ? (again ? { routing: AGAIN } : {}) : { decision: "PROCEED", findings: FINDINGS[agent] }),
  }
  return call("pass_over_return", {
    status: "completed",
    decision: again ? "needs_modification" : "approved",
    decision_reason: `The work of ${agent} for src/total.ts.`,
    ...(again ? { findings: [DEFECT] } : {}),
    evidence: [{ type: "file", path: "src/total.ts", line: 1 }],
    artifacts: [
      { type: "message", role: "internal", content: JSON.stringify({ handoff: note }), visibility: "originator_only" },
    ],
  })
}

/** A sandbox with the flow begun; the moments of its life are told by what the model was asked. */
async function begun() {
  const box = await createSandbox({
    model,
    plugins: [await plugin()],
    files: { "src/total.ts": "export const total = 1\n" },
  })
  mkdirSync(box.data, { recursive: true })
  model.play({
    agents: {
      alice: repeat((request: ModelRequest) =>
        request.result("flow") === undefined
          ? call("flow", { action: "start", name: "feature", inputs: { goal: "totals" }, wait: false })
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

/** The messages by which the end of the run came into the session that started it. */
async function brought(world: World, server: World["server"]) {
  const store = storeOf(world.box)
  try {
    const [run] = await store.runs({})
    return await until("the end in the session", async () => {
      const { data = [] } = await server.client.session.messages({ sessionID: run?.session_id ?? "" })
      const texts = data.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])))
      const found = texts.filter((text) => text.startsWith("The flow feature"))
      return found.length > 0 && (await store.flowDeliveries({})).length === 0 ? found : undefined
    })
  } finally {
    store.close()
  }
}

test(`the flow feature on the real opencode, killed at ${MOMENTS} moments, ends the same every time`, async () => {
  const expected = {
    status: "completed",
    reason: null,
    asked: ["accept?1 approved"],
    left: ["research#1", "write#1", "write#2", "write#3", "write#4", "validate#1"],
    done: ["research#1", "validate#1", "write#1", "write#2", "write#3", "write#4"],
  }
  for (let moment = 0; moment < MOMENTS; moment += 1) {
    const world = await begun()
    const { server, box } = world
    void server.prompt({ agent: "alice", text: "Go." }).catch(() => {})
    const store = storeOf(box)
    await until("the run", async () => (await store.runs({}))[0])
    store.close()
    // From right after its first entry until it waits for a person and beyond.
    await Bun.sleep(Math.round((moment * LIFE_MS) / MOMENTS))
    await server.kill()
    const turns = model.requests({ agent: "alice" }).length
    const again = await box.serve()
    await again.client.app.agents()
    expect(await ended(world)).toMatchObject(expected)
    expect(await brought(world, again)).toHaveLength(1)
    // Nobody spends the user's money after a restart.
    expect(model.requests({ agent: "alice" })).toHaveLength(turns)
    expect(await box.dispose()).toEqual([])
  }
})
