import { describe, expect, test } from "bun:test"
import { worked } from "../../src/pass-over/domain/last-seen"

const HOUR = 3_600_000
const pass = { time_created: 1_000, time_started: 2_000 }
const nothing = { at: null, staged_at: null, waits: [] }

describe("the work of an interrupted pass", () => {
  test("ends where it was last seen, however much later somebody finds it", () => {
    expect(worked(pass, { ...nothing, at: 9_000 }, HOUR)).toEqual({ completed_at: 9_000, wall_ms: 8_000, waited_ms: 0 })
  })

  test("ends with its return, though its process lived on for a while", () => {
    expect(worked(pass, { ...nothing, at: 9_000, staged_at: 5_000 }, HOUR).completed_at).toBe(5_000)
  })

  test("ends with its start where nothing more is known of it, and never before it began or after now", () => {
    expect(worked(pass, nothing, HOUR).completed_at).toBe(2_000)
    expect(worked({ ...pass, time_started: null }, nothing, HOUR)).toMatchObject({ completed_at: 1_000, wall_ms: 0 })
    expect(worked(pass, { ...nothing, at: 500 }, HOUR).completed_at).toBe(2_000)
    expect(worked(pass, { ...nothing, at: 2 * HOUR }, HOUR).completed_at).toBe(HOUR)
  })

  test("is not what was waited for: each moment once, and only up to its end", () => {
    const waits = [
      { from: 6_000, to: null },
      { from: 1_500, to: 3_000 },
      { from: 2_500, to: 3_500 },
      { from: 2_600, to: 2_700 },
      { from: 20_000, to: 30_000 },
    ]
    expect(worked(pass, { ...nothing, at: 9_000, waits }, HOUR).waited_ms).toBe(2_000 + 3_000)
  })
})
