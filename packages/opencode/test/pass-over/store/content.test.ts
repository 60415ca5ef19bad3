import { expect, test } from "bun:test"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { event } from "../../../src/pass-over/domain/pass"
import { isRedacted } from "../../../src/pass-over/domain/secret"
import { openStore } from "../support/database"
import { createFolder } from "../support/folder"
import { accepted, createWorld } from "../support/world"

const PLAIN = "nobody-may-find-this-by-looking-through-our-files"

const modification = {
  type: "file_modification",
  path: "src/total.ts",
  old_content: `// ${PLAIN}\n`,
  new_content: `// ${PLAIN}, and more of it\n`,
  reason: "because",
  confidence: "high",
} as const

/** A pass that has returned a proposal and ended with it. */
async function proposed(path: string, lane = 1) {
  const world = createWorld({ lane })
  using database = openStore(path)
  const { store } = database
  const { pass: opened } = accepted(await store.open(world.opening(world.pass())))
  const pass = await store.commit(world.commit(opened, "waiting_for_return"))
  if (pass === "stale") throw new Error("stale")
  const edits = [{ old_string: PLAIN, new_string: "other" }]
  const report = world.report({ artifacts: [modification, { ...modification, path: "b.ts", edits }] })
  await store.stage({ pass, report, event: event(pass, "pass.staged", world.clock.now()) })
  await store.settle(world.settled(pass, { output: world.output(pass, { artifacts: [modification] }) }))
  return { pass, report }
}

const found = (folder: string, word: string) =>
  readdirSync(folder).filter((name) => readFileSync(`${folder}/${name}`).includes(word))

test("the contents of what was returned are not found in any of our files, and are read as they were", async () => {
  using folder = createFolder()
  const path = folder.at("db/pass-over.db")
  const { pass, report } = await proposed(path)
  // The control: what is not sealed is found this way.
  expect(found(folder.at("db"), "src/total.ts")).not.toEqual([])
  expect(found(folder.at("db"), PLAIN)).toEqual([])
  using database = openStore(path)
  expect(await database.store.staged(pass.id)).toEqual(report)
  expect((await database.store.outcome(pass.id))?.output.artifacts).toEqual([modification])
})

test("without the key the rest of an outcome can be read, and its contents say that they cannot", async () => {
  using folder = createFolder()
  const path = folder.at("db/pass-over.db")
  const { pass } = await proposed(path)
  rmSync(`${path}.key`)
  using database = openStore(path)
  const outcome = await database.store.outcome(pass.id)
  const [artifact] = outcome?.output.artifacts ?? []
  expect(artifact).toMatchObject({ path: "src/total.ts", reason: "because" })
  if (artifact?.type !== "file_modification") throw new Error("it is something else")
  // Such a text is never written into a file.
  expect([artifact.old_content, artifact.new_content].every(isRedacted)).toBe(true)
  expect((await database.store.staged(pass.id))?.artifacts).toMatchObject([
    { path: "src/total.ts", new_content: artifact.new_content },
    { path: "b.ts", new_content: artifact.new_content },
  ])
})

test("a key that is damaged keeps no pass from ending with what it found", async () => {
  using folder = createFolder()
  const path = folder.at("db/pass-over.db")
  {
    using _made = openStore(path)
  }
  writeFileSync(`${path}.key`, "short")
  const { pass, report } = await proposed(path)
  using database = openStore(path)
  expect(await database.store.staged(pass.id)).toEqual(report)
  expect((await database.store.outcome(pass.id))?.output.artifacts).toEqual([modification])
})

test("a secret is taken out of a content before it is hashed", async () => {
  using folder = createFolder()
  const path = folder.at("pass-over.db")
  const world = createWorld()
  using database = openStore(path)
  const { store } = database
  const { pass: opened } = accepted(await store.open(world.opening(world.pass())))
  const pass = await store.commit(world.commit(opened, "waiting_for_return"))
  if (pass === "stale") throw new Error("stale")
  const secret = `ghp_${"a1B2".repeat(9)}`
  const artifacts = [{ ...modification, new_content: `token = "${secret}"\n` }]
  await store.settle(world.settled(pass, { output: world.output(pass, { artifacts }) }))
  const [artifact] = (await store.outcome(pass.id))?.output.artifacts ?? []
  expect(artifact?.type === "file_modification" && isRedacted(artifact.new_content)).toBe(true)
  expect(await store.hasBlobs([world.hash(`token = "${secret}"\n`)], 0)).toEqual([])
})

test("a pass without proposals touches neither contents nor the key", async () => {
  using folder = createFolder()
  const path = folder.at("db/pass-over.db")
  const world = createWorld()
  using database = openStore(path)
  const { store } = database
  const { pass: opened } = accepted(await store.open(world.opening(world.pass())))
  const pass = await store.commit(world.commit(opened, "waiting_for_return"))
  if (pass === "stale") throw new Error("stale")
  await store.stage({ pass, report: world.report(), event: event(pass, "pass.staged", world.clock.now()) })
  await store.settle(world.settled(pass, { output: world.output(pass, { artifacts: [] }) }))
  expect(readdirSync(folder.at("db")).filter((name) => name.includes(".key"))).toEqual([])
})
