import { describe, expect, test } from "bun:test"
import { PassOverErrorCode } from "../../src/pass-over/domain/errors"
import { backoff, recoverable, retry, RETRY, type Attempted } from "../../src/pass-over/domain/retry"

const CRASH = { code: "E011", message: "the connection broke off" } as const

const attempted = (more: Partial<Attempted> = {}): Attempted => ({
  attempt: 1,
  time_ms: 100_000,
  remaining_ms: 90_000,
  touched: false,
  session_gone: false,
  ...more,
})

describe("what may be tried again", () => {
  // Decision 10. E021 is asked for once more by the run itself and is not an attempt.
  const AGAIN = ["E011", "E014", "E022"]

  test("is a crash, exhaustion and a lost return, and no other failure", () => {
    const codes = Object.values(PassOverErrorCode).filter((code) => recoverable({ code, message: "x" }))
    expect(codes.toSorted()).toEqual(AGAIN as PassOverErrorCode[])
  })

  test("is a timeout only where the child fell silent: the wall clock is final", () => {
    expect(recoverable({ code: "E010", message: "silent", idle: true })).toBe(true)
    expect(recoverable({ code: "E010", message: "out of time", idle: false })).toBe(false)
  })

  test("is nothing of which the host knows that it is pointless", () => {
    for (const code of ["E010", "E011", "E014", "E022"] as const) {
      expect(recoverable({ code, message: "the key is wrong", idle: true, final: true })).toBe(false)
    }
    expect(recoverable({ ...CRASH, final: false })).toBe(true)
  })

  test("does not become another failure by saying that it was idle", () => {
    expect(recoverable({ code: "E013", message: "no", idle: true })).toBe(false)
  })
})

describe("the wait between two attempts", () => {
  test("doubles from one second, as in the architecture, §9.2", () => {
    expect(RETRY).toEqual({ max_retries: 3, retry_delay_ms: 1_000, backoff_multiplier: 2 })
    expect([1, 2, 3, 4].map((attempt) => backoff(attempt))).toEqual([1_000, 2_000, 4_000, 8_000])
  })

  test("can be set, as in the guide, 7.3", () => {
    const options = { max_retries: 3, retry_delay_ms: 100, backoff_multiplier: 2 }
    expect([1, 2, 3].map((attempt) => backoff(attempt, options))).toEqual([100, 200, 400])
    expect(retry(CRASH, attempted(), options)).toEqual({ kind: "continue", delay_ms: 100 })
  })

  test("is at least as long as the provider asked for, and never shorter than our own", () => {
    const delay = (retry_after_ms: number) => retry({ ...CRASH, retry_after_ms }, attempted())?.delay_ms
    expect(delay(30_000)).toBe(30_000)
    expect(delay(10)).toBe(1_000)
  })
})

describe("a failed attempt is followed by another", () => {
  test("three times and not a fourth", () => {
    const attempts = [1, 2, 3, 4, 5].filter((attempt) => retry(CRASH, attempted({ attempt })) !== undefined)
    expect(attempts).toEqual([1, 2, 3])
    expect(retry(CRASH, attempted(), { ...RETRY, max_retries: 0 })).toBeUndefined()
  })

  test("while a quarter of the time is left when it begins, the wait included", () => {
    const left = (remaining_ms: number) => retry(CRASH, attempted({ remaining_ms })) !== undefined
    expect(left(26_000)).toBe(true)
    expect(left(25_999)).toBe(false)
    expect(left(0)).toBe(false)
    expect(left(-1)).toBe(false)
  })

  test("not where the provider wants to be left alone until too little is left", () => {
    expect(retry({ ...CRASH, retry_after_ms: 65_000 }, attempted())).toBeDefined()
    expect(retry({ ...CRASH, retry_after_ms: 65_001 }, attempted())).toBeUndefined()
  })

  test("in the same session where there is one, whatever the child has done", () => {
    for (const touched of [false, true]) {
      expect(retry(CRASH, attempted({ touched }))).toEqual({ kind: "continue", delay_ms: 1_000 })
    }
  })

  test("from scratch where its session is gone and it has written nothing and run no command", () => {
    expect(retry(CRASH, attempted({ session_gone: true }))).toEqual({ kind: "scratch", delay_ms: 1_000 })
    expect(retry(CRASH, attempted({ session_gone: true, touched: true }))).toBeUndefined()
  })

  test("never where the failure is final", () => {
    expect(retry({ code: "E016", message: "cancelled" }, attempted())).toBeUndefined()
    expect(retry({ ...CRASH, final: true }, attempted())).toBeUndefined()
  })
})
