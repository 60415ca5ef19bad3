import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { editConfig, editText, replaceFile, type ValueEdit } from "../../../src/pass-over/store/config-edit"
import { parseConfig } from "../../../src/pass-over/store/config-text"
import { createFolder } from "../support/folder"

const WRITTEN = `// ours
{
  "defaults": {
    "timeout_ms": 5000, // five seconds
    /* never by itself */
    "auto_apply": false,
  },
  "pairs": {
    "alice->audit": { "timeout_ms": 9000 }, // longer
  },
}
`

const set =
  (...path: string[]) =>
  (value: unknown): ValueEdit => ({ path, value })

describe("an edit of a text", () => {
  test("changes a value and nothing else", () => {
    const text = editText(WRITTEN, [set("defaults", "timeout_ms")(6_000)])
    expect(text).toBe(WRITTEN.replace("5000", "6000"))
  })

  test("adds a setting beside the others, as they are written", () => {
    const text = editText(`{\n\t"defaults": {\n\t\t"auto_apply": true\n\t}\n}\n`, [set("defaults", "timeout_ms")(7)])
    expect(text).toBe(`{\n\t"defaults": {\n\t\t"auto_apply": true,\n\t\t"timeout_ms": 7\n\t}\n}\n`)
  })

  test("ends its lines as the others do", () => {
    const text = editText(`{\r\n  "defaults": {\r\n    "auto_apply": true\r\n  }\r\n}\r\n`, [
      set("defaults", "timeout_ms")(7),
    ])
    expect(text.replaceAll("\r\n", "")).not.toContain("\n")
    expect(parseConfig(text)).toMatchObject({ ok: true, preferences: { defaults: { timeout_ms: 7 } } })
  })

  test("keeps a byte order mark", () => {
    expect(editText(`\uFEFF{}`, [set("defaults", "timeout_ms")(7)])).toStartWith("\uFEFF{")
  })

  test("makes the groups that it needs", () => {
    const text = editText("", [set("pairs", "scout->audit", "enabled")(false)])
    expect(parseConfig(text)).toEqual({ ok: true, preferences: { pairs: { "scout->audit": { enabled: false } } } })
  })

  test("takes a setting away, and a pair of which nothing is left with it", () => {
    const text = editText(WRITTEN, [set("pairs", "alice->audit", "timeout_ms")(undefined)])
    const file = parseConfig(text)
    expect(file.ok && file.preferences.pairs).toEqual({})
    expect(text).toContain("// five seconds")
    expect(text).toContain("/* never by itself */")
  })

  test("does what it says and loses no comment, whatever is edited", () => {
    const path = fc.oneof(
      fc.tuple(fc.constant("defaults"), fc.constantFrom("timeout_ms", "max_chain_depth", "idle_timeout_ms")),
      fc.tuple(
        fc.constant("pairs"),
        fc.constantFrom("alice->audit", "scout->audit"),
        fc.constantFrom("timeout_ms", "max_chain_depth"),
      ),
    )
    const edit = fc.record({ path, value: fc.option(fc.integer({ min: 2, max: 9 }), { nil: undefined }) })
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 8 }), (edits) => {
        const text = editText(WRITTEN, edits)
        const file = parseConfig(text)
        if (!file.ok) throw new Error(file.faults[0]?.message)
        for (const comment of ["// ours", "/* never by itself */"]) expect(text).toContain(comment)
        const last = new Map(edits.map((one) => [one.path.join("."), one]))
        for (const { path: at, value } of last.values()) {
          const found = at.reduce<unknown>(
            (inside, key) => (inside as Record<string, unknown> | undefined)?.[key],
            file.preferences,
          )
          expect(found).toBe(value)
        }
      }),
      { seed: 13, numRuns: 1_000 },
    )
  })
})

describe("an edit of a file", () => {
  test("is written whole, and leaves no other file behind", () => {
    using folder = createFolder()
    const path = folder.at("sub", "pass-over.json")
    expect(editConfig(path, [set("defaults", "timeout_ms")(7)])).toMatchObject({ ok: true, changed: true })
    expect(parseConfig(readFileSync(path, "utf8"))).toEqual({ ok: true, preferences: { defaults: { timeout_ms: 7 } } })
    expect(readdirSync(folder.at("sub"))).toEqual(["pass-over.json"])
  })

  test("keeps the rights of the file", () => {
    using folder = createFolder()
    writeFileSync(folder.at("a.json"), "{}")
    chmodSync(folder.at("a.json"), 0o600)
    editConfig(folder.at("a.json"), [set("defaults", "timeout_ms")(7)])
    expect(statSync(folder.at("a.json")).mode & 0o777).toBe(0o600)
  })

  test("goes through a link to where the user keeps the file", () => {
    using folder = createFolder()
    mkdirSync(folder.at("dotfiles"))
    writeFileSync(folder.at("dotfiles", "a.json"), WRITTEN)
    symlinkSync(folder.at("dotfiles", "a.json"), folder.at("a.json"))
    expect(editConfig(folder.at("a.json"), [set("defaults", "timeout_ms")(7)])).toMatchObject({ ok: true })
    expect(lstatSync(folder.at("a.json")).isSymbolicLink()).toBe(true)
    expect(readFileSync(folder.at("dotfiles", "a.json"), "utf8")).toContain('"timeout_ms": 7, // five seconds')
  })

  test("that changes nothing writes nothing", () => {
    using folder = createFolder()
    writeFileSync(folder.at("a.json"), WRITTEN)
    const { ino } = statSync(folder.at("a.json"))
    expect(editConfig(folder.at("a.json"), [set("defaults", "timeout_ms")(5_000)])).toMatchObject({
      ok: true,
      changed: false,
    })
    expect(statSync(folder.at("a.json")).ino).toBe(ino)
  })

  test.each([
    ["what would not be valid", set("defaults", "timeout_ms")("30s"), "E030", "write 30000, in milliseconds"],
    ["an unknown setting", set("defaults", "timeot_ms")(7), "E030", "did you mean `timeout_ms`?"],
    [
      "a contradiction",
      set("pairs", "alice->alice", "timeout_ms")(7),
      "E031",
      "take the pair out, or name another agent",
    ],
  ])("that would leave %s is refused, and the file stays", (_name, edit, code, suggestion) => {
    using folder = createFolder()
    writeFileSync(folder.at("a.json"), WRITTEN)
    expect(editConfig(folder.at("a.json"), [edit])).toMatchObject({ ok: false, refusal: { code, suggestion } })
    expect(readFileSync(folder.at("a.json"), "utf8")).toBe(WRITTEN)
  })

  test("of a broken file is refused with its line, because what stands there may be half of a thought", () => {
    using folder = createFolder()
    const broken = `{\n  "defaults": { "timeout_ms" 5 }\n}`
    writeFileSync(folder.at("a.json"), broken)
    const edited = editConfig(folder.at("a.json"), [set("defaults", "auto_apply")(true)])
    expect(edited).toMatchObject({
      ok: false,
      refusal: { code: "E030", message: expect.stringContaining("a.json:2:") },
    })
    expect(readFileSync(folder.at("a.json"), "utf8")).toBe(broken)
  })

  test("that somebody else was faster with is refused, and theirs stays", () => {
    using folder = createFolder()
    writeFileSync(folder.at("a.json"), "theirs")
    expect(replaceFile(folder.at("a.json"), "ours", "as it was read")).toMatchObject({ code: "E040" })
    expect(readFileSync(folder.at("a.json"), "utf8")).toBe("theirs")
    expect(replaceFile(folder.at("b.json"), "ours", "it was there")).toMatchObject({ code: "E040" })
    expect(existsSync(folder.at("b.json"))).toBe(false)
    expect(readdirSync(folder.path)).toEqual(["a.json"])
  })

  test("where nothing can be written is a sentence", () => {
    using folder = createFolder()
    writeFileSync(folder.at("file"), "")
    const edited = editConfig(folder.at("file", "a.json"), [set("defaults", "auto_apply")(true)])
    expect(edited).toMatchObject({ ok: false, refusal: { message: expect.stringContaining("cannot be written") } })
  })
})
