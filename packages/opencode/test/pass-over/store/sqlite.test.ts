import { asc } from "drizzle-orm"
import { drizzle } from "drizzle-orm/bun-sqlite"
import { describe, expect, test } from "bun:test"
import { readFileSync, statSync } from "node:fs"
import type { PassEvent } from "../../../src/pass-over/domain/pass"
import { checkDatabase } from "../../../src/pass-over/store/check"
import { EventTable, OwnerTable } from "../../../src/pass-over/store/pass-over.sql"
import { DefaultTable, PreferenceTable } from "../../../src/pass-over/store/preference.sql"
import { connect, openStore } from "../support/database"
import { createFolder } from "../support/folder"
import { accepted, createWorld } from "../support/world"
import { conformance } from "./conformance"
import type { Harness } from "./conformance/scene"

function harness(path: string, cleanUp: () => void): Harness {
  const { client, store } = openStore(path)
  const db = drizzle({ client })
  const opened = [store]
  const beside = () => {
    const other = openStore(path).store
    opened.push(other)
    return other
  }
  return {
    store,
    events: async () =>
      db
        .select()
        .from(EventTable)
        .orderBy(asc(EventTable.seq))
        .all()
        .map(({ seq: _seq, ...event }): PassEvent => event),
    forgetLines: async (session_id) => {
      client.query("delete from pass_over_audit where session_id = ?").run(session_id)
    },
    // What lies in memory is this connection's alone.
    ...(path === ":memory:" ? {} : { beside }),
    dispose: async () => {
      for (const each of opened) each.close()
      cleanUp()
    },
  }
}

conformance("SQLite in memory", { setup: async () => harness(":memory:", () => {}) })

conformance("SQLite in a file", {
  shared: true,
  setup: async () => {
    const folder = createFolder()
    return harness(folder.at("data", "pass-over.db"), () => folder[Symbol.dispose]())
  },
})

describe("a database file", () => {
  test("keeps everything from one process to the next", async () => {
    using folder = createFolder()
    const world = createWorld()
    const path = folder.at("pass-over.db")
    const { pass } = await (async () => {
      using first = openStore(path)
      return accepted(await first.store.open(world.opening()))
    })()
    using second = openStore(path)
    expect(await second.store.find(pass.id)).toEqual(pass)
    expect(await second.store.audit({ session_id: pass.session_id })).toHaveLength(1)
  })

  test.skipIf(process.platform !== "linux")(
    "stays locked by whoever has it open when the same process opens it again",
    () => {
      using folder = createFolder()
      const path = folder.at("pass-over.db")
      using first = openStore(path)
      const { ino } = statSync(path)
      const locks = () =>
        readFileSync("/proc/locks", "utf8")
          .split("\n")
          .filter((line) => line.includes(`:${ino} `) && line.includes(` ${process.pid} `))
      expect(first.newer).toBe(false)
      const before = locks()
      expect(before).not.toEqual([])
      for (const open of [() => openStore(path)[Symbol.dispose](), () => void checkDatabase(path)]) {
        open()
        expect(locks()).toEqual(before)
      }
    },
  )

  test("is written so that what was acknowledged survives a power cut", () => {
    using folder = createFolder()
    using database = openStore(folder.at("pass-over.db"))
    const pragma = (name: string) => Object.values(database.client.query(`PRAGMA ${name}`).get() ?? {})[0]
    expect(pragma("journal_mode")).toBe("wal")
    expect(pragma("synchronous")).toBe(2)
    expect(pragma("foreign_keys")).toBe(1)
    // The wait blocks the event loop of the program around us.
    expect(pragma("busy_timeout")).toBeLessThanOrEqual(20)
  })

  test("is its owner's alone, because whole conversations lie in it", async () => {
    using folder = createFolder()
    using database = openStore(folder.at("data", "pass-over.db"))
    await database.store.open(createWorld().opening())
    const mode = (...parts: string[]) => statSync(folder.at(...parts)).mode & 0o777
    expect(mode("data").toString(8)).toBe("700")
    for (const end of ["", "-wal", "-shm"]) expect(mode("data", `pass-over.db${end}`).toString(8)).toBe("600")
  })
})

describe("a transaction", () => {
  test("has the write lock before it reads, so that nobody else appends to a log file at the same time", async () => {
    using folder = createFolder()
    const path = folder.at("pass-over.db")
    using database = openStore(path)
    using other = connect(path)
    await database.store.open(createWorld().opening())
    const tries: string[] = []
    await database.store.flushAudit(["ses_alice"], () => {
      try {
        other.client.run("BEGIN IMMEDIATE")
        tries.push("got the lock")
      } catch (error) {
        tries.push(String(error))
      }
    })
    expect(tries).toEqual([expect.stringContaining("database is locked")])
  })
})

describe("the store of processes", () => {
  test("knows when a process came and when it was last alive", async () => {
    using database = openStore(":memory:")
    const { ids, clock } = createWorld()
    const owner = { owner_id: ids.make("own"), pid: 42, process_start: "1234", host: "here", place: "boot" }
    const entered = clock.now()
    await database.store.enter(owner, entered)
    clock.advance(5_000)
    await database.store.beat(owner.owner_id, clock.now())
    await database.store.enter(owner, clock.now() + 1)
    expect(drizzle({ client: database.client }).select().from(OwnerTable).all()).toEqual([
      { ...owner, time_started: entered, time_heartbeat: entered + 5_000 },
    ])
  })
})

describe("stored preferences", () => {
  const times = { created_at: 1, updated_at: 1, updated_by: "ada" }

  test("are those of their directory, each at its level", async () => {
    using database = openStore(":memory:")
    const directory = "/project"
    drizzle({ client: database.client })
      .insert(PreferenceTable)
      .values([
        { directory, level: "pair", from_agent: "alice", to_agent: "audit", settings: { timeout_ms: 1_000 }, ...times },
        {
          directory,
          level: "subagent",
          from_agent: "",
          to_agent: "scout",
          settings: { can_run_tools: false },
          ...times,
        },
        { directory: "/other", level: "pair", from_agent: "*", to_agent: "*", settings: { enabled: false }, ...times },
      ])
      .run()
    drizzle({ client: database.client })
      .insert(DefaultTable)
      .values({ directory, key: "auto_apply", value: false, type: "boolean", updated_at: 1, updated_by: "ada" })
      .run()
    expect(await database.store.preferences(directory)).toEqual({
      defaults: { auto_apply: false },
      pairs: { "alice->audit": { timeout_ms: 1_000 } },
      subagents: { scout: { can_run_tools: false } },
    })
    expect(await database.store.preferences("/nowhere")).toEqual({})
  })
})
