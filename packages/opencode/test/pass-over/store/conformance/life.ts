import { describe, expect, test } from "bun:test"
import { omit } from "remeda"
import { event, type Pass } from "../../../../src/pass-over/domain/pass"
import { createScene, moved, type Setup } from "./scene"

const many = 8

export function lifeContract(setup: Setup) {
  describe("commit", () => {
    test("a move carries the pass on, with its audit line and its event", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.opened()
      scene.clock.advance(250)
      const input = scene.commit(pass, "waiting_for_return")
      const next = moved(await scene.store.commit(input))
      expect(next).toEqual({ ...pass, status: "waiting_for_return", revision: 1, time_started: input.at })
      expect(await scene.store.find(pass.id)).toEqual(next)
      expect((await scene.lines()).at(-1)).toMatchObject(omit(input.note, ["detail"]))
      expect((await scene.events()).at(-1)).toEqual(input.event)
    })

    test("a move decided on an old revision is stale and changes nothing", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.opened()
      await scene.store.commit(scene.commit(pass, "waiting_for_return"))
      const before = await scene.traces(pass)
      expect(await scene.store.commit(scene.commit(pass, "cancelled"))).toBe("stale")
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("a move decided on another revision is stale though the state is the same", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.opened()
      for (const revision of [1, -1]) {
        expect(await scene.store.commit(scene.commit({ ...pass, revision }, "waiting_for_return"))).toBe("stale")
      }
      expect(await scene.store.find(pass.id)).toEqual(pass)
    })

    test("of many moves decided on the same revision exactly one happens", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const results = await Promise.all(
        Array.from({ length: many }, () => scene.store.commit(scene.commit(pass, "cancelled"))),
      )
      expect(results.filter((result) => result !== "stale")).toHaveLength(1)
      expect(await scene.store.find(pass.id)).toMatchObject({ status: "cancelled", revision: 2 })
      expect(await scene.lines()).toHaveLength(3)
      expect(await scene.events()).toHaveLength(3)
    })

    test("an owner that lost its pass moves it no more", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.opened({ fence: 2 })
      const before = await scene.traces(pass)
      expect(await scene.store.commit(scene.commit({ ...pass, fence: 1 }, "waiting_for_return"))).toBe("stale")
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("a move from a state that the pass is not in is stale", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.opened()
      const move = { from: "returned", to: "processed", revision: 1, reason: "" } as const
      expect(await scene.store.commit(scene.commit(pass, "cancelled", { move }))).toBe("stale")
      expect(await scene.store.find(pass.id)).toEqual(pass)
    })

    test("a move of a pass that is not there is stale and leaves nothing behind", async () => {
      await using scene = await createScene(setup)
      const pass = scene.pass()
      const before = await scene.traces(pass)
      expect(await scene.store.commit(scene.commit(pass, "cancelled"))).toBe("stale")
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("when the audit line cannot be written the pass stays where it is, and there is no event", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.opened()
      const before = await scene.traces(pass)
      const input = scene.commit(pass, "waiting_for_return")
      await expect(scene.store.commit({ ...input, note: { ...input.note, actor: "" } })).rejects.toThrow()
      expect(await scene.traces(pass)).toEqual(before)
      expect(await scene.store.commit(input)).toMatchObject({ status: "waiting_for_return" })
    })

    test("when the event cannot be written the pass stays where it is, and there is no audit line", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.opened()
      const before = await scene.traces(pass)
      const input = scene.commit(pass, "waiting_for_return")
      const nowhere = { ...input.event, directory: null as never }
      await expect(scene.store.commit({ ...input, event: nowhere })).rejects.toThrow()
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("the events of a whole life come in the order in which it was lived", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const attempt = scene.attempt(pass)
      await scene.store.bind({ pass, attempt, event: event(pass, "pass.attempt", scene.clock.now()) })
      await scene.store.stage({ pass, report: scene.report(), event: event(pass, "pass.staged", scene.clock.now()) })
      const back = moved(await scene.store.settle(scene.settled(pass)))
      await scene.store.commit(scene.commit(back, "processed"))
      expect((await scene.events()).map(({ type }) => type)).toEqual([
        "pass.requested",
        "pass.dispatched",
        "pass.attempt",
        "pass.staged",
        "pass.returned",
        "pass.processed",
      ])
      expect((await scene.lines()).map(({ action }) => action)).toEqual([
        "requested",
        "dispatched",
        "returned",
        "processed",
      ])
    })
  })

  describe("bind", () => {
    test("a child session leads to its pass, and its attempt is written down", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const attempt = scene.attempt(pass, { child_session_id: "ses_child" })
      const bound = moved(
        await scene.store.bind({ pass, attempt, event: event(pass, "pass.attempt", scene.clock.now()) }),
      )
      expect(bound).toEqual({ ...pass, child_session_id: "ses_child" })
      expect(await scene.store.byChild("ses_child")).toEqual(bound)
      expect(await scene.store.attempts(pass.id)).toEqual([attempt])
      expect((await scene.events()).at(-1)?.type).toBe("pass.attempt")
    })

    test("the first child starts its pass: what is answered is what is read later", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.opened()
      const attempt = scene.attempt(pass, { child_session_id: "ses_child" })
      const dispatch = scene.commit(pass, "waiting_for_return")
      const bound = moved(
        await scene.store.bind({ pass, attempt, event: event(pass, "pass.attempt", scene.clock.now()), dispatch }),
      )
      expect(bound).toMatchObject({ status: "waiting_for_return", child_session_id: "ses_child" })
      expect(bound.time_started).toBe(dispatch.at)
      expect(await scene.store.find(pass.id)).toEqual(bound)
    })

    test("an owner that lost its pass binds no child to it", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running({ fence: 2 })
      const before = await scene.traces(pass)
      const input = {
        pass: { ...pass, fence: 1 },
        attempt: scene.attempt(pass),
        event: event(pass, "pass.attempt", scene.clock.now()),
      }
      expect(await scene.store.bind(input)).toBe("stale")
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("a child that belongs to one pass is not bound to a second", async () => {
      await using scene = await createScene(setup)
      const [first, second] = [await scene.running(), await scene.running()]
      const bind = (pass: typeof first) =>
        scene.store.bind({
          pass,
          attempt: scene.attempt(pass, { child_session_id: "ses_child" }),
          event: event(pass, "pass.attempt", scene.clock.now()),
        })
      await bind(first)
      const before = await scene.traces(second)
      await expect(bind(second)).rejects.toThrow()
      expect(await scene.traces(second)).toEqual(before)
      expect(await scene.store.byChild("ses_child")).toMatchObject({ id: first.id })
    })

    test("a child is bound to the pass that continues its own, and to one such pass alone; the newest is found", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const bind = (pass: Pass) =>
        store.bind({
          pass,
          attempt: scene.attempt(pass, { child_session_id: "ses_child" }),
          event: event(pass, "pass.attempt", scene.clock.now()),
        })
      const first = moved(await store.settle(scene.settled(moved(await bind(await scene.running())))))
      const second = await scene.running({ continues_pass_id: first.id })
      expect(await bind(second)).toMatchObject({ child_session_id: "ses_child" })
      expect(await store.byChild("ses_child")).toMatchObject({ id: second.id })
      moved(await store.settle(scene.settled(moved((await store.find(second.id)) ?? "stale"))))
      const rival = await scene.running({ continues_pass_id: first.id })
      const before = await scene.traces(rival)
      await expect(bind(rival)).rejects.toThrow()
      expect(await scene.traces(rival)).toEqual(before)
      const third = await scene.running({ continues_pass_id: second.id })
      await bind(third)
      expect(await store.byChild("ses_child")).toMatchObject({ id: third.id })
      expect((await store.find(first.id))?.child_session_id).toBe("ses_child")
    })

    test("a child that starts from scratch takes the place of the one before", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const bind = (attempt: number, child_session_id: string) =>
        scene.store.bind({
          pass,
          attempt: scene.attempt(pass, { attempt, child_session_id }),
          event: event(pass, "pass.attempt", scene.clock.now()),
        })
      await bind(1, "ses_first")
      await bind(2, "ses_second")
      expect(await scene.store.byChild("ses_first")).toBeUndefined()
      expect(await scene.store.byChild("ses_second")).toMatchObject({ id: pass.id })
      expect(await scene.store.attempts(pass.id)).toHaveLength(2)
    })

    test("when the event cannot be written no child is bound and no attempt is counted", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const before = await scene.traces(pass)
      const nowhere = { ...event(pass, "pass.attempt", scene.clock.now()), directory: null as never }
      await expect(scene.store.bind({ pass, attempt: scene.attempt(pass), event: nowhere })).rejects.toThrow()
      expect(await scene.traces(pass)).toEqual(before)
    })
  })

  describe("stage", () => {
    test("the first return is held and the second finds it there", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const report = scene.report()
      const staged = event(pass, "pass.staged", scene.clock.now())
      expect(await scene.store.stage({ pass, report, event: staged })).toBe("staged")
      const before = await scene.traces(pass)
      const second = scene.report({ decision: "approved" })
      expect(await scene.store.stage({ pass, report: second, event: staged })).toBe("already")
      expect(await scene.store.staged(pass.id)).toEqual(report)
      expect(await scene.traces(pass)).toEqual(before)
    })

    test("of many returns at once exactly one is held", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const results = await Promise.all(
        Array.from({ length: many }, (_, index) =>
          scene.store.stage({
            pass,
            report: scene.report({ decision_reason: `return ${index}` }),
            event: event(pass, "pass.staged", scene.clock.now()),
          }),
        ),
      )
      expect(results.filter((result) => result === "staged")).toHaveLength(1)
      expect((await scene.events()).filter(({ type }) => type === "pass.staged")).toHaveLength(1)
      const winner = results.indexOf("staged")
      expect(await scene.store.staged(pass.id)).toMatchObject({ decision_reason: `return ${winner}` })
    })

    test("holding a return does not move the pass", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      await scene.store.stage({
        pass,
        report: scene.report(),
        event: event(pass, "pass.staged", scene.clock.now()),
      })
      expect(await scene.store.find(pass.id)).toEqual(pass)
      expect(await scene.store.settle(scene.settled(pass))).toMatchObject({ status: "returned" })
    })

    test("a return to a pass that has ended, or never was, is not held", async () => {
      await using scene = await createScene(setup)
      const cancelled = moved(await scene.store.commit(scene.commit(await scene.running(), "cancelled")))
      for (const pass of [cancelled, await scene.returned(), scene.pass()]) {
        const before = await scene.traces(pass)
        const staged = event(pass, "pass.staged", scene.clock.now())
        expect(await scene.store.stage({ pass, report: scene.report(), event: staged })).toBe("ended")
        expect(await scene.traces(pass)).toEqual(before)
      }
    })

    test("when the event cannot be written nothing is held", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const nowhere = { ...event(pass, "pass.staged", scene.clock.now()), directory: null as never }
      await expect(scene.store.stage({ pass, report: scene.report(), event: nowhere })).rejects.toThrow()
      expect(await scene.store.staged(pass.id)).toBeUndefined()
    })
  })

  describe("attempt", () => {
    test("an attempt is written when it begins and again when it ends, and is one attempt", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const begun = scene.attempt(pass)
      await scene.store.attempt({ attempt: begun, event: event(pass, "pass.attempt", scene.clock.now()) })
      scene.clock.advance(900)
      const usage = { input: 10, output: 5, reasoning: 1, cache_read: 2, cache_write: 3, cost: 0.5 }
      const ended = {
        ...begun,
        usage,
        error_code: "E011",
        error_message: "the connection was reset",
        time_ended: scene.clock.now(),
      }
      await scene.store.attempt({ attempt: ended, event: event(pass, "pass.attempt", scene.clock.now()) })
      expect(await scene.store.attempts(pass.id)).toEqual([ended])
      expect(await scene.events()).toHaveLength(4)
    })

    test("attempts come in their order and with their pass alone", async () => {
      await using scene = await createScene(setup)
      const [pass, other] = [await scene.running(), await scene.running()]
      for (const attempt of [
        scene.attempt(pass, { attempt: 2, kind: "continue" }),
        scene.attempt(other),
        scene.attempt(pass),
        scene.attempt(pass, { attempt: 3, kind: "finalise" }),
      ]) {
        await scene.store.attempt({ attempt, event: event(pass, "pass.attempt", scene.clock.now()) })
      }
      expect((await scene.store.attempts(pass.id)).map(({ kind }) => kind)).toEqual(["first", "continue", "finalise"])
    })
  })
}
