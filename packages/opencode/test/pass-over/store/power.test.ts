import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { copyFileSync, mkdirSync, readFileSync, truncateSync } from "node:fs"
import { join } from "node:path"
import type { PassID } from "../../../src/pass-over/domain/id"
import type { Store } from "../../../src/pass-over/service/port"
import { openStore } from "../support/database"
import { createFolder } from "../support/folder"
import { runChild } from "../support/process"

// A power cut leaves of the log what was brought to the disk by then. The calls of a process that lets a pass go its way
// say how much that was at each of its words; the log is cut there and the database opened again.
const strace = Bun.which("strace")
const FIXTURE = join(import.meta.dir, "fixture/power.ts")

type Told = { waited: PassID; unwaited: PassID; session_id: string }

/** How far the log reached the disk when each word was said. */
function synced(calls: string): Map<string, number> {
  const reach = { written: 0, synced: 0 }
  const words = new Map<string, number>()
  for (const line of calls.split("\n")) {
    const [, size, at] = /pwrite64\(\d+<[^>]*-wal>, .*, (\d+), (\d+)\) = \d+$/.exec(line) ?? []
    if (size && at) reach.written = Math.max(reach.written, Number(at) + Number(size))
    if (/f(?:data)?sync\(\d+<[^>]*-wal>\) += 0$/.test(line)) reach.synced = reach.written
    const word = / write\(1<[^>]*>, "([a-z ]+)\\n"/.exec(line)?.[1]
    if (word) words.set(word, reach.synced)
  }
  return words
}

describe.skipIf(!strace)("a power cut", () => {
  const folder = createFolder()
  const [database, log, files] = [folder.at("whole/a.db"), folder.at("log"), folder.at("files")]
  const seen: { words: Map<string, number>; told: Told | undefined } = { words: new Map(), told: undefined }

  beforeAll(async () => {
    mkdirSync(folder.at("whole"))
    const watch = [strace ?? "strace", "-f", "--seccomp-bpf", "-y", "-s", "64", "-o", log]
    const child = await runChild(FIXTURE, [database, files], {
      before: [...watch, "-e", "trace=write,pwrite64,fsync,fdatasync"],
    })
    expect(child.code, child.stderr).toBe(0)
    seen.told = JSON.parse(child.stderr)
    seen.words = synced(readFileSync(log, "utf8"))
  })
  afterAll(() => folder[Symbol.dispose]())

  /** What is left of the database where the power goes at this word. */
  async function left<T>(word: string, look: (store: Store, told: Told) => Promise<T>): Promise<T> {
    const reached = seen.words.get(word)
    if (reached === undefined || !seen.told) throw new Error(`"${word}" was never said`)
    const at = folder.at(word)
    mkdirSync(at)
    copyFileSync(database, join(at, "a.db"))
    copyFileSync(`${database}-wal`, join(at, "a.db-wal"))
    truncateSync(join(at, "a.db-wal"), reached)
    using opened = openStore(join(at, "a.db"))
    return await look(opened.store, seen.told)
  }

  const lines = (store: Store, { session_id }: Told) =>
    store.audit({ session_id }).then((all) => all.map(({ seq, action }) => `${seq} ${action}`).toReversed())

  test("takes back a pass that has only been opened, of which nobody knows", async () => {
    expect(await left("opened", (store, { waited }) => store.find(waited))).toBeUndefined()
  })

  test("leaves a pass whose child is about to hear of it, with its child", async () => {
    const pass = await left("bound", (store, { waited }) => store.find(waited))
    expect(pass).toMatchObject({ status: "waiting_for_return", child_session_id: expect.any(String) })
  })

  test("leaves a return that a child was told is received, for whoever takes the pass over", async () => {
    const [claimed] = await left("staged", async (store, { waited }) => {
      const pass = await store.find(waited)
      return pass ? store.claim({ from: pass.owner_id, owner_id: "own_next", limit: 1 }) : []
    })
    expect(claimed).toMatchObject({ pass: { status: "waiting_for_return" }, staged: { status: "completed" } })
  })

  test("leaves an outcome that its originator is told of", async () => {
    const found = await left("settled", async (store, { waited }) => ({
      pass: await store.find(waited),
      outcome: await store.outcome(waited),
    }))
    expect(found).toMatchObject({ pass: { status: "returned" }, outcome: { output: { status: "completed" } } })
  })

  test("leaves no line in a log file that the database does not have", async () => {
    const [month] = [...new Bun.Glob("*/session-*.jsonl").scanSync(files)]
    const written = readFileSync(join(files, month ?? ""), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(written.map(({ action }) => action)).toEqual(["requested", "dispatched", "returned", "processed"])
    expect(await left("logged", lines)).toEqual(written.map(({ seq, action }) => `${seq} ${action}`))
  })

  test("leaves a pass that nobody waits for, because its id was told at once", async () => {
    expect(await left("handed over", (store, { unwaited }) => store.find(unwaited))).toMatchObject({
      status: "initial",
    })
  })

  test("leaves a refusal", async () => {
    expect((await left("refused", lines)).at(-1)).toEndWith(" refused")
  })
})
