import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { brokenAt } from "../support/chain"
import { openStore } from "../support/database"
import { createFolder } from "../support/folder"
import { race } from "../support/process"
import { createWorld } from "../support/world"
import type { Tally } from "./fixture/contend"

const PROCESSES = 8
const ROUNDS = 75
/** In each round a process claims one shared pass and opens, dispatches and settles one of its own. */
const OPERATIONS = 4

async function contend(path: string, rounds: number, mode: "immediate" | "deferred"): Promise<Tally[]> {
  using database = openStore(path)
  const world = createWorld()
  for (let round = 0; round < rounds; round += 1) {
    await database.store.open(world.opening(world.pass({ session_id: "ses_shared" })))
  }
  const children = await race(
    join(import.meta.dir, "fixture/contend.ts"),
    Array.from({ length: PROCESSES }, (_, index) => [path, String(index + 1), mode]),
  )
  return children.map(({ code, stdout, stderr }): Tally => {
    if (code !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  })
}

describe("eight processes on one database", () => {
  test(`lose nothing and do nothing twice in ${PROCESSES * ROUNDS * OPERATIONS} operations`, async () => {
    using folder = createFolder()
    const path = folder.at("pass-over.db")
    const tallies = await contend(path, ROUNDS, "immediate")
    using database = openStore(path)
    const { store, client } = database

    expect(tallies.flatMap(({ errors }) => errors)).toEqual([])
    expect(tallies.map(({ settled }) => settled)).toEqual(Array.from({ length: PROCESSES }, () => ROUNDS))

    const shared = await store.list({ session_id: "ses_shared", limit: 10_000 })
    const claimed = tallies.flatMap((tally) => tally.claimed)
    expect(claimed.toSorted()).toEqual(shared.map(({ id }) => id as string))
    expect(new Set(shared.map(({ status, revision }) => `${status} ${revision}`))).toEqual(
      new Set(["waiting_for_return 1"]),
    )

    const own = await store.list({ session_id: "ses_own", limit: 10_000 })
    expect(own).toHaveLength(PROCESSES * ROUNDS)
    expect(new Set(own.map(({ status, revision }) => `${status} ${revision}`))).toEqual(new Set(["returned 2"]))
    const outcomes = await Promise.all(own.map(({ id }) => store.outcome(id)))
    expect(outcomes.filter((outcome) => outcome?.output.artifacts.length === 2)).toHaveLength(own.length)

    const lines = async (session_id: string) => (await store.audit({ session_id, limit: 10_000 })).toReversed()
    const [first, second] = [await lines("ses_shared"), await lines("ses_own")]
    expect([first.length, second.length]).toEqual([ROUNDS * 2, own.length * 3])
    expect([brokenAt(first), brokenAt(second)]).toEqual([undefined, undefined])
    expect(client.query("select count(*) as count from pass_over_events").get()).toEqual({
      count: first.length + second.length,
    })
    expect(client.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" })
  }, 60_000)

  test("fail in the same race where a transaction does not take the write lock at its beginning", async () => {
    using folder = createFolder()
    const tallies = await contend(folder.at("pass-over.db"), 15, "deferred")
    const errors = tallies.flatMap((tally) => tally.errors)
    expect(errors.filter((error) => error.includes("database is locked")).length).toBeGreaterThan(0)
  }, 60_000)
})
