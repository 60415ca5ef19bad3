import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { call, calls, gate, hold, reply, say, type ModelRequest } from "@pass-over/rehearsal"
import { parse } from "yaml"
import { Envelope } from "../../../src/pass-over/handoff/envelope"
import { HandoffLog, HandoffPackage, kindOf } from "../../../src/pass-over/handoff/package"
import { PhaseRequest } from "../../../src/pass-over/handoff/phase"
import { createWorld, endWorld, toolCalls, type World } from "../support/opencode"
import { until } from "../support/until"

setDefaultTimeout(60_000)

const held = {} as { world: World }
const EXAMPLES = join(import.meta.dir, "../../../../../docs/example/flows")
const example = (name: string) => readFileSync(join(EXAMPLES, `${name}.yaml`), "utf8")

const agent = { mode: "subagent", description: "for the flows", prompt: "Do your step." }

beforeAll(async () => {
  held.world = await createWorld({
    config: { agent: { specification: agent, architecture: agent, "security-check": agent, estimation: agent } },
    files: {
      ".opencode/flows/jwt.yaml": example("jwt"),
      ".opencode/flows/login.yaml": example("login"),
      ".opencode/flows/build.yaml": example("build"),
      "src/lib/auth.ts": "export const session = 1\n",
      "src/server/routers/user.ts": "export const user = 1\n",
      "src/auth.py": "def login(): pass\n",
    },
  })
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const flow = (name: string, inputs: Record<string, string> = {}) => call("flow", { action: "start", name, inputs })

/** A return that carries what the flow wants to know. */
const leave = (note: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  call("pass_over_return", {
    status: "completed",
    decision: "approved",
    decision_reason: "It holds.",
    artifacts: [
      { type: "message", role: "internal", content: JSON.stringify({ handoff: note }), visibility: "originator_only" },
    ],
    ...more,
  })

const read = (path: string) => call("read", { filePath: join(held.world.box.project, path) })

const answered = (request: ModelRequest) => say(request.result("flow") ?? "nothing")

const runOf = (text: string) => /run_[0-9a-f]{32}/.exec(text)?.[0] ?? ""

const SUMMARY =
  "Existing auth at src/lib/auth.ts (sessions). Pattern: src/server/routers/user.ts. No conflicts. Extend auth.ts with JWT, create auth router."

const files = (folder: string): string[] => {
  const path = join(held.world.box.project, folder)
  return existsSync(path)
    ? readdirSync(path, { recursive: true, withFileTypes: true })
        // What is being written just now has a name of its own until it is whole.
        .filter((entry) => entry.isFile() && !entry.name.endsWith(".tmp"))
        .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
        .toSorted()
    : []
}

test("the research → write example of the phases", async () => {
  const { model, server, box } = held.world
  model.play({
    agents: {
      alice: [flow("jwt"), answered],
      scout: [
        read("src/lib/auth.ts"),
        leave({
          decision: "PROCEED",
          context_summary: SUMMARY,
          findings: {
            existing_implementations: [
              { file: "src/lib/auth.ts", description: "Basic session utils", relevance: "high" },
            ],
            conflicts: [],
            patterns_found: [
              { file: "src/server/routers/user.ts", pattern: "tRPC router with Zod", recommendation: "Follow this" },
            ],
            recommendations: ["Extend auth.ts", "Create auth router"],
          },
        }),
      ],
      general: [
        calls(["write", { filePath: join(box.project, "src/lib/jwt.ts"), content: "export const jwt = 1\n" }]),
        leave({
          decision: "PROCEED",
          context_summary: "JWT login and logout stand in src/lib/jwt.ts, with 4 tests.",
          findings: {
            files_created: [{ path: "src/lib/jwt.ts", purpose: "tokens" }],
            files_modified: [],
            tests_written: [],
            implementation_notes: [],
          },
        }),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Build the login." })
  expect(answer.text).toContain("jwt: completed")
  const asked = (name: string) => model.requests({ agent: name })[0]?.user ?? ""
  const request = (name: string) => {
    const [, json = "{}"] = /^## Request of the phase \w+\n<<\S+ \S+\n([\s\S]*?)\n\S+ \S+>>$/m.exec(asked(name)) ?? []
    return PhaseRequest.parse(JSON.parse(json))
  }
  expect(request("scout")).toEqual({
    task_id: "auth-research",
    phase: "research",
    context: {
      feature: "jwt-authentication",
      spec_path: "specs/auth/requirements.md",
      relevant_files: ["src/lib/", "src/server/routers/"],
      constraints: ["no breaking changes", "follow existing patterns"],
    },
    instructions: "Find existing auth code and patterns for the new JWT feature",
    expected_output: "structured_findings",
  })
  expect(request("general")).toMatchObject({
    phase: "write",
    context: { constraints: ["TDD", "30 line functions"], previous_findings: SUMMARY },
    instructions: "Implement JWT authentication with login/logout using TDD",
    expected_output: "files_changed",
  })
  const run = runOf(answer.text)
  expect(files(`.opencode/runs/${run}`)).toEqual([
    "jwt/handoffs/auth-research-scout.json",
    "jwt/handoffs/auth-write-general.json",
    "state/current.json",
  ])
  expect(box.git("status", "--porcelain", "--", ".opencode/runs")).toBe("")
  const envelope = Envelope.parse(JSON.parse(box.read(`.opencode/runs/${run}/jwt/handoffs/auth-write-general.json`)))
  expect(envelope.summary.evidence.artifacts_produced).toContain("src/lib/jwt.ts")
})

test("the implementer and the critic, round by round", async () => {
  const { model, server, box } = held.world
  const concern = {
    severity: "error",
    category: "security",
    message: "Missing input validation",
    path: "src/auth.py",
    line: 1,
    suggested_fix: "Add validation before database query",
  }
  const routing = {
    recommendation: "LOOP",
    can_further_iteration_help: true,
    reason: "Issues are fixable, iteration will help",
  }
  model.play({
    agents: {
      alice: [flow("build"), answered],
      general: [
        read("src/auth.py"),
        leave({ context_summary: "Implemented REQ-001 through REQ-005 in src/auth.py." }),
        read("src/auth.py"),
        leave({ context_summary: "src/auth.py validates its input before the query now." }),
      ],
      audit: [
        read("src/auth.py"),
        leave({ routing }, { decision: "needs_modification", findings: [concern] }),
        read("src/auth.py"),
        leave(
          { routing: { recommendation: "CONTINUE", can_further_iteration_help: false, reason: "No issues found" } },
          { evidence: [{ type: "file", path: "src/auth.py", line: 1 }] },
        ),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Build it." })
  expect(answer.text).toContain("build: completed")
  const base = `.opencode/runs/${runOf(answer.text)}`
  expect(files(base)).toEqual([
    "build/handoffs/implement-audit.1.json",
    "build/handoffs/implement-audit.json",
    "build/handoffs/implement-general.1.json",
    "build/handoffs/implement-general.json",
    "state/current.json",
  ])
  const first = Envelope.parse(JSON.parse(box.read(`${base}/build/handoffs/implement-audit.1.json`)))
  expect(first).toMatchObject({
    meta: { step_id: "implement", flow_key: "build", agent_key: "audit" },
    status: "UNVERIFIED",
    concerns: [
      {
        severity: "HIGH",
        description: "Missing input validation",
        location: "src/auth.py:1",
        recommendation: "Add validation before database query",
      },
    ],
    routing,
  })
  const last = Envelope.parse(JSON.parse(box.read(`${base}/build/handoffs/implement-audit.json`)))
  expect(last).toMatchObject({ status: "VERIFIED", concerns: [], routing: { recommendation: "CONTINUE" } })
  expect(model.requests({ agent: "general" })[2]?.user).toContain("Missing input validation")
})

test("while a flow runs its call shows where it is, and keeps its answer", async () => {
  const { model, server } = held.world
  const door = gate()
  model.play({
    agents: {
      alice: [flow("build"), answered],
      general: [
        () => reply(hold(door), read("src/auth.py")),
        leave({ context_summary: "Implemented REQ-001 through REQ-005 in src/auth.py." }),
      ],
      audit: [
        read("src/auth.py"),
        leave(
          { routing: { recommendation: "CONTINUE", can_further_iteration_help: false, reason: "No issues found" } },
          { evidence: [{ type: "file", path: "src/auth.py", line: 1 }] },
        ),
      ],
    },
  })
  const sessionID = (await server.client.session.create()).data!.id
  const turn = server.prompt({ agent: "alice", text: "Build it.", sessionID })
  const call = async () => toolCalls((await server.client.session.messages({ sessionID })).data ?? [], "flow")[0]
  while ((await call())?.state.metadata?.flow !== "build") await Bun.sleep(50)
  const shown = await call()
  expect(shown?.state).toMatchObject({ status: "running", title: expect.stringContaining("general") })
  expect(shown?.state.metadata).not.toHaveProperty("pass_over")
  door.open()
  const { text } = await turn
  expect(text).toContain("build: completed")
  expect((await call())?.state.status).toBe("completed")
})

test("the four packages, the escalation and the gate", async () => {
  const { model, server, box, store } = held.world
  const done = (context_summary: string, more: Record<string, unknown> = {}) => leave({ context_summary, ...more })
  model.play({
    agents: {
      alice: [flow("login"), answered],
      specification: done("User stories of the login defined and validated by client: 3 epics with 12 stories."),
      architecture: [
        done("API architecture defined, needs security review of tokens.", {
          routing: {
            recommendation: "DETOUR",
            next_step_suggestion: "security",
            reason: "Need security validation before finalization",
          },
        }),
        done("The login's architecture stands in 3 diagrams, with token rotation."),
      ],
      "security-check": done("2 risks identified in the token flow, recommendations provided."),
      estimation: [
        leave({
          decision: "CLARIFY",
          context_summary: "Two possible approaches with significant trade-offs: A fast with debt, B robust and long.",
          findings: { existing_implementations: [], conflicts: [], patterns_found: [], recommendations: [] },
          open_questions: [{ question: "What is the priority: time-to-market or maintainability?", priority: "high" }],
        }),
        leave({
          decision: "PROCEED",
          context_summary: "Approach B takes 12 days: maintainability comes first.",
          findings: { existing_implementations: [], conflicts: [], patterns_found: [], recommendations: [] },
        }),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Design the login." })
  const run_id = runOf(answer.text)
  expect(answer.text).toContain("waits for a person (clarify)\n")
  expect(answer.text).toContain('reason: "What is the priority')
  const answerNext = async (verdict: "approve", note: string | null) => {
    for (;;) {
      const [gate] = await store.gates({ run_id, status: ["pending"] })
      if (gate) {
        await store.answerGate({
          gate_id: gate.gate_id,
          answer: { verdict, note, by: "ada", surface: "test" },
          at: Date.now(),
          event: {
            type: "gate.answered",
            pass_over_id: run_id,
            session_id: gate.session_id,
            directory: gate.directory,
            at: Date.now(),
            data: {},
          },
        })
        return gate
      }
      await Bun.sleep(50)
    }
  }
  await answerNext("approve", "maintainability")
  const gate = await answerNext("approve", null)
  expect(gate.detail["package"]).toMatchObject({
    handoff: {
      to: { agent: "human", reason: "BLOCKING gate reached" },
      gate: { type: "blocking", name: "architecture review" },
    },
  })
  for (let tries = 0; (await store.run(run_id))?.status !== "completed"; tries += 1) {
    if (tries > 200) throw new Error(`the run is ${(await store.run(run_id))?.status}`)
    await Bun.sleep(50)
  }
  const archive = `.project/07-audit/sessions/${answer.sessionID}/handoffs`
  // The last one is written when the run has ended, by another process.
  await until("the last package", async () => (files(archive).length >= 9 ? true : undefined))
  const packages = files(archive).map((name) => HandoffPackage.parse(parse(box.read(`${archive}/${name}`))))
  const kinds = packages.map((each) => `${each.handoff.from.agent} > ${each.handoff.to.agent}: ${kindOf(each)}`)
  expect(kinds).toEqual([
    "orchestrator > specification: sequential",
    "specification > architecture: sequential",
    "architecture > security-check: delegation",
    "security-check > architecture: return",
    "architecture > estimation: sequential",
    "estimation > human: escalation",
    "architecture > estimation: sequential",
    "orchestrator > human: escalation",
    "estimation > orchestrator: return",
  ])
  expect(packages[3]?.handoff.context.summary).toContain("2 risks identified")
  const log = HandoffLog.parse(JSON.parse(box.read(`.opencode/runs/${run_id}/state/current.json`)))
  expect(log.handoffs.every(({ status }) => status === "completed")).toBe(true)
})
