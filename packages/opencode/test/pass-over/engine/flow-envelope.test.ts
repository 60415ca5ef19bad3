import { expect, test } from "bun:test"
import { Envelope, envelopeProblems } from "../../../src/pass-over/handoff/envelope"
import { createFlowScene, leaves, type FlowScene } from "../support/flow"

const FLOW = `
name: x
steps:
  - id: vote
    parallel:
      - { id: a, agent: scout, objective: Judge }
      - { id: b, agent: audit, objective: Judge }
  - { id: accept, gate: the work, items: [Good?, Enough?], on_reject: vote }
`

function scene() {
  const made = createFlowScene([FLOW])
  for (const agent of ["scout", "audit"]) made.host.script(agent, async (child) => void (await leaves(child)))
  return made
}

/** The envelopes in a run's folder, each of which is one; ours are in order besides. */
const envelopes = ({ files }: FlowScene) =>
  Object.fromEntries(
    [...files.written].flatMap(([path, text]) => {
      const name = /\/x\/handoffs\/(.+)\.json$/.exec(path)?.[1]
      if (name === undefined || name.startsWith("HO-")) return []
      const envelope = Envelope.parse(JSON.parse(text))
      if (!name.startsWith("vote.")) expect(envelopeProblems(envelope)).toEqual([])
      return [[name, envelope]]
    }),
  )

test("every step leaves an envelope, what no agent does too", async () => {
  using made = scene()
  const run = await made.run("x")
  await made.settled(run)
  await made.answer(run, "reject", "Look again")
  await made.settled(run)
  await made.answer(run, "approve", "Enough")
  expect((await made.settled(run))?.state.status).toBe("completed")
  const found = envelopes(made)
  expect(Object.keys(found).toSorted()).toEqual([
    "accept-human",
    "accept-human.1",
    "vote-orchestrator",
    "vote-orchestrator.1",
    "vote.a-scout",
    "vote.a-scout.1",
    "vote.b-audit",
    "vote.b-audit.1",
  ])
  expect(found).toMatchObject({
    "vote-orchestrator": {
      status: "VERIFIED",
      summary: { what_i_found: "2 of 2 branches passed (all): a yes, b yes" },
      routing: { recommendation: "CONTINUE" },
    },
    "accept-human.1": {
      status: "UNVERIFIED",
      routing: { recommendation: "LOOP", next_step_suggestion: "vote", reason: "Look again" },
    },
    "accept-human": {
      status: "VERIFIED",
      summary: { what_i_found: "Enough", key_decisions: ["the work: approved by ada"] },
      routing: { recommendation: "CONTINUE", reason: "Enough" },
    },
  })
})

test("branches that do not pass escalate, and a person who goes on over them leaves another envelope", async () => {
  using made = scene()
  const rejects = { decision: "rejected", decision_reason: "I would not do it" }
  made.host.script("audit", async (child) => void (await leaves(child, {}, rejects)))
  const run = await made.run("x")
  await made.settled(run)
  expect(envelopes(made)["vote-orchestrator"]).toMatchObject({
    status: "UNVERIFIED",
    routing: { recommendation: "ESCALATE", reason: "1 of 2 branches passed (all): a yes, b no" },
  })
  await made.answer(run, "approve", "It is small")
  await made.settled(run)
  expect(envelopes(made)["vote-orchestrator"]).toMatchObject({
    routing: { recommendation: "CONTINUE", reason: "let through by ada: It is small" },
  })
  expect(envelopes(made)["vote-orchestrator.1"]?.routing.recommendation).toBe("ESCALATE")
  await made.answer(run, "approve")
  expect((await made.settled(run))?.state.status).toBe("completed")
})
