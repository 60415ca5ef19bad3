import { describe, expect, test } from "bun:test"
import type * as SolidStore from "solid-js/store"
import {
  EntryPage,
  lineCode,
  lineText,
  narrowed,
  NO_FILTERS,
  readFilters,
  toQuery,
  wantsMore,
  writeFilters,
} from "../../src/components/pass-over-audit-view"

// As a browser has it: elsewhere a store is a plain object.
const BROWSER_STORE = "../../node_modules/solid-js/store/dist/store.js"
const { createStore } = (await import(BROWSER_STORE)) as typeof SolidStore

const NOW = Date.UTC(2026, 0, 1, 12)

describe("the audit", () => {
  test("keeps its filters in the address, and only those that narrow", () => {
    const filters = { ...NO_FILTERS, text: "cart", since: "day" }
    expect(readFilters(writeFilters(filters))).toEqual(filters)
    expect(writeFilters(NO_FILTERS)).toEqual({})
    expect([narrowed(NO_FILTERS), narrowed(filters)]).toEqual([false, true])
    expect(readFilters({ since: "tomorrow" }).since).toBe("all")
  })

  test("says what an entry says in words, and what happened where it says nothing", () => {
    const line = (summary: string) => lineText({ summary, action: "returned" })
    expect(line("VERIFIED · audit: needs_modification ·\n 3 findings")).toBe(
      "VERIFIED · audit: needs modification · 3 findings",
    )
    expect(line(" ")).toBe("returned")
  })

  test("tells the code of what went wrong once", () => {
    expect(lineCode({ error_code: "E001", summary: "E001 INVALID_SUBAGENT: nobody is called so" })).toBeUndefined()
    expect(lineCode({ error_code: "E003", summary: "its time was up" })).toBe("E003")
    expect(lineCode({ error_code: null, summary: "returned" })).toBeUndefined()
  })

  test("asks the same question for a minute", () => {
    expect(toQuery({ ...NO_FILTERS, since: "hour" }, NOW + 1)).toEqual(
      toQuery({ ...NO_FILTERS, since: "hour" }, NOW + 59_000),
    )
    expect(toQuery({ text: " a ", from: "b", to: "e", action: "c", outcome: "d", since: "all" }, NOW)).toEqual({
      text: "a",
      originating_agent: "b",
      subagent: "e",
      action: "c",
      status: "d",
    })
  })

  test("asks for more before the end is reached, once", () => {
    const at = { last: 470, loaded: 500, more: true, loading: false }
    expect([
      wantsMore(at),
      wantsMore({ ...at, loading: true }),
      wantsMore({ ...at, more: false }),
      wantsMore({ ...at, last: 100 }),
    ]).toEqual([true, false, false, false])
  })
})

describe("pages of entries", () => {
  test("are left alone by a store, which walks through everything plain", () => {
    const items = [{ seq: 1 }] as never
    const [held] = createStore({ kept: new EntryPage(items, null), plain: { items } })
    expect(held.kept.items).toBe(items)
    expect(held.plain.items).not.toBe(items)
  })
})
