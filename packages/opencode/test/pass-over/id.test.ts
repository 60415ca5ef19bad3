import { describe, expect, test } from "bun:test"
import { ids } from "../../src/runtime"
import { AgentID, ArtifactID, OwnerID, PassID, ReturnID, SessionID } from "../../src/pass-over/domain/id"

const HEX = "0123456789abcdef0123456789abcdef"

test("what makes ids makes UUIDs of version 7, each after the one before, and others with their kind", () => {
  const before = Date.now()
  const made = Array.from({ length: 1_000 }, () => ids.pass())
  expect(
    made.filter((id) => !/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)),
  ).toEqual([])
  expect(made).toEqual(made.toSorted())
  expect(new Set(made).size).toBe(made.length)
  const time = Number.parseInt(made[0]!.replaceAll("-", "").slice(0, 12), 16)
  expect(time).toBeWithin(before, Date.now() + 1)
  expect(ReturnID.safeParse(ids.make("ret")).success).toBe(true)
})

test("a pass is a UUID, of any version, and nothing else", () => {
  const uuids = ["0198c0de-0000-7000-8000-000000000001", "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"]
  expect(uuids.filter((id) => !PassID.safeParse(id).success)).toEqual([])
  const wrong = [
    "pass-xxx",
    "",
    HEX,
    `ret_${HEX}`,
    `${uuids[0]} `,
    `${uuids[0]}\n`,
    `{${uuids[0]}}`,
    "*",
    1,
    null,
    undefined,
  ]
  expect(wrong.filter((id) => PassID.safeParse(id).success)).toEqual([])
})

describe("an id that carries its kind", () => {
  const KINDS = { ret: ReturnID, art: ArtifactID, own: OwnerID }
  for (const [prefix, schema] of Object.entries(KINDS)) {
    test(`is ${prefix}_ and 32 lower-case hexadecimal digits`, () => {
      expect(schema.safeParse(`${prefix}_${HEX}`).success).toBe(true)
      const others = Object.keys(KINDS).filter((other) => other !== prefix)
      const wrong = [
        ...others.map((other) => `${other}_${HEX}`),
        HEX,
        `${prefix}_`,
        `${prefix}_${HEX}0`,
        `${prefix}_${HEX.slice(1)}`,
        `${prefix}_${HEX.toUpperCase()}`,
        ` ${prefix}_${HEX}`,
        `${prefix}_${HEX}\n`,
        `${prefix}-${HEX}`,
        7,
        null,
        undefined,
      ]
      expect(wrong.filter((id) => schema.safeParse(id).success)).toEqual([])
    })
  }
})

test("names of agents and sessions are the host's: any text, but not none and not without end", () => {
  for (const schema of [AgentID, SessionID]) {
    expect(
      ["alice", "team/audit", "ses_1", "é", "x".repeat(200)].filter((id) => !schema.safeParse(id).success),
    ).toEqual([])
    expect(["", "x".repeat(201), 1, null].filter((id) => schema.safeParse(id).success)).toEqual([])
  }
})
