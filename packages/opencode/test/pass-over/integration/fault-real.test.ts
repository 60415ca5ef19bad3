import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import { call, fault, repeat, reply, say, type ModelRequest, type Reply } from "@pass-over/rehearsal"
import { PassOverErrorCode } from "../../../src/pass-over/domain/errors"
import { broken } from "../proof/laws"
import { PATIENCE_MS, report, scale } from "../proof/scale"
import { connect } from "../support/database"
import { createWorld, databaseOf, endWorld, type World } from "../support/opencode"

setDefaultTimeout(PATIENCE_MS * 4)

const TIME_MS = 15_000
const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld({ preferences: { defaults: { idle_timeout_ms: 4_000 } } })
})
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

/** A fault strikes once, in mid-stream where it can, else in place of an answer. */
type Strike = { stream?: () => Reply; answer?: () => Reply }

const FAULTS: Record<string, Strike> = {
  reset: { stream: fault.reset },
  stall: { stream: fault.stall },
  "status 500": { answer: () => fault.status(500) },
  overloaded: { stream: () => fault.message("overloaded") },
  torn: { stream: fault.torn },
  "status 503": { answer: () => fault.status(503) },
  rateLimit: { answer: () => fault.rateLimit(1) },
  "status 400": { answer: () => fault.status(400) },
  cut: { stream: fault.cut },
  blank: { answer: fault.blank },
  wrongType: { answer: () => fault.wrongType() },
  empty: { answer: () => fault.empty() },
  badArguments: { answer: () => reply(fault.badArguments("read")) },
  refuse: { answer: fault.refuse },
  "no bytes": { answer: fault.stall },
  "rateLimit without a time": { answer: () => fault.rateLimit() },
}

const POSITIONS = ["call", "first", "tool", "return", "finalise"] as const
// Each case waits seconds for a retry or for a silence to end. So where every run has to pass by, five faults strike
// everywhere, and each of the others at two positions, which move on from one fault to the next.
const EVERYWHERE = scale(5, Infinity)
const positionsOf = (index: number) =>
  POSITIONS.filter((_, at) => index < EVERYWHERE || (at + index) % POSITIONS.length < 2)
const CASES = Object.keys(FAULTS).flatMap((name, index) => positionsOf(index).map((position) => ({ name, position })))

type Case = (typeof CASES)[number]

const caseOf = (request: ModelRequest): Case => {
  const [, name = "", position = ""] = /\[\[([^/]+)\/([a-z]+)\]\]/.exec(JSON.stringify(request.messages)) ?? []
  const found = CASES.find((each) => each.name === name && each.position === position)
  if (!found) throw new Error(`no case in the request: ${name} ${position}`)
  return found
}

function strike({ name }: Case, saying: Reply): Reply {
  const { stream, answer } = FAULTS[name] ?? {}
  if (stream) return reply(saying, stream())
  if (answer) return answer()
  throw new Error(`no fault ${name}`)
}

const back = call("pass_over_return", { decision: "approved", decision_reason: "It is right." })

function alice(request: ModelRequest): Reply {
  const made = caseOf(request)
  const result = request.result("pass_over")
  if (result !== undefined) return say(result)
  const objective = `[[${made.name}/${made.position}]] Review it`
  const handover = call("pass_over", { subagent: "audit", objective, reason: "test", timeout_ms: TIME_MS })
  return made.position === "call" && request.turn === 1 ? strike(made, handover) : handover
}

/** What the child says, turn by turn; where its list ends it returns. */
function audit(request: ModelRequest): Reply {
  const made = caseOf(request)
  const read = call("read", { filePath: join(held.world.box.project, "src/total.ts") })
  const turns: Record<Case["position"], Reply[]> = {
    call: [],
    first: [strike(made, say("I"))],
    tool: [read, strike(made, say("I see"))],
    return: [read, strike(made, back)],
    finalise: [say("It is right."), strike(made, say("It"))],
  }
  return turns[made.position][request.turn - 1] ?? back
}

/** One prompt to alice, given up where its provider lets it hang. */
async function play(made: Case): Promise<string> {
  const { server, store } = held.world
  const session = (await server.client.session.create()).data?.id ?? ""
  const text = `[[${made.name}/${made.position}]] Go.`
  const turn = server.prompt({ agent: "alice", text, sessionID: session }).catch(() => {})
  const over = { yet: false }
  void turn.then(() => (over.yet = true))
  for (let left = 400; left > 0 && !over.yet; left -= 1) {
    await Bun.sleep(100)
    const passes = await store.list({ session_id: session })
    const settled = passes.length > 0 && passes.every((pass) => pass.time_ended !== null)
    // Its result is there, and its own provider says nothing any more: the user stops it.
    if (made.position === "call" && made.name === "stall" && settled) break
    // Or its provider has never said anything, and there is no result to wait for.
    if (made.position === "call" && made.name === "no bytes" && left < 350) break
  }
  await server.client.session.abort({ sessionID: session })
  await turn
  return session
}

const CODES: readonly unknown[] = [null, ...Object.values(PassOverErrorCode)]

async function wrong(made: Case, session: string): Promise<string[]> {
  const { store, box } = held.world
  using database = connect(databaseOf(box))
  const passes = await store.list({ session_id: session })
  const each = await Promise.all(
    passes.map(async (pass) => {
      const outcome = await store.outcome(pass.id)
      if (!outcome) return [`${pass.id} has no outcome`]
      // What its limit counts: a place that was being made ready for it is not its own time.
      const took = outcome.output.metadata.subagent_compute_ms
      return [
        ...broken(database.client, pass.id),
        ...(CODES.includes(outcome.error_code) ? [] : [`it ended with ${outcome.error_code}`]),
        ...(took <= TIME_MS * 1.05 ? [] : [`it took ${took} ms`]),
      ]
    }),
  )
  // Where its own request fails for good, the originator never comes to make a pass.
  const none = made.position === "call" && ["status 400", "empty", "badArguments", "no bytes"].includes(made.name)
  return [...(passes.length > 0 || none ? [] : ["no pass was made"]), ...each.flat()]
}

test(`${CASES.length} faults of a provider on the real opencode: each pass has its typed outcome, nothing hangs`, async () => {
  const { model, server, store } = held.world
  model.play({ agents: { alice: repeat(alice), audit: repeat(audit) } })
  const found: unknown[] = []
  const cases = CASES.values()
  const worker = async () => {
    for (const made of cases) {
      const session = await play(made)
      const problems = await wrong(made, session)
      if (problems.length > 0) found.push({ ...made, problems })
    }
  }
  await Promise.all(Array.from({ length: 5 }, worker))
  const outcomes = await Promise.all((await store.list({ limit: 1_000 })).map((pass) => store.outcome(pass.id)))
  const ends = Map.groupBy(outcomes, (outcome) => `${outcome?.output.status} ${outcome?.error_code}`)
  report("real faults", Object.fromEntries([...ends].map(([end, of]) => [end, of.length])))
  expect(found).toEqual([])
  expect(ends.get("completed null")?.length).toBeGreaterThan(CASES.length / 2)
  // None of the refusals was missed.
  const refused = model.requests().filter(({ outcome }) => outcome === "refused")
  expect(refused.length).toBeGreaterThanOrEqual(positionsOf(Object.keys(FAULTS).indexOf("refuse")).length)
  // No child is left at work.
  const status = (await server.client.session.status()).data ?? {}
  expect(Object.values(status).filter(({ type }) => type !== "idle")).toEqual([])
})
