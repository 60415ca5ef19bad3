import { expect, test } from "bun:test"
import type { FileChange } from "../../../src/pass-over/domain/change/change"
import { PassOverErrorCode } from "../../../src/pass-over/domain/errors"
import { whole } from "../../../src/pass-over/service/recover"
import type { Workspaces } from "../../../src/pass-over/service/port-workspace"
import { sha } from "../support/change"
import { outcomeOf, started } from "../support/drive"
import { createEngineWorld } from "../support/engine"
import { settle } from "../support/fake-clock"

const PICTURE: FileChange = {
  path: "picture.png",
  old_path: null,
  old: null,
  new: { hash: sha(new Uint8Array([1])), mode: "100644", bytes: 1 },
  binary: true,
  reason: "made by a command",
  confidence: "high",
  refused: null,
}

/** Trees of which reading one takes its time. */
function slowTrees(after: (ms: number, run: () => void) => unknown, takes_ms: number) {
  const seen = { collected: 0, released: 0, releasedWhileRead: false }
  const reading = { now: 0 }
  const trees: Workspaces = {
    inside: () => trees,
    take: async () => ({ directory: "/tree", instead_of: "/project", linked: [] }),
    async collect() {
      reading.now += 1
      await new Promise<void>((resolve) => void after(takes_ms, resolve))
      reading.now -= 1
      seen.collected += 1
      return { files: [PICTURE], notes: [] }
    },
    async release() {
      seen.released += 1
      seen.releasedWhileRead ||= reading.now > 0
    },
    setAside: async () => {},
    expect: () => {},
    left: async () => undefined,
    standing: async () => "unknown",
    promise: async () => "unknown",
    forgo: () => {},
    retake: async () => Promise.reject(new Error("nobody goes on here")),
    snapshot: async () => "",
    between: async () => ({ files: [], notes: [] }),
    sweep: async () => {},
    close: async () => {},
  }
  return { trees, seen }
}

async function hung(takes_ms: number, timeout_ms: number) {
  const world = createEngineWorld()
  const { trees, seen } = slowTrees(world.clock.after, takes_ms)
  world.project.workspaces = trees
  world.engine.files = {
    openTree: async () => Promise.reject(new Error("nothing is applied here")),
    sha,
    hasher: () => new Bun.CryptoHasher("sha256") as never,
    run: async () => ({ exit_code: 0, output: "" }) as never,
    under_way: new Set(),
  }
  world.preferences.push({
    origin: "project",
    path: ".opencode/pass-over.json",
    preferences: { defaults: { isolation: "worktree" } },
  })
  world.host.script("audit", async () => new Promise(() => {}))
  const runner = await started(world, { timeout_ms })
  await settle(20)
  const began = world.clock.mono()
  const outcome = await outcomeOf(world, runner)
  return { world, runner, outcome, seen, took: world.clock.mono() - began }
}

test("an outcome is not late because what was changed takes long to read; it is added, and the tree kept till then", async () => {
  const { world, runner, outcome, seen, took } = await hung(4_000, 2_000)
  using _ = world
  expect(outcome.error_code).toBe(PassOverErrorCode.SUBAGENT_TIMEOUT)
  expect(took).toBeLessThanOrEqual(2_250)
  expect(outcome.output.summary.change).toBeUndefined()
  expect(seen).toEqual({ collected: 0, released: 0, releasedWhileRead: false })
  const full = whole(world.engine, world.project, runner.pass, outcome)
  await world.clock.advance(5_000)
  expect((await full).output.summary.change).toMatchObject({ origin: "isolated", files: 1 })
  // Why it ended stays what it was.
  expect((await full).output.completion_reason).toBe(outcome.output.completion_reason)
  expect(outcome.output.completion_reason).toContain("its time of 2.0 s was up")
  expect(await world.engine.store.changes(runner.pass.id)).toHaveLength(1)
  expect(seen).toEqual({ collected: 1, released: 1, releasedWhileRead: false })
})

test("what is read in time is in the outcome at once", async () => {
  const { world, outcome, took } = await hung(100, 2_000)
  using _ = world
  expect(took).toBeLessThanOrEqual(2_250)
  expect(outcome.transcript).toBe("read")
  expect(outcome.output.summary.change).toMatchObject({ origin: "isolated", files: 1 })
})
