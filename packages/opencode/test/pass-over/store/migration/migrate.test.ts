import type { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import type { PassOverError } from "../../../../src/pass-over/domain/errors"
import { event, note } from "../../../../src/pass-over/domain/pass"
import { migrate, type Migration } from "../../../../src/pass-over/store/migrate"
import { MIGRATIONS } from "../../../../src/pass-over/store/migration.gen"
import { openDatabase } from "../../../../src/pass-over/store/open"
import { connect, openStore } from "../../support/database"
import { createFolder } from "../../support/folder"
import { race, runChild } from "../../support/process"
import { accepted, createWorld } from "../../support/world"

const fixture = (name: string) => join(import.meta.dir, "../fixture", name)

/** What a later version of ours might bring. */
const LATER: Migration = {
  tag: "9999_later",
  statements: [
    "ALTER TABLE pass_over_requests ADD COLUMN mood text",
    "CREATE TABLE later_things (id integer primary key)",
    "UPDATE pass_over_requests SET mood = 'good'",
  ],
}

const schema = (client: Database) =>
  client
    .query<{ sql: string }, []>("select sql from sqlite_master where sql is not null order by type, name")
    .all()
    .map(({ sql }) => sql)

const tags = (client: Database) =>
  client
    .query<{ tag: string }, []>("select tag from pass_over_migrations order by tag")
    .all()
    .map(({ tag }) => tag)

const KNOWN = MIGRATIONS.map(({ tag }) => tag)

describe("a new database", () => {
  test("gets every table of ours and remembers what made them", () => {
    using database = openStore(":memory:")
    expect(database.newer).toBe(false)
    expect(tags(database.client)).toEqual(KNOWN)
    const tables = schema(database.client).join("\n")
    for (const table of ["pass_over_requests", "work_outputs", "return_contexts", "pass_over_audit"]) {
      expect(tables).toContain(`CREATE TABLE \`${table}\``)
    }
  })

  test("is left alone by whoever opens it again", () => {
    using folder = createFolder()
    const path = folder.at("pass-over.db")
    const version = () => {
      using database = openStore(path)
      return [database.client.query("PRAGMA schema_version").get(), tags(database.client), schema(database.client)]
    }
    const first = version()
    expect(version()).toEqual(first)
  })

  test("is made once by eight processes that start together", async () => {
    using folder = createFolder()
    for (const round of [1, 2, 3]) {
      const path = folder.at(`pass-over-${round}.db`)
      const children = await race(
        fixture("open.ts"),
        Array.from({ length: 8 }, () => [path]),
      )
      expect(children.map(({ stdout }) => stdout.trim())).toEqual(Array(8).fill('{"ok":true,"newer":false}'))
      using database = openStore(path)
      expect(tags(database.client)).toEqual(KNOWN)
    }
  }, 30_000)

  test("is waited for while another process holds it", async () => {
    using folder = createFolder()
    const path = folder.at("pass-over.db")
    const opened = Promise.withResolvers<ReturnType<typeof openDatabase>>()
    const holder = runChild(fixture("hold.ts"), [path, "500"], {
      // Opening is synchronous: the holder is let loose first and keeps its lock for a while longer.
      ready: async () => void setTimeout(() => opened.resolve(openDatabase(path)), 50),
    })
    const result = await opened.promise
    expect(result).toMatchObject({ ok: true, newer: false })
    if (result.ok) result.client.close()
    expect((await holder).code).toBe(0)
  })

  test("that stays held is a sentence after a short time, and no error", async () => {
    using folder = createFolder()
    const path = folder.at("pass-over.db")
    using holder = connect(path)
    holder.client.run("BEGIN EXCLUSIVE")
    const began = performance.now()
    const opened = openDatabase(path)
    expect(opened).toEqual({
      ok: false,
      problem: expect.stringContaining("another process holds it (SQLITE_BUSY). Try again"),
    })
    expect(performance.now() - began).toBeLessThan(4_000)
  })
})

describe("an older database", () => {
  test("is brought forward with what lies in it", async () => {
    using folder = createFolder()
    const world = createWorld()
    const path = folder.at("pass-over.db")
    using database = openStore(path)
    const { pass } = accepted(await database.store.open(world.opening()))
    expect(migrate(database.client, [...MIGRATIONS, LATER])).toBe("current")
    expect(tags(database.client)).toEqual([...KNOWN, LATER.tag])
    expect(database.client.query("select id, mood from pass_over_requests").all()).toEqual([
      { id: pass.id, mood: "good" },
    ])
    expect(await database.store.find(pass.id)).toEqual(pass)
  })

  test("gets only what it lacks, and that once", () => {
    using database = connect()
    const { client } = database
    expect(migrate(client, MIGRATIONS)).toBe("current")
    expect(migrate(client, [...MIGRATIONS, LATER])).toBe("current")
    expect(migrate(client, [...MIGRATIONS, LATER])).toBe("current")
    expect(tags(client)).toEqual([...KNOWN, LATER.tag])
  })

  test("stays as it was where one statement of a migration fails", () => {
    using database = connect()
    const { client } = database
    migrate(client, MIGRATIONS)
    const before = schema(client)
    const broken = { tag: "9998_broken", statements: [...LATER.statements, "CREATE TABLE later_things (id integer)"] }
    expect(() => migrate(client, [...MIGRATIONS, broken])).toThrow("already exists")
    expect(schema(client)).toEqual(before)
    expect(tags(client)).toEqual(KNOWN)
    expect(migrate(client, [...MIGRATIONS, LATER])).toBe("current")
  })

  test("that is empty stays empty where the first migration fails", () => {
    using database = connect()
    const { client } = database
    expect(() =>
      migrate(client, [{ tag: "0000", statements: ["CREATE TABLE one (id)", "CREATE TABEL two"] }]),
    ).toThrow()
    expect(schema(client)).toEqual([])
  })
})

describe("a database that a newer version made", () => {
  const world = createWorld()

  async function newer(path: string) {
    using database = openStore(path)
    const { pass } = accepted(await database.store.open(world.opening()))
    migrate(database.client, [...MIGRATIONS, LATER])
    return pass
  }

  const refusal = {
    code: "E014",
    recoverable: false,
    message: expect.stringContaining("was changed by a newer Pass Over. This older one only reads it"),
    suggestedAction: expect.stringContaining("opencode plugin opencode-pass-over@VERSION --force"),
  } as Partial<PassOverError>

  test("is read", async () => {
    using folder = createFolder()
    const pass = await newer(folder.at("pass-over.db"))
    using database = openStore(folder.at("pass-over.db"))
    expect(database.newer).toBe(true)
    expect(await database.store.find(pass.id)).toEqual(pass)
    expect(await database.store.audit({ session_id: pass.session_id })).toHaveLength(1)
  })

  test("is not written by any operation", async () => {
    using folder = createFolder()
    const pass = await newer(folder.at("pass-over.db"))
    using database = openStore(folder.at("pass-over.db"))
    const { store, client } = database
    const at = world.clock.now()
    const told = event(pass, "pass.attempt", at)
    const owner = { owner_id: world.ids.make("own"), pid: 1, process_start: "1", host: "here", place: "boot" }
    const dump = () =>
      ["pass_over_requests", "return_contexts", "pass_over_audit", "pass_over_events", "pass_over_owners"].map(
        (table) => client.query(`select * from ${table}`).all(),
      )
    const before = dump()
    const writes = {
      open: () => store.open(world.opening()),
      commit: () => store.commit(world.commit(pass, "waiting_for_return")),
      settle: () => store.settle(world.settled({ ...pass, status: "waiting_for_return" })),
      bind: () => store.bind({ pass, attempt: world.attempt(pass), event: told }),
      stage: () => store.stage({ pass, report: world.report(), event: told }),
      attempt: () => store.attempt({ attempt: world.attempt(pass), event: told }),
      refuse: () => store.refuse(note(pass, { action: "refused", actor: "alice", at }), told),
      delivered: () => store.delivered([{ pass_over_id: pass.id, message_id: null, at }]),
      flushAudit: () => store.flushAudit([pass.session_id], () => expect.unreachable()),
      enter: () => store.enter(owner, at),
      beat: () => store.beat(owner.owner_id, at),
    }
    for (const write of Object.values(writes)) {
      await expect(write() as Promise<unknown>).rejects.toMatchObject(refusal)
    }
    expect(dump()).toEqual(before)
  })

  test("is not written any more by a process that had it open before", async () => {
    using folder = createFolder()
    using running = openStore(folder.at("pass-over.db"))
    const { pass } = accepted(await running.store.open(world.opening()))
    await newer(folder.at("pass-over.db"))
    await expect(running.store.commit(world.commit(pass, "cancelled"))).rejects.toMatchObject(refusal)
    expect(await running.store.find(pass.id)).toEqual(pass)
  })

  test("is not migrated", () => {
    using database = connect()
    const { client } = database
    migrate(client, [...MIGRATIONS, LATER])
    const before = schema(client)
    expect(migrate(client, MIGRATIONS)).toBe("newer")
    expect(migrate(client, [...MIGRATIONS, { tag: "5000_between", statements: ["CREATE TABLE between (id)"] }])).toBe(
      "newer",
    )
    expect(schema(client)).toEqual(before)
  })
})
