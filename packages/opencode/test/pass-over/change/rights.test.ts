import { expect, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ChangeSet } from "../../../src/pass-over/domain/change/change"
import { apply } from "../../../src/pass-over/service/change/apply"
import { createRecorder } from "../../../src/pass-over/service/change/record"
import { recoverApplies } from "../../../src/pass-over/service/change/recover"
import { takeChanges } from "../../../src/pass-over/service/change/take"
import { undo } from "../../../src/pass-over/service/change/undo"
import type { Application } from "../../../src/pass-over/service/port-change"
import { createChangeWorld, modeOf, type ChangeWorld } from "../support/change"

const SECRET = "password=1\n"
const PLAIN = 0o666 & ~process.umask()

async function applied(world: ChangeWorld, change: ChangeSet) {
  await world.accept(change)
  const result = await apply(world.deps, { pass: world.pass, change, actor: "ada" })
  if (!result.ok) throw new Error(`${result.refusal.code} ${result.refusal.message}`)
  return result.application
}

async function undone(world: ChangeWorld, application: Application | undefined) {
  const result = await undo(world.deps, { pass: world.pass, application: application!, actor: "ada" })
  if (!result.ok) throw new Error(`${result.refusal.code} ${result.refusal.message}`)
  return result.application
}

const rights = (world: ChangeWorld, path: string) => modeOf(join(world.project, path))

test("a file that was deleted comes back for those who might read it, as often as that is undone", async () => {
  using world = await createChangeWorld()
  world.put(".env", SECRET, 0o600)
  const first = await applied(world, await world.change([{ path: ".env", old: SECRET }]))
  const second = await undone(world, first)
  expect([world.get(".env"), rights(world, ".env")]).toEqual([SECRET, 0o600])
  // Whoever has taken it back to themselves meanwhile has the last word.
  chmodSync(join(world.project, ".env"), 0o400)
  await undone(world, await undone(world, second))
  expect([world.get(".env"), rights(world, ".env")]).toEqual([SECRET, 0o400])
})

test("a file that is renamed and edited in one is for those who might read it before", async () => {
  using world = await createChangeWorld()
  world.put("a.conf", SECRET, 0o600)
  world.put("b.txt", "b\n")
  const change = await world.change([
    { path: "conf/a.conf", old_path: "a.conf", old: SECRET, new: `${SECRET}more\n` },
    { path: "new.txt", new: "new\n" },
  ])
  const application = await applied(world, change)
  expect([rights(world, "conf/a.conf"), rights(world, "new.txt")]).toEqual([0o600, PLAIN])
  await undone(world, application)
  expect([world.get("a.conf"), rights(world, "a.conf")]).toEqual([SECRET, 0o600])
})

test("a private folder that was emptied does not come back open to others", async () => {
  using world = await createChangeWorld()
  mkdirSync(join(world.project, "private"))
  chmodSync(join(world.project, "private"), 0o700)
  world.put("private/key.txt", SECRET)
  world.put("open/a.txt", "a\n")
  const change = await world.change([
    { path: "private/key.txt", old: SECRET },
    { path: "open/a.txt", old: "a\n" },
  ])
  const application = await applied(world, change)
  expect(existsSync(join(world.project, "open"))).toBe(false)
  await undone(world, application)
  expect([world.get("private/key.txt"), rights(world, "private")]).toEqual([SECRET, 0o700])
})

test("what a process deleted that died over it comes back for those who might read it", async () => {
  using world = await createChangeWorld()
  world.put(".env", SECRET, 0o600)
  world.put("b.txt", "b\n")
  const change = await world.change([
    { path: ".env", old: SECRET },
    { path: "b.txt", old: "b\n" },
  ])
  await world.accept(change)
  const open = world.deps.openTree
  const dying: typeof world.deps = {
    ...world.deps,
    openTree: async (directory) => {
      const tree = await open(directory)
      const never = () => new Promise<never>(() => {})
      return { ...tree, remove: (path, before) => (path === "b.txt" ? never() : tree.remove(path, before)) }
    },
  }
  void apply(dying, { pass: world.pass, change, actor: "ada" })
  while (existsSync(join(world.project, ".env"))) await Bun.sleep(1)
  writeFileSync(join(world.project, "b.txt"), "somebody else's\n")
  const next = { ...world.deps, owner_id: world.ids.make("own"), under_way: new Set<string>() }
  await recoverApplies(next, () => true)
  expect([world.get(".env"), rights(world, ".env"), world.get("b.txt")]).toEqual([SECRET, 0o600, "somebody else's\n"])
})

test("what a child has deleted in the project itself comes back for those who might read it", async () => {
  using world = await createChangeWorld()
  world.put(".env", SECRET, 0o600)
  const recorder = createRecorder({ deps: world.deps, directory: world.project, workspaces: undefined })
  const args = { patchText: "*** Begin Patch\n*** Delete File: .env\n*** End Patch" }
  const call = { call_id: "1", tool: "apply_patch", args, session_id: "ses_1" }
  await recorder.before(call)
  rmSync(join(world.project, ".env"))
  await recorder.after(call)
  await takeChanges(world.deps, world.pass, { report: undefined, observed: await recorder.observed() })
  const [application] = await world.store.applications({ pass_over_id: world.pass.id })
  await undone(world, application)
  expect([world.get(".env"), rights(world, ".env")]).toEqual([SECRET, 0o600])
})
