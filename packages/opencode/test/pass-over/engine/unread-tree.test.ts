import { expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { recover, resume } from "../../../src/pass-over/service/recover"
import { back, changed, createNestedWorld, FILES, put, read, type NestedWorld } from "../support/nested"
import { noRoomFor } from "../support/trees"

const WORK = "hours of work\n"
const dead = () => "dead" as const

/** What an opencode that is started after another one finds in its project. */
async function start(of: NestedWorld) {
  const world = createNestedWorld(FILES, { of })
  world.host.messages = of.host.messages
  await recover(world.engine, dead)
  await resume(world.engine, world.project, dead)
  await world.workspaces.sweep()
  return world
}

/** A child that has done its work and never returns; the tree that it works in. */
async function atWork(world: NestedWorld): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  void world.run("scout", async (scout) => {
    put(scout.tree, "new.ts", WORK)
    resolve(scout.tree)
    await new Promise(() => {})
  })
  return promise
}

test("changes that cannot be read are told and kept, and read at a later start", async () => {
  using world = createNestedWorld(FILES)
  const seen = { tree: "", room: () => {} }
  const { pass, ...runner } = await world.run("scout", async (scout) => {
    seen.tree = scout.tree
    put(scout.tree, "new.ts", WORK)
    seen.room = noRoomFor(world.trees, WORK)
    await back(scout)
  })
  const { output } = await runner.outcome
  expect([output.status, output.summary.change?.files]).toEqual(["completed", 0])
  const [note = ""] = output.summary.change?.notes ?? []
  expect(note).toStartWith("what it changed in its tree could not be read (git hash-object ended with 128:")
  expect(note).toContain(`it is kept in ${seen.tree}. Remove what stood in the way and start opencode again`)
  await world.workspaces.close()
  expect(read(seen.tree, "new.ts")).toBe(WORK)

  // There is still no room: it is not told twice, and nothing is thrown away.
  using second = await start(world)
  expect(await second.engine.store.changes(pass.id)).toHaveLength(1)
  await second.workspaces.close()
  expect(read(seen.tree, "new.ts")).toBe(WORK)

  seen.room()
  await resume(second.engine, second.project, dead)
  const change = await changed(second, pass)
  expect(change?.files.map(({ path }) => path)).toEqual(["new.ts"])
  expect(change?.notes).toEqual(["it could not be read when the pass ended, and was read at a later start of opencode"])
  await second.workspaces.close()
  expect([existsSync(seen.tree), await second.engine.store.worktrees()]).toEqual([false, []])
  expect((await second.apply(pass, "ada")).ok).toBe(true)
  expect(read(world.directory, "new.ts")).toBe(WORK)
})

test("what a child has done by the time that its project is closed is there at the next start", async () => {
  using world = createNestedWorld(FILES)
  const tree = await atWork(world)
  await world.workspaces.close()
  const [pass] = await world.engine.store.list({})
  using second = await start(world)
  expect((await changed(second, pass!))?.files.map(({ path }) => path)).toEqual(["new.ts"])
  await second.workspaces.close()
  expect([existsSync(tree), await second.engine.store.worktrees()]).toEqual([false, []])
})

test("the tree of a process that died is kept until it could be read, whatever its child's session says", async () => {
  using world = createNestedWorld(FILES)
  const tree = await atWork(world)
  const [pass] = await world.engine.store.list({})
  // Neither what it said nor what it changed can be read.
  const messages = world.host.messages
  world.host.messages = async () => Promise.reject(new Error("the host is starting"))
  using second = await start(world)
  expect(await second.engine.store.outcome(pass!.id)).toMatchObject({ transcript: "unread" })
  expect(read(tree, "new.ts")).toBe(WORK)

  // Then what it said can be.
  second.host.messages = messages
  const room = noRoomFor(world.trees, WORK)
  await resume(second.engine, second.project, dead)
  const outcome = await second.engine.store.outcome(pass!.id)
  expect([outcome?.transcript, outcome?.output.summary.change?.files]).toEqual(["read", 0])
  await second.workspaces.sweep()
  await second.workspaces.close()
  expect(read(tree, "new.ts")).toBe(WORK)

  room()
  await resume(second.engine, second.project, dead)
  expect((await changed(second, pass!))?.files.map(({ path }) => path)).toEqual(["new.ts"])
  await second.workspaces.close()
  expect(existsSync(tree)).toBe(false)
})
