import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { call, calls, say, type ModelRequest } from "@pass-over/rehearsal"
import { openEnvelope } from "../../../src/pass-over/domain/envelope"
import { createWorld, endWorld, toolCalls, type World } from "../support/opencode"

setDefaultTimeout(60_000)

// The example of the architecture, appendix A, step by step: build errors, three corrections, five findings, two
// corrections taken and one declined, the check run over them, and all of it in the audit.

const CHECK = `grep -q "a + b" src/total.ts && grep -q "export const tax" src/tax.ts && echo "build ok" || { echo "build failed"; exit 1; }\n`

const FILES = {
  "src/total.ts": "export const total = (xs: number[]) => xs.reduce((a, b) => a - b, 0)\n",
  "src/tax.ts": "const tax = (x: number) => x * 0.2\n",
  "src/name.ts": "export const name = 'shop'\n",
  "check.sh": CHECK,
}

const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld({
    files: FILES,
    preferences: { pairs: { "alice->audit": { verify_command: "sh check.sh" } } },
  })
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const FINDINGS = [
  { severity: "info", category: "style", message: "quotes differ from the rest", path: "src/name.ts", line: 1 },
  { severity: "error", category: "logic_error", message: "it subtracts", path: "src/total.ts", line: 1 },
  { severity: "error", category: "build", message: "tax is not exported", path: "src/tax.ts", line: 1 },
  { severity: "warning", category: "style", message: "a magic number", path: "src/tax.ts", line: 1 },
  { severity: "warning", category: "test", message: "nothing tests the total", path: "src/total.ts", line: 1 },
]

const edit = (path: string, old_string: string, new_string: string, reason: string) => ({
  type: "file_modification",
  path,
  edits: [{ old_string, new_string }],
  reason,
})

const ARTIFACTS = [
  edit("src/total.ts", "a - b", "a + b", "a sum adds"),
  edit("src/tax.ts", "const tax", "export const tax", "it is used elsewhere"),
  edit("src/name.ts", "'shop'", '"shop"', "double quotes everywhere"),
]

const EVIDENCE = [
  { type: "command", command: "sh check.sh", exit_code: 1 },
  { type: "file", path: "src/total.ts", line: 1 },
  { type: "file", path: "src/tax.ts", line: 1 },
  { type: "file", path: "src/name.ts", line: 1 },
]

const idOf = (request: ModelRequest) =>
  /pass_over_read with id ([0-9a-f-]{36})/.exec(JSON.stringify(request.messages))?.[1] ?? ""

/** Answers our own question as the user would, once it is put. */
async function approve({ server }: World, sessionID: string): Promise<string> {
  for (;;) {
    const { data = [] } = await server.client.permission.list()
    const asked = data.find((request) => request.sessionID === sessionID && request.permission === "pass_over_gate")
    if (asked) {
      await server.client.permission.reply({ requestID: asked.id, reply: "once" })
      return asked.patterns.join()
    }
    await Bun.sleep(50)
  }
}

test("review and fix the build errors", async () => {
  const { model, server, box, store } = held.world
  model.play({
    agents: {
      alice: [
        // Steps 1 and 2: she sees build errors and passes them over.
        call("bash", { command: "sh check.sh", description: "Runs the build" }),
        call("pass_over", {
          subagent: "audit",
          objective: "Find out why the build fails and propose corrections",
          reason: "validate_approach_and_review",
          files: ["src/total.ts", "src/tax.ts"],
          return_required: true,
        }),
        // Steps 7 and 8: she approves two, rejects one, and applies.
        (request: ModelRequest) =>
          call("pass_over_review", {
            id: idOf(request),
            accept: ["src/total.ts", "src/tax.ts"],
            reject: { "src/name.ts": "the quotes are none of this task" },
            action: "apply",
          }),
        (request: ModelRequest) => say(`Done. ${request.result("pass_over_review")}`),
      ],
      // Steps 3 to 5: audit reads, runs the build, and returns corrections and findings.
      audit: [
        calls(
          ["read", { filePath: "src/total.ts" }],
          ["read", { filePath: "src/tax.ts" }],
          ["read", { filePath: "src/name.ts" }],
        ),
        call("bash", { command: "sh check.sh", description: "Runs the build" }),
        call("pass_over_return", {
          status: "completed",
          decision: "needs_modification",
          findings: FINDINGS,
          artifacts: ARTIFACTS,
          evidence: EVIDENCE,
          recommendations: ["Take the first two; the third is a matter of taste"],
        }),
      ],
    },
  })
  const { id } = (await server.client.session.create()).data!
  const [answer, question] = await Promise.all([
    server.prompt({ agent: "alice", text: "Review and fix the build errors", sessionID: id }),
    approve(held.world, id),
  ])

  // Step 3: what audit was given.
  const [first] = model.requests({ agent: "audit" })
  expect(first?.user).toContain("src/tax.ts")
  expect(first?.user).toContain("const tax = (x: number)")
  expect(first?.user).toMatch(/## Open errors\n- bash: exit code 1: build failed \(bash sh check\.sh\)/)

  // Step 6: what came back, with its metadata.
  const [passed] = toolCalls(answer.messages, "pass_over")
  const envelope = openEnvelope(passed?.state.output ?? "")
  expect(envelope?.headline).toMatch(/^VERIFIED · audit: needs_modification · 5 findings · .* · 3 files proposed$/)
  const [pass] = await store.list({ session_id: id })
  const outcome = await store.outcome(pass!.id)
  const types = outcome!.output.artifacts.map((artifact) => artifact.type)
  expect(types.filter((type) => type === "file_modification")).toHaveLength(3)
  expect(types.filter((type) => type === "finding")).toHaveLength(5)
  expect(outcome?.output).toMatchObject({
    status: "completed",
    summary: {
      decision: "needs_modification",
      verdict: { status: "VERIFIED", checked: 9, unresolved: [] },
      issues_found: 5,
      change: { origin: "proposed", files: 3 },
    },
    metadata: { pass_over_id: pass!.id, chain_depth: 1, applied: true, applied_by: "alice" },
  })
  expect(outcome!.output.artifacts.find((artifact) => artifact.type === "file_modification")).toMatchObject({
    path: "src/total.ts",
    old_content: FILES["src/total.ts"],
    new_content: FILES["src/total.ts"].replace("a - b", "a + b"),
  })
  // The worst findings come first.
  expect(outcome!.output.artifacts.flatMap((one) => (one.type === "finding" ? [one.severity] : []))).toEqual([
    "error",
    "error",
    "warning",
    "warning",
    "info",
  ])

  // Steps 7 and 8: the user was asked about exactly these files; two are written, one is not, and the check ran.
  expect(question).toContain("src/total.ts, src/tax.ts")
  expect(box.read("src/total.ts")).toContain("a + b")
  expect(box.read("src/tax.ts")).toContain("export const tax")
  expect(box.read("src/name.ts")).toBe(FILES["src/name.ts"])
  expect(answer.text).toContain("Applied: 2 file operations")
  expect(answer.text).toContain("Check: sh check.sh ended with 0")
  const [application] = await store.applications({ pass_over_id: pass!.id })
  expect(application).toMatchObject({
    kind: "apply",
    status: "done",
    actor: "alice",
    verification: { command: "sh check.sh", exit_code: 0, output: "build ok\n" },
  })
  const [change] = await store.changes(pass!.id)
  expect(await store.verdicts(change!.change_id)).toMatchObject([
    { path: "src/total.ts", accepted: true },
    { path: "src/tax.ts", accepted: true },
    { path: "src/name.ts", accepted: false, reason: "the quotes are none of this task", actor: "alice" },
  ])

  // Step 9: the audit tells the whole life of it.
  const lines = (await store.audit({ pass_over_id: pass!.id, limit: 100 })).toReversed()
  expect(lines.map((line) => line.action)).toEqual([
    "requested",
    "dispatched",
    "returned",
    "processed",
    "reviewed",
    "asked",
    "answered",
    "applied",
  ])
  expect(lines.at(-1)).toMatchObject({ actor: "alice", applied: true, applied_by: "alice", status: "completed" })
  expect(lines.find((line) => line.action === "reviewed")?.summary).toContain("the quotes are none of this task")
})
