import { expect, test } from "bun:test"
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { keep, keepStream, stream, whole } from "../../../src/pass-over/service/change/blob"
import type { Engine } from "../../../src/pass-over/service/engine"
import { LEFT_OVER_MS, pruneContents } from "../../../src/pass-over/service/change/prune"
import { createChangeWorld, bytes, sha } from "../support/change"
import { createFolder } from "../support/folder"
import { openStore } from "../support/database"

const SECRET = "AKIA-THIS-IS-A-SECRET-THAT-NOBODY-MAY-FIND"

const one = (text: string) => ({ hash: sha(bytes(text)), content: bytes(text) })

async function* pieces(...all: Uint8Array[]) {
  for (const piece of all) yield piece
}

test("what stands in a file is not found in any of our files", async () => {
  using folder = createFolder()
  const database = folder.at("db/pass-over.db")
  using world = await createChangeWorld({ database })
  await keep(world.deps, [one(`key=${SECRET}\n`), one(`${"x".repeat(3_000_000)}${SECRET}`)])
  await world.change([{ path: "a.env", new: `${SECRET}\n` }])
  const files = readdirSync(folder.at("db"))
  expect(files).toContain("pass-over.db.key")
  // The control: what is not sealed is found this way.
  const all = files.map((name) => readFileSync(folder.at("db", name)))
  expect(all.some((content) => content.includes("a.env"))).toBe(true)
  for (const content of all) expect(content.includes("THIS-IS-A-SECRET")).toBe(false)
  expect(statSync(`${database}.key`).mode & 0o777).toBe(0o600)
})

test("a content is kept once, however often it is brought", async () => {
  using folder = createFolder()
  using world = await createChangeWorld({ database: folder.at("a.db") })
  using database = openStore(folder.at("a.db"))
  const count = (table: string) =>
    database.client.query<{ n: number }, []>(`select count(*) n from ${table}`).get()?.n ?? 0
  const before = count("pass_over_blobs")
  await keep(world.deps, [one("same"), one("same"), one("other")])
  await keep(world.deps, [one("same")])
  expect(await keepStream(world.deps, one("same"), pieces(bytes("same")))).toBe(true)
  expect([count("pass_over_blobs"), count("pass_over_blob_pieces")]).toEqual([before + 2, before + 2])
})

test.each([0, 1, 1_048_575, 1_048_576, 1_048_577, 3_500_000])("%d bytes come back as they were", async (length) => {
  using world = await createChangeWorld()
  const content = new Uint8Array(length).map((_, index) => (index * 31) % 251)
  const hash = sha(content)
  const third = Math.floor(length / 3)
  const parts = [content.subarray(0, third), content.subarray(third, third + 7), content.subarray(third + 7)]
  expect(await keepStream(world.deps, { hash }, pieces(...parts))).toBe(true)
  expect(sha((await whole(world.deps, hash))!)).toBe(hash)
  await keep(world.deps, [{ hash: sha(bytes(`${length}`)), content: bytes(`${length}`) }])
  expect(await whole(world.deps, hash, length - 1)).toBeUndefined()
})

test("a stream that turns out to be another content is not kept under the wrong name", async () => {
  using world = await createChangeWorld()
  expect(await keepStream(world.deps, one("expected"), pieces(bytes("something else")))).toBe(false)
  expect(await world.store.hasBlobs([one("expected").hash], 0)).toEqual([])
  expect(await world.store.piece(one("expected").hash, 0)).toBeUndefined()
})

test("a damaged piece, one under another name and a wrong key are noticed", async () => {
  using folder = createFolder()
  const path = folder.at("a.db")
  using world = await createChangeWorld({ database: path })
  await keep(world.deps, [one("first"), one("second")])
  using database = openStore(path)
  database.client.run(
    "update pass_over_blob_pieces set sealed = (select sealed from pass_over_blob_pieces where hash = ?) where hash = ?",
    [one("second").hash, one("first").hash],
  )
  await expect(whole(world.deps, one("first").hash)).rejects.toMatchObject({ code: "E014" })
  writeFileSync(`${path}.key`, new Uint8Array(32))
  using other = await createChangeWorld({ database: path, owner: 2 })
  await expect(whole(other.deps, one("second").hash)).rejects.toMatchObject({ code: "E014" })
  writeFileSync(`${path}.key`, "short")
  using third = await createChangeWorld({ database: path, owner: 3 })
  await expect(whole(third.deps, one("second").hash)).rejects.toMatchObject({ code: "E014" })
})

test("a key that others could read is closed again", async () => {
  using folder = createFolder()
  const path = folder.at("a.db")
  using world = await createChangeWorld({ database: path })
  await keep(world.deps, [one("first")])
  chmodSync(`${path}.key`, 0o644)
  using other = await createChangeWorld({ database: path, owner: 2 })
  expect(await whole(other.deps, one("first").hash)).toEqual(bytes("first"))
  expect(statSync(`${path}.key`).mode & 0o777).toBe(0o600)
})

test("several processes that start at once use one key", async () => {
  using folder = createFolder()
  const path = folder.at("a.db")
  using first = await createChangeWorld({ database: path })
  const script = `import { createSeal } from ${JSON.stringify(join(import.meta.dir, "../../../src/pass-over/store/blob-key"))}
process.stdout.write(createSeal(${JSON.stringify(path)}).seal(new Uint8Array([1]), "x").toString("base64"))`
  const sealed = await Promise.all(
    Array.from({ length: 6 }, () =>
      new Response(Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" }).stdout).text(),
    ),
  )
  const { createSeal } = await import("../../../src/pass-over/store/blob-key")
  for (const one of sealed) expect([...createSeal(path).open(Buffer.from(one, "base64"), "x")]).toEqual([1])
  expect(readdirSync(folder.path).filter((name) => name.includes(".key."))).toEqual([])
  expect(first.pass.id).toBeTruthy()
})

test("pruning forgets what nothing refers to, and nothing else", async () => {
  using world = await createChangeWorld()
  await keep(world.deps, [one("loose")])
  const change = await world.change([{ path: "a.txt", old: "old\n", new: "new\n" }])
  expect(await world.store.pruneBlobs(world.clock.now())).toBe(0)
  expect(await world.store.pruneBlobs(world.clock.now() + 1)).toBe(1)
  expect(
    await world.store.hasBlobs([one("loose").hash, change.files[0]!.old!.hash, change.files[0]!.new!.hash], 0),
  ).toHaveLength(2)
  await expect(Array.fromAsync(stream(world.deps, one("loose").hash))).rejects.toMatchObject({ code: "E042" })
})

test("pieces that were never declared whole are swept", async () => {
  using folder = createFolder()
  const path = folder.at("a.db")
  using world = await createChangeWorld({ database: path })
  await world.store.putPieces([{ hash: one("torn").hash, position: 0, content: bytes("torn") }])
  await keep(world.deps, [one("whole")])
  expect(await world.store.sweepBlobs()).toBe(1)
  expect(await world.store.piece(one("torn").hash, 0)).toBeUndefined()
  expect(await whole(world.deps, one("whole").hash)).toEqual(bytes("whole"))
})

test("a content whose pieces are gone before it is whole is not declared whole", async () => {
  using world = await createChangeWorld()
  const { store } = world
  await store.putPieces([0, 1].map((position) => ({ hash: "aa", position, content: bytes("x") })))
  await store.sweepBlobs()
  await store.putPieces([{ hash: "aa", position: 2, content: bytes("x") }])
  const closing = store.closeBlobs([{ hash: "aa", bytes: 3, pieces: 3 }], 1)
  await expect(closing).rejects.toThrow("was cleaned away while it came")
  expect(await store.blob("aa")).toBeUndefined()
})

test("a start forgets what is left over, and sweeps torn contents only where nobody can be bringing any", async () => {
  using world = await createChangeWorld()
  const { store } = world
  const engine = {
    ...world.deps,
    store,
    running: { all: () => [] },
    files: { under_way: new Set() },
  } as unknown as Engine
  await keep(world.deps, [one("nobody's")])
  await store.putPieces([{ hash: "torn", position: 0, content: bytes("x") }])
  world.clock.advance(2 * LEFT_OVER_MS)
  const other = { owner_id: world.ids.make("own"), pid: 1, process_start: "1", host: "h", place: "p" }
  await store.enter(other, world.clock.now())
  await pruneContents(engine, () => "alive")
  expect(await store.hasBlobs([one("nobody's").hash], 0)).toEqual([])
  expect(await store.piece("torn", 0)).toBeDefined()
  await pruneContents(engine, () => "dead")
  expect(await store.piece("torn", 0)).toBeUndefined()
})
