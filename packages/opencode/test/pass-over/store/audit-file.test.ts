import { describe, expect, test } from "bun:test"
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join, relative } from "node:path"
import { AuditLine } from "../../../src/pass-over/domain/audit-log"
import { note } from "../../../src/pass-over/domain/pass"
import { appendLines, auditFile } from "../../../src/pass-over/store/audit-file"
import { brokenAt } from "../support/chain"
import { openStore } from "../support/database"
import { createFolder, type Folder } from "../support/folder"
import { race, runChild } from "../support/process"
import { createWorld } from "../support/world"

const world = createWorld()

/** Lines as the store hands them over. What they say does not matter here, only where they belong. */
const line = (seq: number, overrides: Partial<AuditLine> = {}): AuditLine => ({
  ...note(world.pass(), { action: "requested", actor: "alice", at: Date.UTC(2026, 2, 10) }),
  seq,
  prev: "0".repeat(64),
  hash: "f".repeat(64),
  ...overrides,
})

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => line(from + index))

const log = (folder: Folder) => folder.at(".opencode", "pass-over-logs")

const texts = (path: string) => {
  const text = readFileSync(path, "utf8")
  expect(text).toEndWith("\n")
  return text.slice(0, -1).split("\n")
}

const read = (path: string) => texts(path).map((text) => AuditLine.parse(JSON.parse(text)))
const seqs = (path: string) => read(path).map(({ seq }) => seq)

/** Every file under a folder, as paths from it. */
const files = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted()

describe("a log file", () => {
  test("holds one line for each entry, as it was given, in a file of its session and month", () => {
    using folder = createFolder()
    const lines = range(1, 3)
    appendLines(log(folder), lines)
    expect(files(log(folder))).toEqual([
      ".gitignore",
      join("2026-03", "session-ses_alice-passes.jsonl"),
      "audit-summary.json",
    ])
    expect(read(join(log(folder), "2026-03", "session-ses_alice-passes.jsonl"))).toEqual(lines)
  })

  test("ends with its month in UTC, and the next one begins", () => {
    using folder = createFolder()
    const february = Date.UTC(2026, 1, 1)
    const lines = [
      line(1, { timestamp: february - 1 }),
      line(2, { timestamp: february }),
      line(3, { timestamp: february }),
    ]
    appendLines(log(folder), lines)
    expect(seqs(auditFile(log(folder), lines[0]!))).toEqual([1])
    expect(seqs(auditFile(log(folder), lines[1]!))).toEqual([2, 3])
    expect(auditFile("logs", lines[1]!)).toBe(join("logs", "2026-02", "session-ses_alice-passes.jsonl"))
  })

  test("takes the lines of its month also when the clock goes back and forth", () => {
    using folder = createFolder()
    const [march, april] = [Date.UTC(2026, 2, 31), Date.UTC(2026, 3, 1)]
    const lines = [march, april, march, april].map((timestamp, index) => line(index + 1, { timestamp }))
    appendLines(log(folder), lines)
    appendLines(log(folder), lines)
    expect(seqs(auditFile(log(folder), lines[0]!))).toEqual([1, 3])
    expect(seqs(auditFile(log(folder), lines[1]!))).toEqual([2, 4])
  })

  test("and its folder are their owner's alone", () => {
    using folder = createFolder()
    appendLines(log(folder), range(1, 1))
    const path = auditFile(log(folder), line(1))
    expect([path, dirname(path)].map((at) => (statSync(at).mode & 0o777).toString(8))).toEqual(["600", "700"])
  })

  test("is not made for no lines", () => {
    using folder = createFolder()
    appendLines(log(folder), [])
    expect(files(folder.path)).toEqual([])
  })
})

describe("the summary", () => {
  const summary = (folder: Folder) => JSON.parse(readFileSync(join(log(folder), "audit-summary.json"), "utf8"))

  test("counts each line once, and says how far each session has come", () => {
    using folder = createFolder()
    appendLines(log(folder), range(1, 3))
    appendLines(log(folder), range(2, 5))
    expect(summary(folder)).toMatchObject({
      lines: 5,
      passes: 5,
      by_action: { requested: 5 },
      heads: { ses_alice: { seq: 5, hash: "f".repeat(64) } },
    })
  })

  test("starts anew where somebody damaged it", () => {
    using folder = createFolder()
    appendLines(log(folder), range(1, 3))
    writeFileSync(join(log(folder), "audit-summary.json"), "{")
    appendLines(log(folder), range(4, 4))
    expect(summary(folder)).toMatchObject({ lines: 1, heads: { ses_alice: { seq: 4 } } })
  })
})

describe("after a crash", () => {
  test("lines that were appended but not recorded as such come again and are not repeated", () => {
    using folder = createFolder()
    appendLines(log(folder), range(1, 3))
    appendLines(log(folder), range(1, 5))
    appendLines(log(folder), range(4, 6))
    expect(seqs(auditFile(log(folder), line(1)))).toEqual([1, 2, 3, 4, 5, 6])
  })

  test("lines that come again across the end of a month are not repeated either", () => {
    using folder = createFolder()
    const lines = [1, 2, 3, 4].map((seq) => line(seq, { timestamp: Date.UTC(2026, seq < 3 ? 2 : 3, 5) }))
    appendLines(log(folder), lines.slice(0, 3))
    appendLines(log(folder), lines)
    expect(seqs(auditFile(log(folder), lines[0]!))).toEqual([1, 2])
    expect(seqs(auditFile(log(folder), lines[3]!))).toEqual([3, 4])
  })

  const whole = (lines: readonly AuditLine[]) => lines.map((one) => `${JSON.stringify(one)}\n`).join("")

  test("a last line is written anew wherever it was torn", () => {
    using folder = createFolder()
    const lines = range(1, 3)
    const path = auditFile(log(folder), line(1))
    mkdirSync(dirname(path), { recursive: true })
    const [text, kept] = [whole(lines), whole(lines.slice(0, 2))]
    for (let length = 0; length < text.length; length += 7) {
      writeFileSync(path, text.slice(0, length))
      appendLines(log(folder), lines)
      expect(readFileSync(path, "utf8")).toBe(text)
    }
    writeFileSync(path, text.slice(0, -1))
    appendLines(log(folder), lines.slice(2))
    expect(readFileSync(path, "utf8")).toBe(text)
    expect(kept.length).toBeLessThan(text.length)
  })

  test("a line longer than one look at the end of the file is found, whole or torn", () => {
    using folder = createFolder()
    const lines = [line(1), line(2, { summary: "s".repeat(700_000) })]
    const path = auditFile(log(folder), line(1))
    appendLines(log(folder), lines)
    appendLines(log(folder), lines)
    expect(seqs(path)).toEqual([1, 2])
    const text = readFileSync(path, "utf8")
    writeFileSync(path, text.slice(0, -10))
    appendLines(log(folder), [...lines, line(3)])
    expect(seqs(path)).toEqual([1, 2, 3])
  })

  test("a last line that somebody else wrote does not keep new lines out", () => {
    using folder = createFolder()
    const path = auditFile(log(folder), line(1))
    appendLines(log(folder), range(1, 2))
    for (const [text, next] of [
      ["this is not JSON", 3],
      ['{"seq":"four"}', 4],
      ["null", 5],
    ] as const) {
      appendFileSync(path, `${text}\n`)
      appendLines(log(folder), [line(next)])
      expect(texts(path).at(-2)).toBe(text)
      expect(AuditLine.parse(JSON.parse(texts(path).at(-1) ?? "")).seq).toBe(next)
    }
  })

  test("of a disk that was full, nothing is missing once there is room", async () => {
    using folder = createFolder()
    const lines = range(1, 40)
    const child = await runChild(join(import.meta.dir, "fixture/append.ts"), [log(folder), JSON.stringify(lines)], {
      // A limit on the size of a file stands for the disk: it ends in the middle of a line.
      before: ["sh", "-c", `trap "" XFSZ; ulimit -f 8; exec "$@"`, "sh"],
    })
    expect(child.code).not.toBe(0)
    const path = auditFile(log(folder), line(1))
    expect(readFileSync(path, "utf8")).not.toEndWith("\n")
    appendLines(log(folder), lines)
    expect(read(path)).toEqual(lines)
  })
})

const HOSTILE = [
  "../../../../etc/cron.d/evil",
  "..",
  ".",
  "a/b",
  "a_b",
  "a\\b",
  "/absolute",
  "C:\\windows",
  "nul\u0000byte",
  "line\nbreak",
  "ünïcode",
  "unicode",
  "x".repeat(200),
  "/".repeat(200),
  "~",
  "$(touch evil)",
  "-rf",
  "*",
]

describe("a session id that is none", () => {
  test("stays inside the folder, and two of them never share a file", () => {
    using folder = createFolder()
    const lines = HOSTILE.map((session_id) => line(1, { session_id }))
    for (const one of lines) appendLines(log(folder), [one])
    const made = files(folder.path)
    expect(made.filter((path) => !path.startsWith(join(".opencode", "pass-over-logs")))).toEqual([])
    expect(made.filter((path) => path.endsWith(".jsonl"))).toHaveLength(HOSTILE.length)
    for (const one of lines) {
      const path = auditFile(log(folder), one)
      expect(dirname(path)).toBe(join(log(folder), "2026-03"))
      expect(read(path)).toEqual([one])
    }
  })
})

describe("no link is followed", () => {
  const MONTH = "2026-03"
  const NAME = "session-ses_alice-passes.jsonl"

  /** A log folder with somebody's file outside of it. */
  function scene() {
    const folder = createFolder()
    mkdirSync(join(log(folder), MONTH), { recursive: true })
    mkdirSync(folder.at("outside"))
    writeFileSync(folder.at("outside", "theirs"), "theirs\n")
    return folder
  }

  const kept = (folder: Folder) => {
    expect(files(folder.at("outside"))).toEqual(["theirs"])
    expect(readFileSync(folder.at("outside", "theirs"), "utf8")).toBe("theirs\n")
  }

  test("from a log file, and the files of other sessions are written all the same", () => {
    for (const target of ["theirs", "missing"]) {
      using folder = scene()
      const path = join(log(folder), MONTH, NAME)
      symlinkSync(folder.at("outside", target), path)
      const other = line(1, { session_id: "ses_bob" })
      expect(() => appendLines(log(folder), [line(1), other])).toThrow("is a link or no plain file")
      kept(folder)
      expect(seqs(auditFile(log(folder), other))).toEqual([1])
      // As soon as it is gone the lines come, each once.
      unlinkSync(path)
      appendLines(log(folder), [line(1), other])
      expect(seqs(path)).toEqual([1])
      expect(seqs(auditFile(log(folder), other))).toEqual([1])
      expect(JSON.parse(readFileSync(join(log(folder), "audit-summary.json"), "utf8"))).toMatchObject({ lines: 2 })
    }
  })

  test("from the folder of a month", () => {
    for (const target of ["outside", "missing"]) {
      using folder = scene()
      rmdirSync(join(log(folder), MONTH))
      symlinkSync(folder.at(target), join(log(folder), MONTH))
      expect(() => appendLines(log(folder), [line(1)])).toThrow("is a link or no plain file")
      kept(folder)
      expect(existsSync(folder.at("missing"))).toBe(false)
    }
  })

  test("from a .gitignore or a draft of the summary", () => {
    using folder = scene()
    symlinkSync(folder.at("outside", "missing"), join(log(folder), ".gitignore"))
    symlinkSync(folder.at("outside", "theirs"), join(log(folder), `audit-summary.json.${process.pid}`))
    appendLines(log(folder), [line(1)])
    kept(folder)
    expect(seqs(join(log(folder), MONTH, NAME))).toEqual([1])
  })

  test("and nothing that is no file is waited for", () => {
    using folder = scene()
    for (const path of [join(log(folder), MONTH, NAME), join(log(folder), "audit-summary.json")])
      expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0)
    expect(() => appendLines(log(folder), [line(1)])).toThrow("is a link or no plain file")
    appendLines(log(folder), [line(1, { session_id: "ses_bob" })])
  })
})

describe("our folder in a user's project", () => {
  test("never shows up in git", () => {
    using folder = createFolder()
    const git = (...args: string[]) => {
      const { exitCode, stdout } = Bun.spawnSync(["git", "-C", folder.path, ...args])
      expect(exitCode).toBe(0)
      return stdout.toString()
    }
    git("init", "--quiet")
    appendLines(log(folder), range(1, 2))
    expect(git("status", "--porcelain", "--untracked-files=all")).toBe("")
    expect(git("status", "--porcelain", "--ignored", "--untracked-files=all")).toContain("session-ses_alice")
    writeFileSync(folder.at(".opencode", "own.json"), "{}")
    expect(git("status", "--porcelain", "--untracked-files=all")).toBe("?? .opencode/own.json\n")
  })

  test("keeps a .gitignore that the user has changed", () => {
    using folder = createFolder()
    appendLines(log(folder), range(1, 1))
    const path = join(log(folder), ".gitignore")
    expect(readFileSync(path, "utf8")).toBe("*\n")
    writeFileSync(path, "# we want our logs in git\n")
    appendLines(log(folder), range(2, 2))
    expect(readFileSync(path, "utf8")).toBe("# we want our logs in git\n")
  })
})

describe("several processes that write the log of one session", () => {
  test("leave every line in it once, in order", async () => {
    using folder = createFolder()
    const [path, times] = [folder.at("pass-over.db"), 40]
    openStore(path)[Symbol.dispose]()
    const lanes = ["1", "2", "3"]
    const children = await race(
      join(import.meta.dir, "fixture/flush.ts"),
      lanes.map((lane) => [path, log(folder), lane, String(times)]),
    )
    expect(children).toMatchObject(lanes.map(() => ({ code: 0, stderr: "" })))
    using database = openStore(path)
    const lines = (await database.store.audit({ limit: 1_000 })).toReversed()
    expect(lines).toHaveLength(lanes.length * times)
    const written = read(auditFile(log(folder), lines[0]!))
    expect(written).toEqual(lines)
    expect(brokenAt(written)).toBeUndefined()
  }, 30_000)
})
