import { expect } from "bun:test"
import type { AuditLine } from "../../../../src/pass-over/domain/audit-log"
import type { ChangeSet } from "../../../../src/pass-over/domain/change/change"
import type { Gate } from "../../../../src/pass-over/domain/gate"
import type { Pass, PassEvent } from "../../../../src/pass-over/domain/pass"
import type { Delivered, OpenPass, Store } from "../../../../src/pass-over/service/port"
import type { Application } from "../../../../src/pass-over/service/port-change"
import type { LivePass } from "../../../../src/pass-over/service/port-live"
import { accepted, createWorld, type World } from "../../support/world"

/** An empty store, made for one test. */
export type Harness = {
  store: Store
  /** Every event that was written, in order, by another way than the port's own. */
  events(): Promise<PassEvent[]>
  /** Takes the audit lines of a session away, as pruning the audit does: that is nothing which the port does either. */
  forgetLines(session_id: string): Promise<void>
  /** Another store over the same data, as another process has it. Data that one process has to itself brings none. */
  beside?(): Store
  dispose(): Promise<void>
}

export type Setup = () => Promise<Harness>

export type Scene = World &
  Omit<Harness, "dispose"> &
  AsyncDisposable & {
    opened(overrides?: Partial<Pass>, input?: Partial<OpenPass>): Promise<Pass>
    /** Opened and dispatched: it waits for its child. */
    running(overrides?: Partial<Pass>): Promise<Pass>
    /** Opened, dispatched and settled. */
    returned(overrides?: Partial<Pass>): Promise<Pass>
    /** Marks one result as delivered; whether it was the first to do so. */
    deliver(input: Delivered): Promise<boolean>
    /** The audit of a session, the oldest line first. */
    lines(session_id?: string): Promise<AuditLine[]>
    /** All that can be seen of a session and a pass in it, to tell whether an operation left anything behind. */
    traces(pass: Pass): Promise<unknown>
  }

/** A question to a person, as a test needs it. */
export const gateOf = (scene: Pick<Scene, "ids" | "clock">, more: Partial<Gate>): Gate => ({
  gate_id: scene.ids.make("gat"),
  key: scene.ids.nonce(),
  kind: "question",
  pass_over_id: null,
  run_id: null,
  session_id: "ses_alice",
  directory: "/project",
  asked_by: "alice",
  question: "Which one?",
  detail: {},
  policy: "shipped",
  default_action: "reject",
  status: "pending",
  note: null,
  answered_by: null,
  surface: null,
  time_created: scene.clock.now(),
  time_expires: scene.clock.now() + 1_000,
  time_answered: null,
  time_acted: null,
  ...more,
})

/** What a pass has changed: two files, of which no content is kept. */
export const changeOf = (scene: Pick<Scene, "ids" | "clock" | "hash">, pass: Pass): ChangeSet => ({
  change_id: scene.ids.make("chg"),
  pass_over_id: pass.id,
  origin: "proposed",
  directory: pass.directory,
  files: ["a.ts", "b.ts"].map((path) => ({
    path,
    old_path: null,
    old: null,
    new: { hash: scene.hash(path), mode: "100644", bytes: 4 },
    binary: false,
    reason: "because",
    confidence: "high",
    refused: null,
  })),
  notes: [],
  from_change_id: null,
  time_created: scene.clock.now(),
})

/** The intent to write a change into the tree that it is for. */
export const applicationOf = (
  scene: Pick<Scene, "ids" | "clock">,
  change: ChangeSet,
  more: Partial<Application> = {},
): Application => ({
  apply_id: scene.ids.make("apl"),
  change_id: change.change_id,
  pass_over_id: change.pass_over_id,
  kind: "apply",
  undoes: null,
  directory: change.directory,
  ops: [{ path: "a.ts", before: null, after: change.files[0]!.new }],
  approval: "h",
  actor: "ada",
  owner_id: scene.ids.make("own"),
  status: "pending",
  problem: null,
  verification: null,
  time_created: scene.clock.now(),
  time_done: null,
  ...more,
})

/** How far a pass is, as the process that runs it shows it. */
export const liveOf = (scene: Pick<Scene, "clock">, pass: Pass, more: Partial<LivePass> = {}): LivePass => ({
  pass_over_id: pass.id,
  phase: "working",
  step: 1,
  attempt: 1,
  tokens: 1_200,
  cost: 0.25,
  waits: 0,
  deadline_at: scene.clock.now() + 60_000,
  idle_at: null,
  time_updated: scene.clock.now(),
  ...more,
})

export const moved = (result: Pass | "stale"): Pass => {
  if (result === "stale") throw new Error("somebody else moved first")
  return result
}

export async function createScene(setup: Setup): Promise<Scene> {
  const { store, dispose, ...harness } = await setup()
  const world = createWorld()
  const opened: Scene["opened"] = async (overrides, input) => {
    const { pass, created } = accepted(await store.open(world.opening(world.pass(overrides), input)))
    expect(created).toBe(true)
    return pass
  }
  const running: Scene["running"] = async (overrides) =>
    moved(await store.commit(world.commit(await opened(overrides), "waiting_for_return")))
  const lines: Scene["lines"] = async (session_id = "ses_alice") =>
    (await store.audit({ session_id, limit: 10_000 })).toReversed()
  return {
    ...world,
    ...harness,
    store,
    opened,
    running,
    returned: async (overrides) => moved(await store.settle(world.settled(await running(overrides)))),
    deliver: async (input) => (await store.delivered([input])).length === 1,
    lines,
    traces: async ({ id, session_id }) => ({
      pass: await store.find(id),
      request: await store.request(id),
      staged: await store.staged(id),
      outcome: await store.outcome(id),
      attempts: await store.attempts(id),
      deliveries: await store.deliveries(session_id),
      audit: await lines(session_id),
      events: await harness.events(),
    }),
    [Symbol.asyncDispose]: dispose,
  }
}
