import { describe, expect, test } from "bun:test"
import { closed, isRedacted, redact, redactDeep, secretFile } from "../../src/pass-over/domain/secret"
import { CONTEXTS } from "../../src/pass-over/domain/secret-context"
import { TOKENS } from "../../src/pass-over/domain/secret-rules"
import { harmless, KINDS, plant } from "./support/secrets"

// Between the pieces of what a scanner would take for a leak.
const _ = ""

const WAYS: Record<string, (text: string) => string> = {
  "as it is": (text) => text,
  "in a sentence": (text) => `I found this:\n${text}\nin the file.`,
  "in quotes": (text) => `"${text}"`,
  "in JSON": (text) => JSON.stringify({ content: `a\n${text}` }),
  "in JSON in JSON": (text) => JSON.stringify({ output: JSON.stringify({ content: text }) }),
}

/** A value as it would stand in a text that was encoded. */
const encoded = (way: string, value: string) => (way.includes("JSON") ? JSON.stringify(value).slice(1, -1) : value)

describe("a secret", () => {
  test("is known in more than forty kinds", () => {
    expect(Object.keys(KINDS).length).toBeGreaterThanOrEqual(40)
  })

  for (const [way, wrap] of Object.entries(WAYS)) {
    test(`${way}: at most 1 % of a thousand are left`, () => {
      const left = plant(1_000).filter(({ text, value }) => redact(wrap(text)).text.includes(encoded(way, value)))
      expect(left.map(({ kind }) => kind).slice(10)).toEqual([])
    })
  }

  test("goes alone: what stands around it stays, and its kind is named", () => {
    const key = `gh${_}p_${"a1B2c3D4".repeat(5)}`
    expect(redact(`before ${key} after`)).toEqual({
      text: "before [redacted:github-token] after",
      found: ["github-token"],
    })
    expect(redact(`postgres://app:${_}x7Qp2Lk9@db:5432/app`).text).toBe(
      "postgres://app:[redacted:url-credentials]@db:5432/app",
    )
  })

  test("that is longer than its kind usually is goes to its end", () => {
    const long = `gh${_}p_${"a1B2c3D4".repeat(200)}`
    expect(redact(`${long} end`).text).toBe("[redacted:github-token] end")
  })

  test("is gone the first time; doing it again changes nothing", () => {
    for (const { text } of plant(300)) {
      const once = redact(text).text
      expect(redact(once)).toEqual({ text: once, found: [] })
      expect(isRedacted(once)).toBe(true)
    }
  })
})

test("of a thousand harmless look-alikes at most 5 % are touched", () => {
  const touched = harmless(1_000).filter(({ text }) => redact(text).found.length > 0)
  expect(touched.slice(50).map(({ kind }) => kind)).toEqual([])
})

test("a text without secrets comes back itself", () => {
  const value = { list: [{ text: "nothing here" }], bytes: new Uint8Array([1]), at: 3, none: null }
  expect(redactDeep(value)).toBe(value)
})

describe("in a value", () => {
  const word = `a8Kd02mVq9${_}Zt4x`

  test("texts are cleaned at every depth, and fields by their names", () => {
    const given = { a: [{ b: `Author${_}ization: Bearer ${word}xyz` }], headers: { "x-api-key": word }, n: 1 }
    expect(redactDeep<unknown>(given)).toEqual({
      a: [{ b: "Authorization: Bearer [redacted:authorization]" }],
      headers: { "x-api-key": "[redacted:secret]" },
      n: 1,
    })
  })

  test("bytes stay exact: they are contents, not text", () => {
    const bytes = new TextEncoder().encode(`pass${_}word=${word}`)
    expect(redactDeep({ bytes }).bytes).toBe(bytes)
  })

  test("what stands around a secret stays as it is, in its order", () => {
    const given = {
      first: 1,
      list: ["a", "b"],
      mid: `Author${_}ization: Bearer ${word}xyz`,
      inner: { x: [1, 2] },
      last: null,
    }
    const cleaned = redactDeep<Record<string, unknown>>(given)
    expect(Object.keys(cleaned)).toEqual(["first", "list", "mid", "inner", "last"])
    expect(cleaned).toEqual({ ...given, mid: "Authorization: Bearer [redacted:authorization]" })
    expect(redactDeep<unknown>([1, given.mid, 2])).toEqual([1, cleaned.mid, 2])
  })

  test("one object in several places is cleaned in each of them", () => {
    const shared = { "x-api-key": word, plain: "nothing here" }
    const clean = { "x-api-key": "[redacted:secret]", plain: "nothing here" }
    expect(redactDeep<unknown>({ a: shared, b: [shared, { c: shared }] })).toEqual({
      a: clean,
      b: [clean, { c: clean }],
    })
  })

  test("one object that lies too deep to be looked through in one place is looked through in another", () => {
    const shared = { inner: { "x-api-key": word } }
    const deep = Array.from({ length: 62 }).reduce<object>((inside) => ({ inside }), { shared })
    expect(redactDeep<Record<string, unknown>>({ deep, shared }).shared).toEqual({
      inner: { "x-api-key": "[redacted:secret]" },
    })
  })

  describe("that is closed", () => {
    test("nothing changes any more, at any depth", () => {
      const value = closed({ list: [{ inner: { n: 1 } }] })
      for (const inside of [value, value.list, value.list[0], value.list[0]?.inner]) {
        expect(Object.isFrozen(inside)).toBe(true)
      }
    })

    test("a secret is found each time", () => {
      const value = closed({ list: [{ "x-api-key": word }] })
      const clean = { list: [{ "x-api-key": "[redacted:secret]" }] }
      expect([redactDeep<unknown>(value), redactDeep<unknown>(value)]).toEqual([clean, clean])
    })

    test("where nothing was found it is not looked through again", () => {
      let looked = 0
      const value = closed({
        inner: {
          get text() {
            looked += 1
            return "nothing here"
          },
        },
      })
      const first = redactDeep({ at: value })
      const once = looked
      expect(once).toBeGreaterThan(0)
      expect(redactDeep([first.at, { value }])).toEqual([value, { value }])
      looked = 0
      redactDeep([value])
      expect(looked).toBe(0)
    })

    test("one that lies too deep in one place is looked through in another", () => {
      const shared = closed({ inner: { "x-api-key": word } })
      const deep = Array.from({ length: 62 }).reduce<object>((inside) => ({ inside }), { shared })
      redactDeep({ deep })
      expect(redactDeep<unknown>(shared)).toEqual({ inner: { "x-api-key": "[redacted:secret]" } })
    })
  })

  test("a name that had a harmless value once is looked at again with the next", () => {
    expect(redactDeep({ api_key: "none" })).toEqual({ api_key: "none" })
    expect(redactDeep<unknown>({ api_key: word })).toEqual({ api_key: "[redacted:secret]" })
    expect(redactDeep<unknown>({ key_of_map: word })).toEqual({ key_of_map: word })
    expect(redactDeep<unknown>({ api_key: word })).toEqual({ api_key: "[redacted:secret]" })
  })

  test("names are texts too", () => {
    const key = `gh${_}p_${"a1B2c3D4".repeat(5)}`
    expect(redactDeep<unknown>({ [key]: 1 })).toEqual({ "[redacted:github-token]": 1 })
  })
})

describe("the table", () => {
  test("has words in lower case, in every pattern's matches", () => {
    const rules = [...TOKENS, ...CONTEXTS]
    expect(rules.length).toBeGreaterThan(80)
    expect(rules.flatMap(({ words }) => words).filter((word) => word !== word.toLowerCase() || !word)).toEqual([])
    expect(rules.filter(({ pattern }) => !pattern.sticky)).toEqual([])
  })

  test("repeats nothing without a bound", () => {
    // With a bound on every repetition and a bounded number of tries at each place, time grows with length alone.
    const open = [...TOKENS, ...CONTEXTS].filter(({ pattern }) =>
      /[^\\](?:\*|\{\d+,\})/.test(pattern.source.replaceAll(/\[(?:[^\]\\]|\\.)*\]|\\./g, "_")),
    )
    expect(open.map(({ pattern }) => pattern.source)).toEqual([])
  })
})

describe("a file that is made for secrets", () => {
  test("is known by its name", () => {
    const names =
      ".env .env.local a/.env.production .npmrc id_ed25519 key.pem ~/.aws/credentials .kube/config service-account-1.json prod.tfvars .git-credentials"
    expect(names.split(" ").filter((path) => !secretFile(path))).toEqual([])
  })

  test("is not taken for one that only shows how", () => {
    const names = ".env.example id_rsa.pub .env.sample src/env.ts credentials.ts tokens.ts public.ts keyboard.ts key.ts"
    expect(names.split(" ").filter(secretFile)).toEqual([])
  })
})
