import type { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { PassOverError } from "../../../src/pass-over/domain/errors"
import type { Pass } from "../../../src/pass-over/domain/pass"
import type { Store } from "../../../src/pass-over/service/port"
import { checkDatabase } from "../../../src/pass-over/store/check"
import { openDatabase } from "../../../src/pass-over/store/open"
import { createStore } from "../../../src/pass-over/store/store"
import { brokenAt } from "../support/chain"
import { connect, openStore } from "../support/database"
import { createDisk, missing } from "../support/disk"
import { createFolder } from "../support/folder"
import { runChild } from "../support/process"
import { accepted, createWorld } from "../support/world"

const fixture = (name: string) => join(import.meta.dir, "fixture", name)

/** What opening says about a path that is no use; it must say something, and it must not throw. */
function problem(path: string): string {
  const opened = openDatabase(path)
  if (!opened.ok) return opened.problem
  opened.client.close()
  return ""
}

async function failure(promise: Promise<unknown>): Promise<PassOverError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof PassOverError) return error
  throw new Error(`not a PassOverError: ${String(error)}`)
}

const traces = async (store: Store, pass: Pass) => ({
  pass: await store.find(pass.id),
  request: await store.request(pass.id),
  outcome: await store.outcome(pass.id),
  deliveries: await store.deliveries(pass.session_id),
  audit: await store.audit({ session_id: pass.session_id }),
})

// More than any page that is free already.
const LARGE = "x".repeat(300_000)

describe("a disk that is full", () => {
  const world = createWorld()
  const fill = (client: Database) => {
    const row = client.query<{ page_count: number }, []>("PRAGMA page_count").get()
    client.run(`PRAGMA max_page_count = ${row?.page_count ?? 0}`)
  }
  const free = (client: Database) => client.run("PRAGMA max_page_count = 1000000")

  test("is told as a sentence, leaves nothing half written, and is over when there is room again", async () => {
    using folder = createFolder()
    const path = folder.at("pass-over.db")
    using database = openStore(path)
    const { store, client } = database
    const { pass: known } = accepted(await store.open(world.opening()))
    const running = await store.commit(world.commit(known, "waiting_for_return"))
    if (running === "stale") throw new Error("stale")

    fill(client)
    const input = world.opening(world.pass({ background: LARGE }))
    const ending = world.settled(running, { output: world.output(running, { completion_reason: LARGE }) })
    const before = [await traces(store, running), await traces(store, input.pass)]
    for (const operation of [() => store.open(input), () => store.settle(ending)]) {
      const error = await failure(operation())
      expect(error).toMatchObject({ code: "E014", recoverable: true })
      expect(error.message).toBe(`Pass Over cannot use its database ${path}: the disk is full (SQLITE_FULL).`)
      expect(error.suggestedAction).toBe("Free some space.")
    }
    expect([await traces(store, running), await traces(store, input.pass)]).toEqual(before)

    free(client)
    expect(await store.open(input)).toMatchObject({ created: true })
    expect(await store.settle(ending)).toMatchObject({ status: "returned" })
    expect(brokenAt((await store.audit({ session_id: "ses_alice" })).toReversed())).toBeUndefined()
    expect(client.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" })
  })

  test("already when the database is made is a sentence too", async () => {
    using folder = createFolder()
    const path = folder.at("pass-over.db")
    const child = await runChild(fixture("open.ts"), [path], {
      // A limit on the size of files stands for the disk: a few blocks, and no signal where it is reached.
      before: ["sh", "-c", `trap "" XFSZ; ulimit -f 8; exec "$@"`, "sh"],
      ready: async () => {},
    })
    expect(child).toMatchObject({ code: 0, stderr: "" })
    expect(JSON.parse(child.stdout)).toEqual({ ok: false, problem: expect.stringContaining(path) })
    expect(problem(path)).toBe("")
  })
})

describe("a place that cannot be written", () => {
  const barred = (path: string, code: string) =>
    `Pass Over cannot use its database ${path}: the file or its folder may not be written (${code}).`
  const hint =
    "Make both writable, or set the environment variable PASS_OVER_DB to a file elsewhere and start opencode again."

  const refusedTo = async (path: string) => {
    const child = await runChild(fixture("unprivileged.ts"), [path])
    expect(child).toMatchObject({ code: 0, stderr: "" })
    return JSON.parse(child.stdout)
  }

  test("is told of a folder that is read-only", async () => {
    using folder = createFolder()
    const path = folder.at("locked", "pass-over.db")
    mkdirSync(folder.at("locked"))
    chmodSync(folder.path, 0o755)
    chmodSync(folder.at("locked"), 0o555)
    expect(await refusedTo(path)).toEqual({ ok: false, problem: `${barred(path, "EACCES")} ${hint}` })
    chmodSync(folder.at("locked"), 0o755)
  })

  test("is told of a file that is read-only", async () => {
    using folder = createFolder()
    const path = folder.at("pass-over.db")
    openStore(path)[Symbol.dispose]()
    chmodSync(path, 0o444)
    chmodSync(folder.path, 0o777)
    expect(await refusedTo(path)).toEqual({ ok: false, problem: `${barred(path, "EACCES")} ${hint}` })
  })

  const noDisk = missing(() => createDisk("64k"))
  test.skipIf(noDisk !== "")(`is told of a disk that is read-only, also where it is only looked at${noDisk}`, () => {
    using disk = createDisk("4m")
    const path = disk.at("pass-over.db")
    expect(problem(path)).toBe("")
    disk.readOnly()
    const message = `Pass Over cannot use its database ${path}: its disk is read-only (EROFS).`
    const advice = hint.replace("Make both writable", "Make the disk writable again")
    expect(problem(path)).toBe(`${message} ${advice}`)
    expect(checkDatabase(path)).toEqual({ state: "barred", message, advice })
  })

  test("refuses to write through a connection that only reads, and goes on reading", async () => {
    using folder = createFolder()
    const world = createWorld()
    const path = folder.at("pass-over.db")
    using writable = openStore(path)
    const { pass } = accepted(await writable.store.open(world.opening()))
    using reading = connect(path, { readonly: true })
    const store = createStore({ ok: true, client: reading.client, newer: false }, path)
    const error = await failure(store.commit(world.commit(pass, "cancelled")))
    expect(error.code).toBe("E014")
    expect([error.message, error.suggestedAction]).toEqual([barred(path, "SQLITE_READONLY"), hint])
    expect(await store.find(pass.id)).toEqual(pass)
  })
})

describe("something else where the database should be", () => {
  const hint = "Set the environment variable PASS_OVER_DB to a file elsewhere and start opencode again."

  test("is told of a folder in place of the file", () => {
    using folder = createFolder()
    expect(problem(folder.path)).toEndWith(`something else is in its place (EISDIR). ${hint}`)
  })

  test.each([
    ["a file in place of the folder", ["file", "pass-over.db"]],
    ["a file further up", ["file", "deep", "er", "pass-over.db"]],
  ])("is told of %s", (_what, parts) => {
    using folder = createFolder()
    writeFileSync(folder.at("file"), "a file")
    expect(problem(folder.at(...parts))).toMatch(/: something else is in its place \((EEXIST|ENOTDIR)\)\. Set the/)
    expect(readFileSync(folder.at("file"), "utf8")).toBe("a file")
  })

  test("is told of a file that is no database, which stays as it is", () => {
    using folder = createFolder()
    const path = folder.at("pass-over.db")
    for (const text of ["hello", "not a database\n".repeat(1_000)]) {
      writeFileSync(path, text)
      expect(problem(path)).toContain("the file is damaged, or is no database (SQLITE_NOTADB). Move it away")
      expect(readFileSync(path, "utf8")).toBe(text)
    }
  })

  test("is not told of an empty file: that is a new database", () => {
    using folder = createFolder()
    writeFileSync(folder.at("pass-over.db"), "")
    expect(problem(folder.at("pass-over.db"))).toBe("")
  })

  test("does not guess from the words in the user's own path", () => {
    using folder = createFolder()
    mkdirSync(folder.at("full of corrupt read-only files"))
    writeFileSync(folder.at("full of corrupt read-only files", "file"), "")
    const told = problem(folder.at("full of corrupt read-only files", "file", "pass-over.db"))
    expect(told).toMatch(/: something else is in its place \((EEXIST|ENOTDIR)\)\. Set the/)
  })
})

describe("a database that was damaged", () => {
  const PAGE = 4_096

  async function made(path: string) {
    using database = openStore(path)
    const world = createWorld()
    const { pass } = accepted(await database.store.open(world.opening(world.pass({ background: LARGE }))))
    database.client.run("PRAGMA wal_checkpoint(TRUNCATE)")
    return pass
  }

  const scribble = (path: string, from: number) => {
    const file = openSync(path, "r+")
    writeSync(file, Buffer.alloc(statSync(path).size - from, 0xff), 0, undefined, from)
    closeSync(file)
  }

  test.each([
    ["overwritten after its first page", (path: string) => scribble(path, PAGE)],
    ["overwritten from the beginning", (path: string) => scribble(path, 0)],
    ["cut off", (path: string) => truncateSync(path, PAGE * 2)],
  ])("is told when it is opened: %s", async (_how, damage) => {
    using folder = createFolder()
    const path = folder.at("pass-over.db")
    await made(path)
    damage(path)
    expect(problem(path)).toMatch(
      /: the file is damaged, or is no database \(SQLITE_(CORRUPT|NOTADB)\)\. Move it away and start opencode again: a new/,
    )
  })

  test("is told by reads and by writes when it happens while it is open", async () => {
    using folder = createFolder()
    const world = createWorld()
    const path = folder.at("pass-over.db")
    const pass = await made(path)
    using database = openStore(path)
    scribble(path, PAGE)
    database.client.run("PRAGMA shrink_memory")
    for (const operation of [
      () => database.store.find(pass.id),
      () => database.store.audit({}),
      () => database.store.commit(world.commit(pass, "cancelled")),
    ]) {
      const error = await failure(operation())
      expect(error.code).toBe("E014")
      expect(error.message).toContain("the file is damaged, or is no database (SQLITE_")
    }
  })
})

describe("a database that somebody else writes", () => {
  test("is waited for without stopping the program around us", async () => {
    using folder = createFolder()
    const world = createWorld()
    const path = folder.at("pass-over.db")
    using database = openStore(path)
    using other = connect(path)
    const { pass } = accepted(await database.store.open(world.opening()))

    other.client.run("BEGIN IMMEDIATE")
    const ticks = [performance.now()]
    const ticking = setInterval(() => ticks.push(performance.now()), 10)
    let released = 0
    setTimeout(() => {
      released = ticks.length
      other.client.run("COMMIT")
    }, 1_000)
    const results = await Promise.all([
      database.store.commit(world.commit(pass, "waiting_for_return")),
      database.store.find(pass.id),
      ...Array.from({ length: 2 }, () => database.store.open(world.opening())),
    ])
    clearInterval(ticking)

    expect(results.slice(0, 2)).toMatchObject([{ status: "waiting_for_return" }, { status: "initial" }])
    expect(results.slice(2)).toEqual(Array(2).fill(expect.objectContaining({ created: true })))
    const gaps = ticks.slice(1).map((tick, index) => tick - (ticks[index] ?? tick))
    expect(released).toBeGreaterThan(5)
    expect(Math.max(...gaps)).toBeLessThan(350)
  })
})
