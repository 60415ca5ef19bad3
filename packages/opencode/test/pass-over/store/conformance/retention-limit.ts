import { describe, expect, test } from "bun:test"
import { DAY, endFlow, flow, over, RUN } from "./retention"
import { createScene, type Setup } from "./scene"

export function retentionLimitContract(setup: Setup) {
  describe("what is forgotten a little at a time", () => {
    test("is as many as may go, however many younger ones stay for their lines, or for what rests on them", async () => {
      await using scene = await createScene(setup)
      const oldest = await over(scene)
      scene.clock.advance(1)
      await over(scene, { session_id: "ses_kept" })
      const first = await over(scene)
      scene.clock.advance(1)
      await over(scene, { continues_pass_id: first.id, session_id: "ses_kept" })
      scene.clock.advance(1)
      const second = await over(scene)
      const third = await over(scene, { continues_pass_id: second.id })
      await over(scene, { continues_pass_id: third.id, session_id: "ses_kept" })
      await scene.forgetLines("ses_alice")
      const of = { directory: "/project", before: scene.clock.now() + DAY }
      expect(await scene.store.outdated({ ...of, limit: 1 })).toEqual([oldest.id])
      const last = (await scene.lines("ses_kept")).at(-1)!.seq
      const gone = [{ session_id: "ses_kept", seq: last }]
      expect(await scene.store.outdated({ ...of, gone })).toHaveLength(7)
    })

    test("is as many runs as may go, however many older ones stay for their passes", async () => {
      await using scene = await createScene(setup)
      const run = await flow(scene)
      await over(scene, { call_id: `flow:${RUN}:a#1` })
      await endFlow(scene, run)
      scene.clock.advance(1)
      const other = { ...run, run_id: `run_${"9".repeat(32)}` as const, time_created: scene.clock.now() }
      await endFlow(scene, await flow(scene, other))
      const of = { directory: "/project", before: scene.clock.now() + DAY }
      expect(await scene.store.outdatedRuns({ ...of, limit: 1 })).toEqual([other.run_id])
    })
  })
}
