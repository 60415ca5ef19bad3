import { describe, expect, test } from "bun:test"
import { describeManifest, Manifest, manifest, type ManifestItem } from "../../src/pass-over/domain/manifest"

const item = (more: Partial<ManifestItem> = {}): ManifestItem => ({
  kind: "message",
  ref: "msg_1",
  taken: "whole",
  why: "recent",
  bytes: 100,
  tokens: 25,
  ...more,
})
const MAX = { bytes: 5_000, tokens: 1_000 }

test("the totals are those of what went along, in whole or in part", () => {
  const list = manifest(
    [item(), item({ taken: "part", bytes: 10, tokens: 3 }), item({ taken: "none", bytes: 9_000, tokens: 2_000 })],
    MAX,
    true,
  )
  expect(list).toMatchObject({ bytes: 110, tokens: 28, max_bytes: 5_000, max_tokens: 1_000, exact: true })
  expect(list.items).toHaveLength(3)
  expect(Manifest.parse(list)).toEqual(list)
})

test("a manifest without items weighs nothing", () => {
  expect(manifest([], MAX, false)).toMatchObject({ items: [], bytes: 0, tokens: 0 })
})

describe("a manifest in words", () => {
  const words = (items: ManifestItem[], exact = true) => describeManifest(manifest(items, MAX, exact))

  test("is nothing where there was nothing", () => {
    expect(words([])).toBe("nothing")
  })

  test("counts each kind, and what was left out of it", () => {
    const left = { taken: "none" } as const
    expect(
      words([
        item(),
        item(),
        item({ kind: "file", tokens: 1_154 }),
        item({ kind: "file", ...left }),
        item({ kind: "tool_result" }),
        item({ kind: "todo" }),
        item({ kind: "todo" }),
        item({ kind: "error", ...left }),
      ]),
    ).toBe("2 messages, 1 file (1 left out), 1 tool result, 2 todos, 0 errors (1 left out), 1,279 tokens")
  })

  test("says where its tokens are only a bound", () => {
    expect(words([item()], false)).toBe("1 message, at most 25 tokens")
  })
})

test("a manifest takes no field that nobody knows and no kind that does not exist", () => {
  const list = manifest([item({ sha256: "0".repeat(64) })], MAX, true)
  expect(Manifest.safeParse(list).success).toBe(true)
  expect(Manifest.safeParse({ ...list, note: "x" }).success).toBe(false)
  expect(Manifest.safeParse({ ...list, items: [{ ...item(), kind: "image" }] }).success).toBe(false)
  expect(Manifest.safeParse({ ...list, items: [{ ...item(), note: "x" }] }).success).toBe(false)
  expect(Manifest.safeParse({ ...list, tokens: -1 }).success).toBe(false)
})
