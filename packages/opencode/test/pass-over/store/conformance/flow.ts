import { describe, expect, test } from "bun:test"
import type { Gate } from "../../../../src/pass-over/domain/gate"
import type { PassID } from "../../../../src/pass-over/domain/id"
import { event } from "../../../../src/pass-over/domain/pass"
import type { FlowEntry, FlowRun } from "../../../../src/pass-over/service/port-flow"
import { planned } from "../../support/flow"
import { createScene, gateOf, type Scene, type Setup } from "./scene"

const plan = planned("name: x\nsteps:\n  - { id: a, agent: scout, objective: Look }\n")

const run = (more: Partial<FlowRun> = {}): FlowRun => ({
  run_id: `run_${"1".padStart(32, "0")}`,
  flow: "x",
  plan,
  plan_hash: "h",
  machine: 1,
  inputs: { goal: "y" },
  directory: "/project",
  session_id: "ses_alice",
  originator: "alice",
  started_by: "model",
  starter: "alice",
  model: null,
  status: "running",
  reason: null,
  seq: 1,
  owner_id: `own_${"1".padStart(32, "0")}`,
  fence: 1,
  time_created: 1,
  time_ended: null,
  ...more,
})

const entry = (seq: number, input: FlowEntry["input"] = { type: "pause", actor: "ada" }): FlowEntry => ({
  seq,
  at: seq,
  input,
})

const said = (of: FlowRun) =>
  event({ id: of.run_id as unknown as PassID, session_id: of.session_id, directory: of.directory }, "flow.moved", 1)

const started = async (scene: Scene, more: Partial<FlowRun> = {}) => {
  const made = run(more)
  await scene.store.startRun({ run: made, entry: entry(1, { type: "start" }), event: said(made) })
  return made
}

const journal = (
  scene: Scene,
  of: FlowRun,
  seq: number,
  more: Partial<Parameters<Scene["store"]["journal"]>[0]> = {},
) =>
  scene.store.journal({
    run_id: of.run_id,
    fence: of.fence,
    entry: entry(seq),
    status: "running",
    reason: null,
    event: said(of),
    ...more,
  })

export function flowContract(setup: Setup) {
  describe("a run of a flow", () => {
    test("is read back as it was started, with its first entry and its event", async () => {
      await using scene = await createScene(setup)
      const made = await started(scene)
      expect(await scene.store.run(made.run_id)).toEqual(made)
      expect(await scene.store.entries(made.run_id)).toEqual([entry(1, { type: "start" })])
      expect((await scene.events()).at(-1)).toEqual(said(made))
      expect(await scene.store.run("run_none")).toBeUndefined()
    })

    test("is known by whose call started it, which is nobody's where a person did", async () => {
      await using scene = await createScene(setup)
      const made = await started(scene)
      const { run_id } = await started(scene, { run_id: `run_${"2".padStart(32, "0")}`, starter: null })
      expect(await scene.store.starter(made.run_id)).toBe("alice")
      expect(await scene.store.starter(run_id)).toBeNull()
      expect(await scene.store.starter("run_none")).toBeUndefined()
    })

    test("takes the entry that comes next and no other, and of many at once exactly one", async () => {
      await using scene = await createScene(setup)
      const made = await started(scene)
      expect(await journal(scene, made, 3)).toBe("stale")
      const results = await Promise.all(Array.from({ length: 8 }, () => journal(scene, made, 2)))
      expect(results.filter((result) => result === "written")).toHaveLength(1)
      expect((await scene.store.entries(made.run_id)).map(({ seq }) => seq)).toEqual([1, 2])
      expect((await scene.events()).filter(({ type }) => type === "flow.moved")).toHaveLength(2)
    })

    test("does not begin, and does not go on, where its event cannot be written", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const made = run()
      const nowhere = { ...said(made), directory: null as never }
      const first = entry(1, { type: "start" })
      await expect(store.startRun({ run: made, entry: first, event: nowhere })).rejects.toThrow()
      expect(await store.run(made.run_id)).toBeUndefined()
      expect(await store.entries(made.run_id)).toEqual([])
      await started(scene)
      const { session_id, directory, owner_id } = made
      const end = { session_id, directory, mode: "message", call_id: null, owner_id } as const
      await expect(journal(scene, made, 2, { status: "completed", end, event: nowhere })).rejects.toThrow()
      expect(await store.run(made.run_id)).toEqual(made)
      expect(await store.entries(made.run_id)).toEqual([first])
      expect(await store.flowDeliveries({})).toEqual([])
      expect(await journal(scene, made, 2)).toBe("written")
    })

    test("is not written to by an owner that was taken for dead", async () => {
      await using scene = await createScene(setup)
      const made = await started(scene)
      const owner_id = `own_${"2".padStart(32, "0")}` as const
      const claims = await Promise.all(
        Array.from({ length: 8 }, () => scene.store.claimRun({ run_id: made.run_id, from: made.owner_id, owner_id })),
      )
      expect(claims.filter(Boolean)).toHaveLength(1)
      expect(claims.find(Boolean)).toMatchObject({ owner_id, fence: 2 })
      expect(await journal(scene, made, 2)).toBe("stale")
      expect(await journal(scene, { ...made, fence: 2 }, 2)).toBe("written")
    })

    test("goes on without questions with the entry that says so, and never without it", async () => {
      await using scene = await createScene(setup)
      const made = await started(scene)
      const ask = async (key: string, more: Partial<Gate> = {}) =>
        scene.store.ask({ gate: gateOf(scene, { key, run_id: made.run_id, ...more }), event: said(made) })
      await ask("one")
      await ask("two")
      await ask("three", { status: "approved", time_answered: 1 })
      const stands = async () => (await scene.store.gates({})).map(({ key, status }) => `${key} ${status}`)
      const withdraw = ["one", "three", "four"]
      expect(await journal(scene, made, 3, { withdraw })).toBe("stale")
      expect(await stands()).toEqual(["one pending", "two pending", "three approved"])
      expect(await journal(scene, made, 2, { withdraw })).toBe("written")
      expect(await stands()).toEqual(["one withdrawn", "two pending", "three approved"])
    })

    test("ends with its last entry, and may begin again", async () => {
      await using scene = await createScene(setup)
      const made = await started(scene)
      await journal(scene, made, 2, { status: "stopped", reason: "enough" })
      expect(await scene.store.run(made.run_id)).toMatchObject({ status: "stopped", reason: "enough", time_ended: 2 })
      await journal(scene, made, 3)
      expect(await scene.store.run(made.run_id)).toMatchObject({ status: "running", reason: null, time_ended: null })
    })

    test("is found by where it is and how it stands, the newest first", async () => {
      await using scene = await createScene(setup)
      await started(scene)
      const second = await started(scene, {
        run_id: `run_${"2".padStart(32, "0")}`,
        directory: "/other",
        status: "waiting",
        session_id: "",
      })
      expect((await scene.store.runs({})).map(({ run_id }) => run_id)).toEqual([second.run_id, run().run_id])
      expect(await scene.store.runs({ directory: "/other", status: ["waiting"] })).toHaveLength(1)
      expect(await scene.store.runs({ directory: "/project", status: ["waiting"] })).toEqual([])
      await scene.store.houseRun({ run_id: second.run_id, fence: 9, session_id: "ses_wrong" })
      expect(await scene.store.run(second.run_id)).toMatchObject({ session_id: "" })
      await scene.store.houseRun({ run_id: second.run_id, fence: 1, session_id: "ses_made" })
      expect(await scene.store.run(second.run_id)).toMatchObject({ session_id: "ses_made" })
    })

    test("has numbers for its handoffs that no other of its session has in that archive", async () => {
      await using scene = await createScene(setup)
      const ids = { next: 0 }
      const begin = (first_handoff: number, more: Partial<FlowRun> = {}, archive: string | null = "kept") => {
        const run_id = `run_${String((ids.next += 1)).padStart(32, "0")}` as const
        const made = run({ run_id, plan: { ...plan, archive, first_handoff }, ...more })
        return scene.store.startRun({ run: made, entry: entry(1, { type: "start" }), event: said(made) })
      }
      expect(await begin(1)).toBe(true)
      expect(await begin(1)).toBe(false)
      expect(await scene.store.runs({})).toHaveLength(1)
      expect((await scene.events()).filter(({ type }) => type === "flow.moved")).toHaveLength(1)
      expect(await begin(1_001)).toBe(true)
      expect(await begin(1, { session_id: "ses_bob" })).toBe(true)
      expect(await begin(1, { directory: "/other" })).toBe(true)
      expect(await begin(1, {}, "elsewhere")).toBe(true)
      for (const _again of [1, 2]) {
        expect(await begin(1, {}, null)).toBe(true)
        // Who has no session yet is given one of its own.
        expect(await begin(1, { session_id: "" })).toBe(true)
      }
    })

    test("that has not ended is found by its project, the oldest first, however many there are", async () => {
      await using scene = await createScene(setup)
      const ids = Array.from({ length: 250 }, (_, at) => `run_${String(at).padStart(32, "0")}` as const)
      for (const run_id of ids) await started(scene, { run_id })
      await started(scene, { run_id: `run_${"f".repeat(32)}`, directory: "/other" })
      const [first, second] = await Promise.all(ids.slice(0, 2).map((run_id) => scene.store.run(run_id)))
      await journal(scene, first!, 2, { status: "completed" })
      await journal(scene, second!, 2, { status: "waiting" })
      expect(await scene.store.openRuns("/project")).toEqual(ids.slice(1))
    })

    test("leaves its end for its session with the entry that ends it, and of many who bring that one does", async () => {
      await using scene = await createScene(setup)
      const made = await started(scene)
      const { run_id, owner_id, session_id, directory } = made
      const end = { session_id, directory, mode: "message", call_id: null, owner_id } as const
      expect(await journal(scene, made, 3, { status: "completed", end })).toBe("stale")
      expect(await scene.store.flowDeliveries({})).toEqual([])
      await journal(scene, made, 2, { status: "completed", end })
      const left = { ...end, run_id, seq: 2, status: "pending", message_id: null } as const
      for (const of of [{ directory }, { session_id }, { run_id }])
        expect(await scene.store.flowDeliveries(of)).toEqual([left])
      for (const of of [{ directory: "/other" }, { session_id: "ses_other" }, { run_id: "run_other" }])
        expect(await scene.store.flowDeliveries(of)).toEqual([])
      const other = `own_${"2".padStart(32, "0")}` as const
      const take = () => scene.store.takeFlowDelivery({ from: left, owner_id: other, message_id: "msg_1" })
      expect((await Promise.all(Array.from({ length: 8 }, take))).filter(Boolean)).toHaveLength(1)
      const [sending] = await scene.store.flowDeliveries({})
      expect(sending).toEqual({ ...left, status: "sending", owner_id: other, message_id: "msg_1" })
      const done = () => scene.store.flowDelivered({ of: left, message_id: "msg_1", at: 3 })
      expect([await done(), await done()]).toEqual([true, false])
      expect(await scene.store.redirectFlow({ of: left, mode: "none" })).toBe(false)
      expect(await scene.store.flowDeliveries({})).toEqual([])
    })

    test("is asked for things, which are answered once", async () => {
      await using scene = await createScene(setup)
      const made = await started(scene)
      const command = {
        command_id: "cmd_1",
        run_id: made.run_id,
        input: { type: "pause" as const, actor: "ada" },
        actor: "ada",
      } as const
      await scene.store.flowCommand(command, 1)
      expect(await scene.store.flowCommands("/project")).toEqual([{ ...command, owner_id: made.owner_id }])
      expect(await scene.store.flowCommands("/other")).toEqual([])
      await scene.store.answerFlowCommand({ command_id: "cmd_1", status: "done", result: "Done.", at: 2 })
      await scene.store.answerFlowCommand({ command_id: "cmd_1", status: "refused", result: "No.", at: 3 })
      expect(await scene.store.flowCommandState("cmd_1")).toEqual({ ...command, status: "done", result: "Done." })
      expect(await scene.store.flowCommands("/project")).toEqual([])
    })
  })

  test("a result that may be used again is kept under its key, the latest one, until it is dropped", async () => {
    await using scene = await createScene(setup)
    const result = {
      key: "k",
      pass_over_id: "01900000-0000-7000-8000-000000000001" as PassID,
      files: { "a.ts": "h" },
      at: 1,
    }
    await scene.store.cache(result)
    await scene.store.cache({ ...result, at: 2 })
    expect(await scene.store.cached("k")).toEqual({ ...result, at: 2 })
    await scene.store.uncache("k")
    expect(await scene.store.cached("k")).toBeUndefined()
  })
}
