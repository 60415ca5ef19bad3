import { describe, expect, test } from "bun:test"
import { alive, place, processStart } from "../../../src/identity"
import { hostname } from "node:os"
import { recover } from "../../../src/pass-over/service/recover"
import { openStore } from "../support/database"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld } from "../support/engine"
import type { Child, Script } from "../support/scripted-host"
import { broken } from "./laws"

const HOUR_MS = 3_600_000
const LIMITS = { timeout_ms: 100_000, idle_timeout_ms: 10_000 }

async function returns(child: Child) {
  await child.return(VERDICT)
  child.step({ input: 5 })
  await child.told
}

/** Passes in which every kind of limit has a part. */
const SCRIPTS: Record<string, Script> = {
  "a return": async (child) => {
    await child.wait(2_000)
    await returns(child)
  },
  "a child that is idle and then goes on": async (child) => {
    if (child.prompt.kind !== "first") return returns(child)
    await child.told
    return { failure: { code: "E016", message: "stopped" } }
  },
  "a deadline": async (child) => {
    while (!child.stopped) {
      child.tool("read", { filePath: "a.ts" }, "1: a")
      await child.wait(3_000)
    }
  },
  "a provider that fails": async (child) => {
    await child.wait(1_500)
    if (child.prompt.kind === "first") return { failure: { code: "E011", message: "503" } }
    return returns(child)
  },
  "a person who is asked": async (child) => {
    child.ask("per_1")
    await child.wait(400_000)
    child.answered("per_1")
    await returns(child)
  },
  "a child that has to be asked for its return": async (child) => {
    if (child.prompt.kind === "first") return child.wait(4_000)
    return returns(child)
  },
}

/** A whole pass with the wall clock moved at some moment of it; comes back with all that happened, by the true clock. */
async function pass(script: Script, jump?: { at: number; by: number }) {
  using database = openStore(":memory:")
  using world = createEngineWorld({ store: database.store })
  world.preferences.push({ origin: "project", path: "p", preferences: { defaults: LIMITS } })
  world.host.script("audit", script)
  if (jump) world.clock.after(jump.at, () => world.clock.shift(jump.by))
  const runner = await started(world)
  const { output, error_code, usage } = await outcomeOf(world, runner)
  const at = world.clock.mono()
  await world.clock.advance(20_000)
  expect(broken(database.client, runner.pass.id)).toEqual([])
  return {
    at,
    error_code,
    usage,
    status: output.status,
    artifacts: output.artifacts,
    wall_time_ms: output.metadata.wall_time_ms,
    compute_ms: output.metadata.subagent_compute_ms,
    attempts: (await database.store.attempts(runner.pass.id)).map((attempt) => [attempt.kind, attempt.error_code]),
  }
}

const normal = (seen: Awaited<ReturnType<typeof pass>>) =>
  JSON.parse(JSON.stringify(seen, (key, value: unknown) => (key === "call_id" ? undefined : value)))

describe("a wall clock that jumps an hour either way changes nothing in", () => {
  for (const [name, script] of Object.entries(SCRIPTS)) {
    test(name, async () => {
      const still = normal(await pass(script))
      for (const by of [HOUR_MS, -HOUR_MS]) {
        for (const at of [1, 1_000, 3_500, 10_500]) expect(normal(await pass(script, { at, by }))).toEqual(still)
      }
    })
  }
})

test("a clock that jumps makes nobody take a living process for dead", async () => {
  for (const by of [HOUR_MS, -HOUR_MS]) {
    using first = createEngineWorld()
    first.host.script("audit", (child) => child.told)
    const self = { pid: process.pid, process_start: processStart() ?? "", host: hostname(), place: place() }
    await first.engine.store.enter({ owner_id: first.engine.owner_id, ...self }, first.clock.now())
    await started(first)
    using second = createEngineWorld({ owner: "2", seed: 1_000, store: first.engine.store })
    second.clock.shift(by)
    expect(await recover(second.engine, alive)).toBe(0)
  }
})
