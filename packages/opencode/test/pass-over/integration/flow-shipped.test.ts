import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { call, say, type ModelRequest } from "@pass-over/rehearsal"
import { passOver } from "../support/launcher"
import { createWorld, endWorld, type World } from "../support/opencode"
import { until } from "../support/until"

setDefaultTimeout(120_000)

const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld()
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const checked = (overall_passed: boolean) => ({
  checks: {},
  overall_passed,
  blocking_issues: overall_passed ? [] : ["floats lose cents"],
  warnings: [],
})

const judge = (yes: boolean) => [
  call("read", { filePath: "src/total.ts" }),
  call("pass_over_return", {
    status: "completed",
    decision: yes ? "approved" : "needs_modification",
    decision_reason: `Looked at src/total.ts: ${yes ? "integers are kept" : "floats lose cents"}.`,
    ...(yes
      ? {}
      : {
          findings: [
            { severity: "error", category: "bug", message: "floats lose cents", path: "src/total.ts", line: 1 },
          ],
        }),
    evidence: [{ type: "file", path: "src/total.ts", line: 1 }],
    artifacts: [
      {
        type: "message",
        role: "internal",
        content: JSON.stringify({ handoff: { findings: checked(yes) } }),
        visibility: "originator_only",
      },
    ],
  }),
]

const messagesOf = async (sessionID: string) =>
  (await held.world.server.client.session.messages({ sessionID })).data ?? []

const brought = async (sessionID: string) =>
  (await messagesOf(sessionID)).flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "text" && part.text.startsWith("The flow council") ? [part] : [])),
  )

const start = (wait: boolean) =>
  call("flow", { action: "start", name: "council", inputs: { question: "May src/total.ts use floats?" }, wait })

const council = { audit: judge(true), inspector: judge(false), scout: judge(true) }

test("the council that comes with the product: two of three agree, and the call's answer has it", async () => {
  const { model, server, store } = held.world
  model.play({
    agents: { alice: [start(true), (request: ModelRequest) => say(request.result("flow") ?? "nothing")], ...council },
  })
  const answer = await server.prompt({ agent: "alice", text: "Let them decide." })
  expect(answer.text).toContain("council: completed")
  expect(answer.text).toContain("2 of 3 branches passed (quorum 2)")
  expect(answer.text).toContain("floats lose cents")
  await until("delivery", async () =>
    (await store.flowDeliveries({ session_id: answer.sessionID })).length === 0 ? true : undefined,
  )
  await Bun.sleep(300)
  expect(await brought(answer.sessionID)).toEqual([])
})

test("a council that nobody waits for brings its end as one message, with which the idle originator goes on", async () => {
  const { model, server, store } = held.world
  model.play({ agents: { alice: [start(false), say("I go on."), say("Now I know.")], ...council } })
  const answer = await server.prompt({ agent: "alice", text: "Let them decide." })
  expect(answer.text).toBe("I go on.")
  const [message] = await until("the end", async () => {
    const found = await brought(answer.sessionID)
    return found.length > 0 ? found : undefined
  })
  expect(message).toMatchObject({
    synthetic: true,
    metadata: { pass_over_flow: { flow: "council", status: "completed" } },
  })
  await until("the next turn", async () => (model.requests({ agent: "alice" }).length >= 3 ? true : undefined))
  expect(model.requests({ agent: "alice" })[2]?.user).toContain("2 of 3 branches passed (quorum 2)")
  expect(await store.flowDeliveries({ session_id: answer.sessionID })).toEqual([])
  await until("rest", async () => {
    const status = (await server.client.session.status()).data ?? {}
    return (status[answer.sessionID]?.type ?? "idle") === "idle" ? true : undefined
  })
  expect(await brought(answer.sessionID)).toHaveLength(1)
})

test("bugfix by default: each agent's shell finds what the ones before it wrote, and one proposal at its end holds all", async () => {
  const { model, server, box } = held.world
  const seen: string[] = []
  const bash = (command: string) => call("bash", { command, description: "x" })
  const leave = (handoff: object, more: object = {}) =>
    call("pass_over_return", {
      decision: "approved",
      decision_reason: "Looked at src/total.ts and at test/total.test.ts.",
      artifacts: [
        { type: "message", role: "internal", content: JSON.stringify({ handoff }), visibility: "originator_only" },
      ],
      ...more,
    })
  const read = (request: ModelRequest) => void seen.push((request.result("bash") ?? "").trim())
  const written = { files_created: [], files_modified: [], tests_written: [], implementation_notes: [] }
  const fixed = leave({ decision: "PROCEED", context_summary: "src/total.ts adds, with a test.", findings: written })
  const routing = { recommendation: "LOOP", can_further_iteration_help: true, reason: "a test is missing" }
  const concern = { severity: "error", category: "test", message: "no test", path: "src/total.ts", line: 1 }
  const cause = { existing_implementations: [], conflicts: [], patterns_found: [], recommendations: [] }
  model.play({
    agents: {
      alice: [
        call("flow", { action: "start", name: "bugfix", inputs: { bug: "the total subtracts" } }),
        (request: ModelRequest) => say(request.result("flow") ?? "nothing"),
      ],
      inspector: [
        bash("echo left > reproduced.log; grep -c 'a - b' src/total.ts"),
        leave({ decision: "PROCEED", context_summary: "src/total.ts subtracts in its line 1.", findings: cause }),
        bash("grep -c 'a + b' src/total.ts; cat test/total.test.ts; ls; echo left > coverage.txt"),
        (request: ModelRequest) => (read(request), leave({ decision: "PROCEED", findings: checked(true) })),
      ],
      general: [
        bash("sed -i 's/a - b/a + b/' src/total.ts"),
        fixed,
        bash("grep -c 'a + b' src/total.ts; mkdir test; echo checked > test/total.test.ts"),
        (request: ModelRequest) => (read(request), fixed),
      ],
      audit: [
        bash("cat src/total.ts"),
        (request: ModelRequest) => (
          read(request),
          leave({ routing }, { decision: "needs_modification", findings: [concern] })
        ),
        bash("grep -c 'a + b' src/total.ts; cat test/total.test.ts"),
        (request: ModelRequest) => (read(request), leave({})),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Fix it." })
  expect(answer.text).toContain("bugfix: completed")
  const [review = "", again, second, verified = ""] = seen
  expect(review).toContain("a + b")
  expect([again, second]).toEqual(["1", "1\nchecked"])
  expect(verified).toContain("1\nchecked\n")
  // What only looked has left nothing.
  expect(verified).not.toContain("reproduced.log")
  expect(box.read("src/total.ts")).toContain("a - b")
  const [, id = ""] = /2 files of general wait to be applied;.* pass-over apply (\S+)/.exec(answer.text) ?? []
  expect(answer.text).toContain("test/total.test.ts")
  const applied = await passOver(box, "apply", id, "--all")
  expect([applied.err, applied.code]).toEqual(["", 0])
  expect(box.read("src/total.ts")).toContain("a + b")
  expect(box.read("test/total.test.ts")).toBe("checked\n")
  const shown = await passOver(box, "flow", "show", /run_[0-9a-f]{32}/.exec(answer.text)?.[0] ?? "", "--json")
  expect(JSON.parse(shown.out).proposed).toMatchObject([
    { pass_over_id: id, files: ["src/total.ts", "test/total.test.ts"], applied: true },
  ])
})
