import { listen, type Exchange } from "./http"
import type { Filter, Recorded, WaitOptions } from "./record"
import type { Scenario } from "./scenario"
import { createStage, type Stage } from "./stage"
import { play } from "./stream"

export type Model = AsyncDisposable & {
  /** The base URL for a client, ending in /v1. */
  readonly url: string
  /** Every request so far, in the order of arrival. */
  requests(filter?: Filter): Recorded[]
  /** Resolves with the agent's first (or `count`th) request as soon as it has arrived. */
  waitFor(agent: string, options?: WaitOptions): Promise<Recorded>
  /** Resolves when no answer is under way. */
  idle(): Promise<void>
  /** Starts a new scenario with an empty record; throws what `verify` would have said about the old one. */
  play(scenario: Scenario): void
  /** What did not go as the scenario says, as text; empty when all is well. */
  report(): string
  /** Throws the report, if there is one. */
  verify(): void
  /** Closes the port for everybody until `accept` is called. Answers under way go on to their end. */
  refuse(): void
  accept(): Promise<void>
  /** Ends every answer and closes the port. */
  stop(): void
}

/** Thrown by `verify`; its message is the report. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError"
}

/** Starts an OpenAI-compatible server on a free port of 127.0.0.1 that answers by the scenario. */
export async function createModel(scenario: Scenario = { agents: {} }): Promise<Model> {
  const now = { stage: createStage(scenario), said: "", answers: 0 }
  // The stage is taken when a request arrives: it belongs to that scenario, whatever is played when it ends. Ids go on
  // counting from one scenario to the next, because a session may live through several.
  const listener = await listen((exchange) => serve(now.stage, exchange, `rehearsal-${++now.answers}`))

  const report = () => (now.said = now.stage.report())
  // What was said once is not said again: a test that failed by it must not fail the next one that shares the model.
  const unsaid = () => (now.stage.report() === now.said ? "" : now.stage.report())
  const speak = (text: string) => {
    if (text) throw new ScenarioError(text)
  }

  return {
    url: `http://127.0.0.1:${listener.port}/v1`,
    requests: (filter) => now.stage.record.list(filter),
    waitFor: (agent, options = {}) => now.stage.waitFor(agent, options),
    idle: async () => void (await Promise.all(now.stage.record.open().map((request) => request.done))),
    play: (next) => {
      const left = unsaid()
      Object.assign(now, { stage: createStage(next), said: "" })
      speak(left)
    },
    report,
    verify: () => speak(report()),
    refuse: listener.refuse,
    accept: listener.accept,
    stop: listener.stop,
    async [Symbol.asyncDispose]() {
      // Throwing here would hide the error of a test that is failing already, so this one only speaks.
      if (unsaid()) console.error(`A model was stopped without verify().\n${unsaid()}`)
      listener.stop()
    },
  }
}

async function serve(stage: Stage, exchange: Exchange, id: string) {
  const { method, path, headers } = exchange
  if (path === "/v1/models") return json(exchange, 200, { object: "list", data: MODELS })
  if (path !== "/v1/chat/completions" || method !== "POST") {
    stage.strayed(method, path)
    return json(exchange, 404, { error: { message: `The model has no route ${method} ${path}.` } })
  }
  const recorded = stage.receive({ headers, text: exchange.body })
  if (!recorded) return json(exchange, 400, { error: { message: "The body is not a JSON object." } })
  const decision = await stage.decide(recorded)
  if (!decision.ok) {
    stage.record.end(recorded, decision.outcome)
    // 400 because clients do not retry it: the test fails now and not after their patience.
    return json(exchange, 400, { error: { message: decision.sentence, type: "rehearsal", code: decision.outcome } })
  }
  const ending = await play({
    reply: decision.reply,
    stamp: { id, model: recorded.model, created: Math.floor(Date.now() / 1000) },
    exchange,
    stream: recorded.stream,
    onFirstByte: () => void (recorded.time.first_byte = performance.now()),
  })
  stage.record.end(recorded, ending)
}

const MODELS = [{ id: "script", object: "model", created: 0, owned_by: "rehearsal" }]

async function json(exchange: Exchange, status: number, body: object) {
  exchange.begin(status, { "content-type": "application/json" })
  await exchange.write(JSON.stringify(body))
  exchange.end()
}
