import { expect, test } from "bun:test"
import { createIdle } from "../../src/thread/idle"

/** A thread on which every sleep takes so long. */
function thread(late: number[]) {
  const state = { at: 0, slept: 0 }
  const idle = createIdle({
    now: () => state.at,
    async sleep(ms) {
      state.slept += 1
      state.at += ms + (late.shift() ?? 0)
    },
  })
  return { idle, state }
}

test("a thread that is on time for a moment is idle", async () => {
  const { idle, state } = thread([])
  await idle()
  expect(state).toEqual({ at: 8, slept: 2 })
})

test("one that is late is busy, and has to be on time again for as long", async () => {
  const { idle, state } = thread([20, 0, 20])
  await idle()
  expect(state.slept).toBe(5)
})

test("all who ask at once hear of it at once, and whoever asks later anew", async () => {
  const { idle, state } = thread([])
  await Promise.all([idle(), idle()])
  expect(state.slept).toBe(2)
  await idle()
  expect(state.slept).toBe(4)
})

test("a real thread that counts is busy until it has done so", async () => {
  const idle = createIdle()
  const busy = idle()
  const until = performance.now() + 60
  while (performance.now() < until);
  const counted = performance.now()
  await busy
  expect(performance.now() - counted).toBeGreaterThanOrEqual(4)
})
