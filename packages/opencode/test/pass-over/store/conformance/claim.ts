import { describe, expect, test } from "bun:test"
import { KEEPS, type Gate } from "../../../../src/pass-over/domain/gate"
import type { PassID } from "../../../../src/pass-over/domain/id"
import type { LastSeen } from "../../../../src/pass-over/domain/last-seen"
import { event, type Pass, type PassEvent } from "../../../../src/pass-over/domain/pass"
import { NO_USAGE } from "../../../../src/pass-over/domain/run"
import type { Attempt, Store } from "../../../../src/pass-over/service/port"
import { createScene, gateOf, liveOf, moved, type Scene, type Setup } from "./scene"

type Claiming = Partial<Parameters<Store["claim"]>[0]>

/** Takes over what a process left that is gone; each time by another one. */
const claim = (scene: Scene, { owner_id: from }: Pick<Pass, "owner_id">, more: Claiming = {}) =>
  scene.store.claim({ from, owner_id: scene.ids.make("own"), limit: 50, ...more })

const ids = (claimed: readonly { pass: Pass }[]) => claimed.map(({ pass }) => pass.id).toSorted()

const attempt = (scene: Scene, pass: Pass, more: Partial<Attempt>) =>
  scene.store.attempt({ attempt: scene.attempt(pass, more), event: event(pass, "pass.attempt", scene.clock.now()) })

const ask = async (scene: Scene, pass: Pass, more: Partial<Gate> = {}) => {
  const gate = gateOf(scene, { pass_over_id: pass.id, kind: "confirmation", directory: pass.directory, ...more })
  await scene.store.ask({ gate, event: event(pass, "gate.asked", scene.clock.now()) })
  return gate
}

function takingContract(setup: Setup) {
  describe("claim", () => {
    test("takes a pass over with all that is known of it, and nobody waits for it in its tool call any more", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.running()
      const begun = scene.attempt(pass, { child_session_id: "ses_child" })
      const bound = moved(
        await store.bind({ pass, attempt: begun, event: event(pass, "pass.attempt", scene.clock.now()) }),
      )
      const usage = { ...NO_USAGE, input: 10, cost: 0.5 }
      await attempt(scene, pass, { ...begun, usage, time_ended: scene.clock.now() })
      await attempt(scene, pass, { attempt: 2, kind: "continue" })
      const report = scene.report()
      await store.stage({ pass, report, event: event(pass, "pass.staged", scene.clock.now()) })
      const owner_id = scene.ids.make("own")
      const claimed = await claim(scene, pass, { owner_id })
      const mine = { ...bound, owner_id, fence: 2, wait: false }
      expect(claimed).toMatchObject([{ pass: mine, staged: report, usage, attempts: 2 }])
      expect(claimed[0]?.pass).toEqual(mine)
      expect(await store.find(pass.id)).toEqual(mine)
    })

    test("of a pass that had not begun tells that there is nothing", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.opened()
      const [claimed] = await claim(scene, pass)
      expect(claimed).toMatchObject({ pass: { id: pass.id, status: "initial" }, attempts: 0 })
      expect([claimed?.staged, claimed?.usage]).toEqual([undefined, undefined])
    })

    test("tells what the latest attempt had used of which that is known, in whatever order they were written", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const usage = (input: number) => ({ ...NO_USAGE, input })
      await attempt(scene, pass, { attempt: 2, usage: usage(20) })
      await attempt(scene, pass, { attempt: 3 })
      await attempt(scene, pass, { attempt: 1, usage: usage(10) })
      expect(await claim(scene, pass)).toMatchObject([{ usage: usage(20), attempts: 3 }])
    })

    test("takes what has no outcome yet and is that owner's, and nothing else", async () => {
      await using scene = await createScene(setup)
      const [unstarted, running] = [await scene.opened(), await scene.running()]
      const others = [await scene.returned(), await scene.running({ owner_id: scene.ids.make("own") })]
      others.push(moved(await scene.store.commit(scene.commit(await scene.running(), "cancelled"))))
      expect(ids(await claim(scene, running))).toEqual([unstarted.id, running.id])
      for (const pass of others) expect(await scene.store.find(pass.id)).toEqual(pass)
      expect(await claim(scene, running)).toEqual([])
      expect(await claim(scene, { owner_id: scene.ids.make("own") })).toEqual([])
    })

    test("takes as many as are asked for at once, until none is left", async () => {
      await using scene = await createScene(setup)
      const passes = [1, 2, 3, 4, 5].map(() => scene.pass())
      for (const pass of passes) await scene.store.open(scene.opening(pass))
      const taken: PassID[][] = []
      for (const _turn of [1, 2, 3, 4]) taken.push(ids(await claim(scene, passes[0]!, { limit: 2 })))
      expect(taken.map(({ length }) => length)).toEqual([2, 2, 1, 0])
      expect(taken.flat().toSorted()).toEqual(ids(passes.map((pass) => ({ pass }))))
    })

    test("takes those alone that are named, where some are", async () => {
      await using scene = await createScene(setup)
      const [first, second] = [await scene.running(), await scene.running()]
      const other = await scene.running({ owner_id: scene.ids.make("own") })
      expect(await claim(scene, first, { only: [] })).toEqual([])
      expect(ids(await claim(scene, first, { only: [second.id, other.id] }))).toEqual([second.id])
      expect(await scene.store.find(first.id)).toEqual(first)
      expect(await scene.store.find(other.id)).toEqual(other)
    })

    test("of many who take over at once, each pass goes to one", async () => {
      await using scene = await createScene(setup)
      const passes = [await scene.running(), await scene.running(), await scene.running()]
      const taken = await Promise.all(Array.from({ length: 8 }, () => claim(scene, passes[0]!, { limit: 2 })))
      expect(ids(taken.flat())).toEqual(ids(passes.map((pass) => ({ pass }))))
      for (const { pass } of taken.flat()) expect(await scene.store.find(pass.id)).toEqual(pass)
    })

    test("by the owner itself lets the tool call go that waited, and whoever still holds the pass as it was", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.opened()
      const [mine] = await claim(scene, pass, { owner_id: pass.owner_id, only: [pass.id] })
      expect(mine?.pass).toEqual({ ...pass, fence: 2, wait: false })
      expect(await scene.store.commit(scene.commit(pass, "waiting_for_return"))).toBe("stale")
    })
  })

  describe("claim where somebody can go on with what waits for a person", () => {
    const waiting_in = ["/project"]

    test("takes a pass whose start a person is asked about in the projects that are named, and others anywhere", async () => {
      await using scene = await createScene(setup)
      const elsewhere = { directory: "/elsewhere" }
      const [here, there] = [await scene.opened(), await scene.opened(elsewhere)]
      const [unasked, running] = [await scene.opened(elsewhere), await scene.running(elsewhere)]
      const other = await scene.opened(elsewhere)
      for (const pass of [here, there, running]) await ask(scene, pass)
      // Not about whether it may start.
      await ask(scene, other, { kind: "question" })
      expect(ids(await claim(scene, here, { waiting_in: [] }))).toEqual([unasked.id, running.id, other.id].toSorted())
      expect(ids(await claim(scene, here, { waiting_in }))).toEqual([here.id])
      expect(ids(await claim(scene, here))).toEqual([there.id])
    })

    test.each([...KEEPS])("keeps one whose question is %s until that was carried out", async (status) => {
      await using scene = await createScene(setup)
      const pass = await scene.opened({ directory: "/elsewhere" })
      const gate = await ask(scene, pass, { status })
      expect(await claim(scene, pass, { waiting_in })).toEqual([])
      await scene.store.actOn(gate.gate_id, scene.clock.now())
      expect(await claim(scene, pass, { waiting_in })).toHaveLength(1)
    })

    test("takes one whose question was withdrawn", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.opened({ directory: "/elsewhere" })
      const { gate_id } = await ask(scene, pass)
      await scene.store.withdraw({ gate_id, at: scene.clock.now() })
      expect(await claim(scene, pass, { waiting_in })).toHaveLength(1)
    })
  })
}

/** What an owner that was taken for dead tries, with the pass as it had it; and what it is told. */
const TRIES: Record<string, { told: unknown; by: (scene: Scene, pass: Pass) => Promise<unknown> }> = {
  "moves it": { told: "stale", by: (scene, pass) => scene.store.commit(scene.commit(pass, "cancelled")) },
  "ends it": { told: "stale", by: (scene, pass) => scene.store.settle(scene.settled(pass)) },
  "ends it among others": { told: [], by: (scene, pass) => scene.store.settleMany([scene.settled(pass)]) },
  "binds a child to it": {
    told: "stale",
    by: (scene, pass) =>
      scene.store.bind({
        pass,
        attempt: scene.attempt(pass),
        event: event(pass, "pass.attempt", scene.clock.now()),
      }),
  },
  "holds a return for it": {
    told: "ended",
    by: (scene, pass) =>
      scene.store.stage({ pass, report: scene.report(), event: event(pass, "pass.staged", scene.clock.now()) }),
  },
}

function fenceContract(setup: Setup) {
  describe("the fence of a pass that was taken over", () => {
    for (const [what, { told, by }] of Object.entries(TRIES)) {
      test(`keeps its owner of before out that ${what}, and lets the new one`, async () => {
        await using scene = await createScene(setup)
        const pass = await scene.running()
        const [claimed] = await claim(scene, pass)
        const before = await scene.traces(pass)
        expect(await by(scene, pass)).toEqual(told)
        expect(await scene.traces(pass)).toEqual(before)
        expect(await by(scene, claimed!.pass)).not.toEqual(told)
        expect(await scene.traces(pass)).not.toEqual(before)
      })
    }

    test("rises with every owner, so that none of those before gets in again", async () => {
      await using scene = await createScene(setup)
      const first = await scene.running()
      const [second] = await claim(scene, first)
      const [third] = await claim(scene, second!.pass, { owner_id: first.owner_id })
      expect([first, second!.pass, third!.pass].map(({ fence }) => fence)).toEqual([1, 2, 3])
      for (const pass of [first, second!.pass]) {
        expect(await scene.store.settle(scene.settled(pass))).toBe("stale")
      }
      expect(await scene.store.settle(scene.settled(third!.pass))).toMatchObject({ status: "returned" })
    })
  })
}

type Seen = (scene: Scene, at: (ms: number) => number) => Promise<{ pass: Pass; seen: Partial<LastSeen> }>

const told = (scene: Scene, pass: Pass, type: PassEvent["type"], at: number) =>
  scene.store.announce(event(pass, type, at))

/** What was written down of a pass that began at the moment 0, and what is known by that. */
const SEEN: Record<string, Seen> = {
  "it began": async (scene, at) => ({ pass: await scene.running(), seen: { at: at(0) } }),
  "its child did something": async (scene, at) => {
    const pass = await scene.running()
    await told(scene, pass, "pass.artifact", at(10))
    await told(scene, pass, "pass.said", at(8))
    return { pass, seen: { at: at(10) } }
  },
  "somebody else wrote to it, which says nothing of its child": async (scene, at) => {
    const pass = await scene.running()
    await told(scene, pass, "pass.message", at(10))
    return { pass, seen: { at: at(0) } }
  },
  "its child returned": async (scene, at) => {
    const pass = await scene.running()
    await scene.store.stage({ pass, report: scene.report(), event: event(pass, "pass.staged", at(20)) })
    return { pass, seen: { at: at(20), staged_at: at(20) } }
  },
  "its process showed how far it was": async (scene, at) => {
    const pass = await scene.running()
    await scene.store.live(liveOf(scene, pass, { time_updated: at(30) }))
    return { pass, seen: { at: at(30) } }
  },
  "its process said that it was there": async (scene, at) => {
    const pass = await scene.running()
    const owner = { owner_id: pass.owner_id, pid: 1, process_start: "1", host: "h", place: "p" }
    await scene.store.enter(owner, at(0))
    await scene.store.beat(pass.owner_id, at(40))
    return { pass, seen: { at: at(40) } }
  },
  "a person was asked, and answered": async (scene, at) => {
    const pass = await scene.running()
    const more = { kind: "question", status: "approved", time_created: at(1), time_answered: at(2) } as const
    await ask(scene, pass, more)
    return { pass, seen: { at: at(0), waits: [{ from: at(1), to: at(2) }] } }
  },
  "a person is asked": async (scene, at) => {
    const pass = await scene.running()
    await ask(scene, pass, { kind: "escalation", time_created: at(1) })
    return { pass, seen: { waits: [{ from: at(1), to: null }] } }
  },
  "a person is asked about its result, which holds nothing up": async (scene) => {
    const pass = await scene.running()
    await ask(scene, pass, { kind: "approval" })
    return { pass, seen: { waits: [] } }
  },
  "it stood in line": async (scene, at) => {
    const pass = await scene.opened()
    await told(scene, pass, "pass.queued", at(1))
    await told(scene, pass, "pass.queued", at(3))
    const move = scene.commit(pass, "waiting_for_return", { at: at(5) })
    return { pass: moved(await scene.store.commit(move)), seen: { waits: [{ from: at(1), to: at(5) }] } }
  },
  "its host asks a person": async (scene, at) => {
    const pass = await scene.running()
    await scene.store.live(liveOf(scene, pass, { waits: 1, time_updated: at(30) }))
    return { pass, seen: { at: at(30), waits: [{ from: at(30), to: null }] } }
  },
  "its host had asked a person, and its child has gone on since": async (scene, at) => {
    const pass = await scene.running()
    await scene.store.live(liveOf(scene, pass, { waits: 1, time_updated: at(30) }))
    await told(scene, pass, "pass.artifact", at(31))
    return { pass, seen: { at: at(31), waits: [] } }
  },
}

function seenContract(setup: Setup) {
  describe("what is known of a pass that is taken over", () => {
    for (const [why, make] of Object.entries(SEEN)) {
      test(`where ${why}`, async () => {
        await using scene = await createScene(setup)
        const start = scene.clock.now()
        const { pass, seen } = await make(scene, (ms) => start + ms)
        const [claimed] = await claim(scene, pass)
        expect(claimed?.seen).toEqual({ staged_at: null, waits: [], at: expect.any(Number), ...seen })
      })
    }

    test("is of that pass and its owner alone", async () => {
      await using scene = await createScene(setup)
      const start = scene.clock.now()
      const [pass, other] = [await scene.running(), await scene.running({ owner_id: scene.ids.make("own") })]
      for (const make of Object.values(SEEN)) await make(scene, (ms) => start + ms)
      await told(scene, other, "pass.artifact", start + 99)
      const [claimed] = await claim(scene, other)
      expect(claimed?.seen).toEqual({ at: start + 99, staged_at: null, waits: [] })
      expect(await scene.store.find(pass.id)).toEqual(pass)
    })
  })
}

export function claimContract(setup: Setup) {
  takingContract(setup)
  fenceContract(setup)
  seenContract(setup)
}
