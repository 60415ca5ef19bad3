import { describe, expect, test } from "bun:test"
import type { WorkArtifact } from "../../../../src/pass-over/domain/artifact"
import { event, type Pass } from "../../../../src/pass-over/domain/pass"
import type { Report } from "../../../../src/pass-over/domain/report"
import { createScene, moved, type Scene, type Setup } from "./scene"

const LATER = 10 * 86_400_000
const [OLD, NEW] = ["\uFEFFold: ä\r\n", "new: 漢\u0000\n"]

const modification = (path: string, old_content = OLD, new_content = NEW) =>
  ({ type: "file_modification", path, old_content, new_content, reason: "so", confidence: "high" }) as const

const artifacts: WorkArtifact[] = [
  modification("a.ts"),
  { type: "message", role: "assistant", content: "There are two", visibility: "user_visible" },
  { ...modification("b.ts", NEW, ""), deleted: true },
]

const hashes = (scene: Scene, ...contents: string[]) => contents.map((content) => scene.hash(content)).toSorted()
const kept = async (scene: Scene, ...contents: string[]) =>
  (
    await scene.store.hasBlobs(
      contents.map((content) => scene.hash(content)),
      0,
    )
  ).toSorted()

const stage = (scene: Scene, pass: Pass, report: Report) =>
  scene.store.stage({ pass, report, event: event(pass, "pass.staged", scene.clock.now()) })

/** Takes a pass away with all that is of it, as the retention does. */
async function gone(scene: Scene, pass: Pass) {
  const before = scene.clock.now() + LATER
  const back = (await scene.store.find(pass.id))!
  const commit = scene.commit(back, "processed")
  await scene.deliver({ pass_over_id: pass.id, message_id: "msg_9", at: commit.at, commit })
  await scene.forgetLines("ses_alice")
  expect(await scene.store.forget({ pass_over_id: pass.id, before })).toBe(true)
  while (await scene.store.clear(pass.id));
}

export function contentsContract(setup: Setup) {
  describe("contents of artifacts", () => {
    test("come back to the letter, and lie with those of changes, once", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      expect(await kept(scene, OLD, NEW)).toEqual([])
      await scene.store.settle(scene.settled(pass, { output: scene.output(pass, { artifacts }) }))
      expect((await scene.store.outcome(pass.id))?.output.artifacts).toEqual(artifacts)
      expect(await kept(scene, OLD, NEW)).toEqual(hashes(scene, OLD, NEW))
      expect(await scene.store.blob(scene.hash(OLD))).toMatchObject({ bytes: new TextEncoder().encode(OLD).length })
      const piece = await scene.store.piece(scene.hash(NEW), 0)
      expect(new TextDecoder().decode(piece)).toBe(NEW)
    })

    test("of a staged return come back too, its edits among them, and stay when the pass ends without them", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const edits = [{ old_string: "half \ud83d", new_string: "whole" }]
      const given = [modification("a.ts"), { ...artifacts[1] }, { ...modification("c.ts"), edits }]
      const report = scene.report({ artifacts: given as Report["artifacts"] })
      expect(await stage(scene, pass, report)).toBe("staged")
      expect(await scene.store.staged(pass.id)).toEqual(report)
      await scene.store.settle(scene.settled(pass, { output: scene.output(pass, { artifacts: [] }) }))
      expect(await scene.store.pruneBlobs(scene.clock.now() + LATER)).toBe(0)
      expect(await scene.store.staged(pass.id)).toEqual(report)
    })

    test("of what did not come about are nowhere", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const settled = scene.settled(pass, { output: scene.output(pass, { artifacts: [] }) })
      moved(await scene.store.settle(settled))
      const late = scene.settled(pass, { output: scene.output(pass, { artifacts }) })
      expect(await scene.store.settle(late)).toBe("stale")
      expect(await stage(scene, pass, scene.report({ artifacts: [modification("a.ts")] }))).toBe("ended")
      expect(await kept(scene, OLD, NEW)).toEqual([])
    })

    test("stay as long as a pass needs them, and go with the last that does", async () => {
      await using scene = await createScene(setup)
      const [first, second] = [await scene.running(), await scene.running({ session_id: "ses_alice" })]
      await stage(scene, first, scene.report({ artifacts: [modification("a.ts")] }))
      for (const [pass, all] of [
        [first, artifacts],
        [second, [modification("z.ts", "", NEW)]],
      ] as const) {
        await scene.store.settle(scene.settled(pass, { output: scene.output(pass, { artifacts: [...all] }) }))
      }
      const before = scene.clock.now() + LATER
      expect(await scene.store.leftBlobs({ before, without: [first.id] })).toBe(1)
      expect(await scene.store.leftBlobs({ before, without: [first.id, second.id] })).toBe(2)
      expect(await scene.store.pruneBlobs(before)).toBe(0)
      await gone(scene, first)
      expect(await scene.store.pruneBlobs(before)).toBe(1)
      expect(await kept(scene, OLD, NEW)).toEqual(hashes(scene, NEW))
      expect((await scene.store.outcome(second.id))?.output.artifacts).toEqual([modification("z.ts", "", NEW)])
      await gone(scene, second)
      expect(await scene.store.pruneBlobs(before)).toBe(1)
      expect(await kept(scene, OLD, NEW)).toEqual([])
    })

    test("that are found in a transcript later are kept in the same way", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const output = scene.output(pass, { artifacts: [] })
      await scene.store.settle(scene.settled(pass, { output, transcript: "unread" }))
      const ended = (await scene.store.find(pass.id))!
      const { artifacts: given } = scene.settled(pass, { output: scene.output(pass, { artifacts }) })
      expect(await scene.store.enrich({ pass: ended, output, artifacts: given })).toBe(true)
      expect((await scene.store.outcome(pass.id))?.output.artifacts).toEqual(artifacts)
      expect(await scene.store.pruneBlobs(scene.clock.now() + LATER)).toBe(0)
    })

    test("of many passes that end at once come back to each", async () => {
      await using scene = await createScene(setup)
      const passes = [await scene.running(), await scene.running(), await scene.running()]
      const of = (index: number) => [modification("a.ts", OLD, `${index}\n`)]
      const all = passes.map((pass, index) =>
        scene.settled(pass, { output: scene.output(pass, { artifacts: of(index) }) }),
      )
      expect(await scene.store.settleMany(all)).toHaveLength(3)
      for (const [index, { id }] of passes.entries()) {
        expect((await scene.store.outcome(id))?.output.artifacts).toEqual(of(index))
      }
    })

    test("that are longer than a piece come back whole", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      const long = [modification("a.ts", "ä".repeat(1_100_000), `${"x".repeat(3_000_000)}\n`)]
      await scene.store.settle(scene.settled(pass, { output: scene.output(pass, { artifacts: long }) }))
      expect((await scene.store.outcome(pass.id))?.output.artifacts).toEqual(long)
    })

    test("are not taken for what somebody left torn under their name", async () => {
      await using scene = await createScene(setup)
      const pass = await scene.running()
      await scene.store.putPieces([{ hash: scene.hash(OLD), position: 0, content: new Uint8Array([1, 2, 3]) }])
      await scene.store.settle(scene.settled(pass, { output: scene.output(pass, { artifacts }) }))
      expect((await scene.store.outcome(pass.id))?.output.artifacts).toEqual(artifacts)
    })
  })
}
