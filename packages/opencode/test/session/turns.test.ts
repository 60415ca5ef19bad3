import { expect, test } from "bun:test"
import type { StartTurn } from "../../src/pass-over/service/port-host"
import { createTurns } from "../../src/session/turns"
import { createFakeClock, settle } from "../pass-over/support/fake-clock"

/** Several that want to start, and when opencode's thread has nothing to do: now and then, or never. */
async function starting(count: number, idle_ms?: number | "never") {
  const clock = createFakeClock()
  const turns = createTurns(clock)
  const thread = { idle_ms }
  if (idle_ms !== undefined) {
    turns.ask(async () => {
      while (thread.idle_ms === "never") await new Promise<void>((resolve) => void clock.after(1, resolve))
      await new Promise<void>((resolve) => void clock.after(Number(thread.idle_ms), resolve))
    })
  }
  const begun: StartTurn[] = []
  for (let index = 0; index < count; index += 1) void Promise.resolve(turns.next()).then((turn) => begun.push(turn))
  await settle()
  return { clock, turns, thread, begun }
}

test("whoever knows nothing of opencode's thread waits for nobody", async () => {
  const { begun } = await starting(5)
  expect(begun).toHaveLength(5)
})

test("while opencode's thread is busy they start one after the other, each when the one before has its answer", async () => {
  const { clock, begun } = await starting(3, "never")
  expect(begun).toHaveLength(1)
  await clock.advance(500)
  expect(begun).toHaveLength(1)
  begun[0]?.over()
  begun[0]?.over()
  await settle()
  expect(begun).toHaveLength(2)
  await clock.advance(500)
  begun[1]?.over()
  await settle()
  expect(begun).toHaveLength(3)
})

test("nobody waits for somebody else's model: a thread that has nothing to do lets the next one start", async () => {
  const { clock, begun, thread } = await starting(4, "never")
  await clock.advance(200)
  expect(begun).toHaveLength(1)
  thread.idle_ms = 8
  await clock.advance(12)
  expect(begun).toHaveLength(2)
  await clock.advance(100)
  expect(begun).toHaveLength(4)
})

test("one that never comes to its model holds nobody up for long, nor does a thread that cannot be asked", async () => {
  const { clock, begun } = await starting(2, "never")
  await clock.advance(2_100)
  expect(begun).toHaveLength(2)
  const gone = createTurns(clock)
  gone.ask(() => Promise.reject(new Error("gone")))
  void gone.next()
  void Promise.resolve(gone.next()).then((turn) => begun.push(turn))
  await clock.advance(20)
  expect(begun).toHaveLength(3)
})

test("what nobody waits for comes when the thread has nothing to do, one after the other", async () => {
  const { clock, turns, thread } = await starting(0, "never")
  const come: string[] = []
  for (const name of ["a", "b"]) void turns.calm(5_000).then(() => come.push(name))
  await clock.advance(1_000)
  expect(come).toEqual([])
  thread.idle_ms = 8
  while (come.length === 0) await clock.advance(1)
  expect(come).toEqual(["a"])
  await clock.advance(20)
  expect(come).toEqual(["a", "b"])
})

test("it comes after its time however busy the thread is, and at once where nobody knows", async () => {
  const { clock, turns } = await starting(0, "never")
  const come: string[] = []
  void turns.calm(500).then(() => come.push("late"))
  await clock.advance(490)
  expect(come).toEqual([])
  await clock.advance(20)
  expect(come).toEqual(["late"])
  await createTurns(createFakeClock()).calm(5_000)
})

test("whoever wants to start goes before it", async () => {
  const { clock, turns, thread, begun } = await starting(3, "never")
  const come: string[] = []
  void turns.calm(5_000).then(() => come.push("shown"))
  thread.idle_ms = 8
  while (begun.length < 3) await clock.advance(1)
  expect(come).toEqual([])
  await clock.advance(20)
  expect(come).toEqual(["shown"])
})
