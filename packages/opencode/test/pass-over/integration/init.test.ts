import { expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { call, createModel, createSandbox, say, type ModelRequest } from "@pass-over/rehearsal"
import { passOver } from "../support/launcher"

setDefaultTimeout(120_000)

test("init makes a plugin that loads, doctor finds it well, and a pass works", async () => {
  await using model = await createModel()
  await using box = await createSandbox({ model, files: { "README.md": "# A project\n" } })
  const before = await passOver(box, "doctor", "--json")
  expect(before.code).toBe(1)
  expect(before.out).toContain('"advice": "pass-over init"')

  const init = await passOver(box, "init")
  expect(init).toMatchObject({ code: 0, err: "" })
  box.seed(join(box.project, ".opencode"))
  const doctor = await passOver(box, "doctor")
  expect([doctor.out, doctor.code]).toEqual([doctor.out, 0])
  expect(doctor.out).not.toMatch(/^(warn|fail)/m)
  expect(doctor.out).toMatch(/^ok +opencode +1\.18\./m)

  const server = await box.serve()
  const agents = (await server.client.app.agents()).data ?? []
  expect(agents.map((agent) => agent.name)).toContain("alice")
  model.play({
    agents: {
      alice: [
        call("pass_over", { subagent: "audit", objective: "Say yes", reason: "code_review" }),
        (request: ModelRequest) => say(request.result("pass_over") ?? "nothing"),
      ],
      audit: call("pass_over_return", { decision: "approved", decision_reason: "Yes." }),
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(answer.text).toContain("audit: approved")
  const list = await passOver(box, "list", "--json")
  expect(list.json()).toMatchObject({ passes: [{ objective: "Say yes", result: { decision: "approved" } }] })
})
