import { describe, expect, test } from "bun:test"
import { array, assert, asyncProperty, nat, record } from "fast-check"
import { join } from "node:path"
import type { PassEvent } from "../../src/pass-over/domain/pass"
import { openStore, type TestDatabase } from "../pass-over/support/database"
import { BASE, createTestServer, type TestServer } from "./support/server"
import { read } from "./support/events"

const event = (n: number, more: Partial<PassEvent> = {}): PassEvent => ({
  type: "pass.message",
  pass_over_id: `pass ${n % 3}`,
  session_id: `ses_${n % 2}`,
  directory: "/project",
  at: n,
  data: { n },
  ...more,
})

/** A server, and another process's connection to the same database. */
function scene(options: Parameters<typeof createTestServer>[0] = {}) {
  const server = createTestServer(options)
  const other = openStore(server.path)
  return {
    server,
    other,
    [Symbol.dispose]: () => {
      other[Symbol.dispose]()
      server[Symbol.dispose]()
    },
  }
}

const announce = async (other: TestDatabase, from: number, to: number) => {
  for (let n = from; n < to; n += 1) await other.store.announce(event(n))
}

const follow = (server: TestServer, last?: string, query = "") =>
  server.ask(`${BASE}/events${query}`, { headers: last ? { "last-event-id": last } : {} })

const numbers = (events: { event?: string | undefined; data: string }[]) =>
  events.filter(({ event }) => event?.startsWith("pass.")).map(({ data }) => JSON.parse(data).data.n as number)

const upTo = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

describe("the stream of events", () => {
  test("begins with the present, tells what other processes write, and numbers it", async () => {
    using world = scene()
    await announce(world.other, 0, 3)
    const answer = await follow(world.server)
    expect(answer.headers.get("content-type")).toBe("text/event-stream")
    const reading = read(answer, (events) => numbers(events).length >= 4)
    await Bun.sleep(20)
    await announce(world.other, 3, 7)
    const events = await reading
    expect(events[0]).toMatchObject({ event: "ready", id: "3" })
    expect(numbers(events)).toEqual([3, 4, 5, 6])
    expect(events.filter(({ event }) => event?.startsWith("pass.")).map(({ id }) => id)).toEqual(["4", "5", "6", "7"])
  })

  test("goes on after the last that was seen, also far behind what is kept in memory", async () => {
    using world = scene()
    await announce(world.other, 0, 1_500)
    const events = await read(await follow(world.server, "10"), (seen) => numbers(seen).length >= 1_490)
    expect(numbers(events)).toEqual(upTo(10, 1_500))
  })

  test("loses and repeats nothing over reconnects at any moment", async () => {
    await assert(
      asyncProperty(
        array(record({ writes: nat(30), reads: nat(25) }), { minLength: 1, maxLength: 10 }),
        async (rounds) => {
          using world = scene()
          let last = "0"
          let written = 0
          const seen: number[] = []
          for (const { writes, reads } of rounds) {
            const answer = await follow(world.server, last)
            const want = Math.min(reads, written + writes - seen.length)
            const reading = read(answer, (events) => numbers(events).length >= want)
            await announce(world.other, written, written + writes)
            written += writes
            const events = await reading
            seen.push(...numbers(events))
            last = events.findLast(({ id }) => id !== undefined)?.id ?? last
          }
          const rest = written - seen.length
          const end = await read(await follow(world.server, last), (events) => numbers(events).length >= rest)
          expect([...seen, ...numbers(end)]).toEqual(upTo(0, written))
        },
      ),
      { numRuns: 15, seed: 7 },
    )
  }, 60_000)

  test("of one session or one pass still moves its place on", async () => {
    using world = scene()
    const answer = await follow(world.server, "0", "?session_id=ses_1")
    const reading = read(answer, (events) => numbers(events).length >= 3)
    await announce(world.other, 0, 6)
    expect(numbers(await reading)).toEqual([1, 3, 5])
    const none = await follow(world.server, "0", "?pass_over_id=nothing")
    const passed = await read(none, (events) => events.some(({ event }) => event === "passed"))
    expect(passed.findLast(({ event }) => event === "passed")?.id).toBe("6")
  })

  test("one reader that does not read keeps nobody waiting and loses nothing", async () => {
    using world = scene()
    const stalled = await follow(world.server, "0")
    const reading = read(await follow(world.server, "0"), (events) => numbers(events).length >= 3_000)
    await announce(world.other, 0, 3_000)
    expect(numbers(await reading)).toEqual(upTo(0, 3_000))
    expect(numbers(await read(stalled, (events) => numbers(events).length >= 3_000))).toEqual(upTo(0, 3_000))
  })

  test("says now and then that it is still there, and is given up when nobody listens", async () => {
    using world = scene({ beat_ms: 10 })
    const answer = await follow(world.server)
    const reader = answer.body?.getReader()
    let text = ""
    while (!text.includes(": still here")) text += new TextDecoder().decode((await reader?.read())?.value)
    expect(world.server.deps.feed.readers).toBe(1)
    await reader?.cancel()
    await Bun.sleep(30)
    expect(world.server.deps.feed.readers).toBe(0)
  })

  test("is refused to a place that is no number", async () => {
    using world = scene()
    for (const last of ["x", "-1", "1e9", "9".repeat(16)]) {
      expect((await follow(world.server, last)).status).toBe(400)
    }
  })
})

test("a database that lies elsewhere is seen through its folder", async () => {
  const { watchDatabase } = await import("../../src/server/watch")
  using world = scene()
  const heard = Promise.withResolvers<void>()
  const stop = watchDatabase(world.server.path)(() => heard.resolve())
  await announce(world.other, 0, 1)
  await heard.promise
  stop()
  expect(watchDatabase(join(world.server.folder, "nowhere/x.db"))(() => {})).toBeFunction()
})
