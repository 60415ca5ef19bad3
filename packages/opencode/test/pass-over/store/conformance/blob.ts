import { describe, expect, test } from "bun:test"
import { applicationOf, changeOf, createScene, type Scene, type Setup } from "./scene"

const DAY = 86_400_000

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (content: Uint8Array | undefined) =>
  content === undefined ? undefined : new TextDecoder().decode(content)

const put = (scene: Scene, hash: string, ...pieces: string[]) =>
  scene.store.putPieces(pieces.map((piece, position) => ({ hash, position, content: bytes(piece) })))

const close = (scene: Scene, hash: string, pieces: number, at = scene.clock.now()) =>
  scene.store.closeBlobs([{ hash, bytes: 6, pieces }], at)

/** A content that is whole. */
const kept = async (scene: Scene, name: string) => {
  const hash = scene.hash(name)
  await put(scene, hash, name)
  await close(scene, hash, 1)
  return hash
}

function wholeContract(setup: Setup) {
  describe("a content", () => {
    test("is there once it was declared whole, and comes back piece by piece", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const hash = scene.hash("whole")
      await put(scene, hash, "one", "two")
      expect(await store.blob(hash)).toBeUndefined()
      expect(await store.hasBlobs([hash], 0)).toEqual([])
      await close(scene, hash, 2)
      expect(await store.blob(hash)).toEqual({ hash, bytes: 6, pieces: 2 })
      expect(await store.hasBlobs([hash, scene.hash("other"), hash], 0)).toEqual([hash])
      const pieces = [0, 1, 2].map(async (position) => text(await store.piece(hash, position)))
      expect(await Promise.all(pieces)).toEqual(["one", "two", undefined])
    })

    test("is of any bytes, or of none", async () => {
      await using scene = await createScene(setup)
      const hash = scene.hash("bytes")
      const content = new Uint8Array(70_000).map((_, at) => (at * 31) % 256)
      const pieces = [content, new Uint8Array()].map((piece, position) => ({ hash, position, content: piece }))
      await scene.store.putPieces(pieces)
      const back = await Promise.all([0, 1].map((position) => scene.store.piece(hash, position)))
      expect(back.map((piece) => [...piece!])).toEqual([[...content], []])
    })

    test("whose pieces are brought again stays as it is", async () => {
      await using scene = await createScene(setup)
      const hash = scene.hash("again")
      await put(scene, hash, "one")
      await put(scene, hash, "eno", "two")
      await close(scene, hash, 2)
      await put(scene, hash, "eno", "owt")
      const pieces = [0, 1].map(async (position) => text(await scene.store.piece(hash, position)))
      expect(await Promise.all(pieces)).toEqual(["one", "two"])
    })

    test("of which a piece is missing is not declared whole, nor is any that is declared with it", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const [good, torn] = [scene.hash("good"), scene.hash("torn")]
      await put(scene, good, "one")
      await put(scene, torn, "one")
      const both = [good, torn].map((hash, at) => ({ hash, bytes: 6, pieces: at + 1 }))
      await expect(store.closeBlobs(both, scene.clock.now())).rejects.toThrow()
      expect(await store.hasBlobs([good, torn], 0)).toEqual([])
    })

    test("comes with all of the pieces that are brought at once, or none of them", async () => {
      await using scene = await createScene(setup)
      const hash = scene.hash("half")
      const broken = { hash: null as never, position: 0, content: bytes("two") }
      await expect(scene.store.putPieces([{ hash, position: 0, content: bytes("one") }, broken])).rejects.toThrow()
      expect(await scene.store.piece(hash, 0)).toBeUndefined()
    })
  })

  describe("pieces of a content that was never declared whole", () => {
    test("are dropped where somebody says so, and those of a whole one are not", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const torn = scene.hash("torn")
      await put(scene, torn, "one", "two")
      const whole = await kept(scene, "whole")
      for (const hash of [torn, whole, scene.hash("nothing")]) await store.dropPieces(hash)
      expect([await store.piece(torn, 0), await store.piece(torn, 1)]).toEqual([undefined, undefined])
      expect(text(await store.piece(whole, 0))).toBe("whole")
    })

    test("are swept, and counted; nothing else goes with them", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const whole = await kept(scene, "whole")
      const [first, second] = [scene.hash("first"), scene.hash("second")]
      await put(scene, first, "one", "two")
      await put(scene, second, "one")
      expect(await store.sweepBlobs()).toBe(3)
      expect(await store.sweepBlobs()).toBe(0)
      for (const hash of [first, second]) expect(await store.piece(hash, 0)).toBeUndefined()
      expect(text(await store.piece(whole, 0))).toBe("whole")
      await expect(close(scene, first, 2)).rejects.toThrow()
    })
  })
}

export function blobContract(setup: Setup) {
  wholeContract(setup)

  describe("contents that nothing refers to", () => {
    test("are forgotten when they are old enough, as many as was said before; what is referred to stays", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const pass = await scene.running()
      const change = changeOf(scene, pass)
      await store.saveChange(change)
      const before = { hash: scene.hash("before"), mode: "100644", bytes: 6 } as const
      await store.recordApplied(
        applicationOf(scene, change, { status: "done", ops: [{ path: "a.ts", before, after: null }] }),
      )
      // By the files of the change, and by what was there before it was applied.
      const referred = [await kept(scene, "a.ts"), await kept(scene, "b.ts"), await kept(scene, "before")]
      const of = [await kept(scene, "old"), await kept(scene, "older")]
      const then = scene.clock.now() + 1
      scene.clock.advance(DAY)
      const young = await kept(scene, "young")
      const has = async (hashes: readonly string[]) => (await store.hasBlobs(hashes, 0)).toSorted()
      expect(await store.leftBlobs({ before: then, without: [] })).toBe(2)
      expect(await store.leftBlobs({ before: then, without: [pass.id] })).toBe(5)
      expect(await store.pruneBlobs(then - 1)).toBe(0)
      expect(await store.pruneBlobs(then)).toBe(2)
      expect(await has(of)).toEqual([])
      for (const hash of of) expect(await store.piece(hash, 0)).toBeUndefined()
      expect(await has([...referred, young])).toEqual([...referred, young].toSorted())
      expect(await store.leftBlobs({ before: then, without: [] })).toBe(0)
    })

    test("count as young again for whoever finds them, or brings them once more", async () => {
      await using scene = await createScene(setup)
      const { store } = scene
      const [found, brought] = [await kept(scene, "found"), await kept(scene, "brought")]
      await kept(scene, "left")
      scene.clock.advance(10 * DAY)
      expect(await store.hasBlobs([found], scene.clock.now())).toEqual([found])
      await close(scene, brought, 1)
      expect(await store.pruneBlobs(scene.clock.now() - DAY)).toBe(1)
      expect((await store.hasBlobs([found, brought], 0)).toSorted()).toEqual([found, brought].toSorted())
    })
  })
}
