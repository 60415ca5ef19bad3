import { describe, expect, test } from "bun:test"
import { assert, integer, property, record, constantFrom } from "fast-check"
import { compare, follow, type Found } from "../../src/pass-over/domain/audit-chain"
import { canonical, GENESIS, type AuditLine } from "../../src/pass-over/domain/audit-log"
import { note } from "../../src/pass-over/domain/pass"
import { createWorld, hash } from "./support/world"

const world = createWorld()
const LENGTH = 12

const chain: AuditLine[] = []
for (let seq = 1; seq <= LENGTH; seq += 1) {
  const prev = chain.at(-1)?.hash ?? GENESIS
  const line = { ...note(world.pass(), { action: "requested", actor: "alice", at: seq }), summary: `line ${seq}`, seq }
  chain.push({ ...line, prev, hash: hash(canonical(line, prev)) })
}

const found = (lines: readonly (AuditLine | undefined)[]): Found[] =>
  lines.map((entry, index) => ({ path: "a.jsonl", line: index + 1, entry }))

const told = (lines: readonly (AuditLine | undefined)[]) =>
  compare(found(lines), chain, hash).map(({ kind, at }) => `${kind} ${at?.line ?? "end"}`)

describe("a file against what belongs into it", () => {
  test("is in order where it is the same", () => {
    expect(told(chain)).toEqual([])
  })

  test("of any single thing that was done to any line, exactly that line is named", () => {
    const way = constantFrom("edit", "ruin", "remove", "repeat", "forge", "swap")
    assert(
      property(
        record({ way, at: integer({ min: 0, max: LENGTH - 2 }), by: integer({ min: 1, max: 5 }) }),
        ({ way, at, by }) => {
          const line = chain[at]!
          const to = Math.min(at + by, LENGTH - 1)
          const foreign = { ...line, seq: 900 + at, summary: "never happened" }
          const ways: Record<typeof way, [lines: (AuditLine | undefined)[], expected: string]> = {
            edit: [chain.with(at, { ...line, actor: "mallory" }), `edited ${at + 1}`],
            ruin: [(chain as (AuditLine | undefined)[]).with(at, undefined), `edited ${at + 1}`],
            remove: [chain.toSpliced(at, 1), `removed ${at + 1}`],
            repeat: [chain.toSpliced(to + 1, 0, line), `added ${to + 2}`],
            forge: [
              chain.toSpliced(at, 0, { ...foreign, hash: hash(canonical(foreign, foreign.prev)) }),
              `added ${at + 1}`,
            ],
            swap: [chain.with(at, chain[to]!).with(to, line), `reordered ${at + 1}`],
          }
          const [lines, expected] = ways[way]
          expect(told(lines)).toEqual([expected])
        },
      ),
      { numRuns: 600, seed: 5 },
    )
  })

  test("names the end that is gone, and several things at once", () => {
    expect(told(chain.slice(0, -2))).toEqual(["removed end", "removed end"])
    const edited = { ...chain[1]!, reason: "x" }
    expect(told(chain.with(1, edited).toSpliced(6, 1))).toEqual(["edited 2", "removed 7"])
  })
})

describe("a chain by itself", () => {
  const anchor = { seq: 0, hash: GENESIS }
  const first = (lines: readonly (AuditLine | undefined)[]) => {
    const [fault] = follow(found(lines), anchor, hash)
    return fault && `${fault.kind} ${fault.at?.line}`
  }

  test("says where it breaks, without knowing what it was", () => {
    expect(first(chain)).toBeUndefined()
    expect(first(chain.with(4, { ...chain[4]!, actor: "mallory" }))).toBe("edited 5")
    expect(first(chain.toSpliced(4, 1))).toBe("removed 5")
    expect(first(chain.toSpliced(5, 0, chain[4]!))).toBe("added 6")
    const forged = { ...chain[4]!, actor: "mallory" }
    const again = { ...forged, hash: hash(canonical(forged, forged.prev)) }
    expect(first(chain.with(4, again))).toBe("edited 6")
  })

  test("may begin behind an anchor", () => {
    const rest = found(chain.slice(3))
    expect(follow(rest, { seq: 3, hash: chain[2]!.hash }, hash)).toEqual([])
    expect(follow(rest, { seq: 3, hash: "0" }, hash)).toHaveLength(1)
  })
})
