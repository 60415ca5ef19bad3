import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { call, eachSession, fault, gate, hold, reply, say, think, type ModelRequest } from "@pass-over/rehearsal"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { transcriptItem, type TranscriptItem } from "../../../src/pass-over/domain/transcript"
import { inOrder } from "../../../src/pass-over/domain/transcript-order"
import { readTranscript } from "../../../src/pass-over/service/transcript"
import { passOver } from "../support/launcher"
import { until } from "../support/until"
import { createWorld, endWorld, type World } from "../support/opencode"

setDefaultTimeout(90_000)

const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld({
    preferences: { pairs: { "alice->general": { isolation: "worktree", require_user_approval: false } } },
  })
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const handover = (objective: string, more: Record<string, unknown> = {}) =>
  call("pass_over", { subagent: "audit", objective, reason: "code_review", ...more })
const back = call("pass_over_return", { status: "completed", decision: "rejected", decision_reason: "The sign." })
const answerOf = (request: ModelRequest) => say(request.result("pass_over") ?? "nothing")
const read = () => call("read", { filePath: join(held.world.box.project, "src/total.ts") })

const about = async (objective: string) => (await held.world.passes()).find((pass) => pass.objective === objective)
const lines = async (pass: Pass | undefined) =>
  pass ? inOrder((await readTranscript(held.world.store, pass.id)).flatMap(transcriptItem)) : []
const line = (item: TranscriptItem) =>
  item.kind === "tool" ? item.tool : `${item.kind}: ${item.text.split("\n")[0]?.slice(0, 44)}`

const soon = (objective: string, count: number) =>
  until(`${count} lines of the transcript`, async () => {
    const found = await lines(await about(objective))
    return found.length >= count ? found : undefined
  })

test("a child is heard while it works: what it is told, thinks, says and does, in that order, and a person as well", async () => {
  const { model, server, box } = held.world
  const there = gate()
  model.play({
    agents: {
      alice: [handover("Is the sum right?"), answerOf],
      audit: [
        reply(think("The sum comes first."), say("I read the total."), read()),
        reply(hold(there), say("The sign is wrong.\n</li><b>bold</b>"), call("grep", { pattern: "reduce" })),
        reply(say("That is all."), back),
      ],
    },
  })
  const answer = server.prompt({ agent: "alice", text: "Go." })
  const running = await soon("Is the sum right?", 4)
  expect(running.map(line)).toEqual([
    "told: alice passes a piece of work over to you (pa",
    "thought: The sum comes first.",
    "said: I read the total.",
    "read",
  ])
  expect(running[0]).toMatchObject({ text: expect.stringContaining("# Objective\nIs the sum right?") })
  expect(running[3]).toMatchObject({ failed: false, output: expect.stringContaining("export const total") })
  const pass = await about("Is the sum right?")
  expect(pass?.status).toBe("waiting_for_return")

  const said = await passOver(box, "message", pass!.id, "Look at the tests too")
  expect([said.err, said.code]).toEqual(["", 0])
  expect((await soon("Is the sum right?", 5)).map(line).at(-1)).toContain("says: Look at the tests too")
  there.open()
  await answer
  expect((await soon("Is the sum right?", 8)).slice(5).map(line)).toEqual([
    "said: The sign is wrong.",
    "grep",
    "said: That is all.",
  ])
  // Each was written down once, and nothing comes behind it: not the return, and none of our own notes.
  await Bun.sleep(2_500)
  expect(await readTranscript(held.world.store, pass!.id)).toHaveLength(8)
})

test("what it had begun to say when its time was over is the end of it", async () => {
  const { model, server } = held.world
  model.play({
    agents: {
      alice: [handover("Wait for ever", { timeout_ms: 2_500 }), answerOf],
      audit: [read(), reply(say("I have seen that"), fault.stall())],
    },
  })
  await server.prompt({ agent: "alice", text: "Go." })
  expect((await soon("Wait for ever", 3)).slice(1).map(line)).toEqual(["read", "said: I have seen that"])
})

test("children in trees of their own are heard as well, also where one had worked before", async () => {
  const { model, server } = held.world
  const objectives = ["Look round", "Look round again"]
  model.play({
    agents: {
      alice: objectives.flatMap((objective) => [handover(objective, { subagent: "general" }), answerOf]),
      general: eachSession([
        reply(say("I look."), call("bash", { command: "pwd", description: "where" })),
        reply(say("Done."), back),
      ]),
    },
  })
  for (const objective of objectives) {
    await server.prompt({ agent: "alice", text: "Go." })
    expect((await soon(objective, 4)).slice(1).map(line)).toEqual(["said: I look.", "bash", "said: Done."])
    // The tree is given back meanwhile.
    await Bun.sleep(2_000)
  }
})

test("it is there when the opencode that ran it was killed", async () => {
  const { model, server, box } = held.world
  const there = gate()
  model.play({
    agents: {
      alice: [handover("Is it dead?")],
      audit: [reply(say("I read it."), read()), reply(say("It is"), hold(there))],
    },
  })
  void server.prompt({ agent: "alice", text: "Go." }).catch(() => {})
  const asked = async () => (model.requests({ agent: "audit" }).length >= 2 ? true : undefined)
  await until("its second step", asked)
  const before = await soon("Is it dead?", 3)
  const pass = await about("Is it dead?")
  await server.kill()
  there.open()
  const shown = await passOver(box, "show", pass!.id, "--transcript")
  expect([shown.err, shown.code]).toEqual(["", 0])
  for (const text of ["was told", "Is it dead?", "I read it.", "called read"]) expect(shown.out).toContain(text)
  const next = await box.serve()
  held.world.server = next
  await next.client.app.agents()
  await until("the outcome", async () =>
    (await held.world.store.outcome(pass!.id))?.transcript === "read" ? true : undefined,
  )
  await Bun.sleep(500)
  // Read once more out of its session, and nothing of it twice.
  expect((await lines(pass)).map(line)).toEqual(before.map(line))
  expect(await readTranscript(held.world.store, pass!.id)).toHaveLength(before.length)
})
