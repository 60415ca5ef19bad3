import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { basename, dirname } from "node:path"
import { AuditLog } from "../../../src/audit-log"
import { openAudit } from "../../../src/pass-over"
import { PassOverAuditEntry } from "../../../src/pass-over/domain/audit-log"
import type { AuditQueryInput } from "../../../src/pass-over/domain/audit-query"
import { PassOverPreferences } from "../../../src/pass-over/domain/preference"
import type { Audit } from "../../../src/pass-over/service/port-audit"
import { appendLines } from "../../../src/pass-over/store/audit-file"
import { auditFolder, logFiles } from "../../../src/pass-over/store/audit-folder"
import { outcomeOf, started } from "../support/drive"
import { createEngineWorld, type EngineWorld } from "../support/engine"
import { createFolder, type Folder } from "../support/folder"

const LOGS = ".opencode/pass-over-logs"
const DAY = 86_400_000

type Place = Disposable & { folder: Folder; path: string; logs: string; file: string; audit: Audit; world: EngineWorld }

/** Three passes that ended, in one session, the last of them in the child of the one before; their lines in the files, and the audit opened on its own. */
async function place(): Promise<Place> {
  const folder = createFolder()
  const path = folder.at("pass-over.db")
  const world = createEngineWorld({ path })
  const project = { ...world.project, directory: folder.path }
  Object.assign(world.project, project)
  world.host.script("audit", async (child) => {
    await child.return({
      decision: "needs_modification",
      findings: [{ severity: "error", message: "The sum is wrong." }],
    })
    child.step()
  })
  world.host.directoryOf = async () => folder.path
  await outcomeOf(world, await started(world))
  const second = await started(world)
  await outcomeOf(world, second)
  await outcomeOf(world, await started(world, { continue: second.pass.id }))
  const logs = folder.at(LOGS)
  await world.engine.store.flushAudit(["ses_root"], (lines) => appendLines(logs, lines))
  const opened = openAudit({ path, directory: folder.path, log_directory: LOGS })
  if (!opened.ok) throw new Error(opened.problem)
  const { audit } = opened
  const [file = ""] = logFiles(logs)
  const dispose = () => {
    audit.close()
    world[Symbol.dispose]()
    folder[Symbol.dispose]()
  }
  return { folder, path, logs, file, audit, world, [Symbol.dispose]: dispose }
}

const linesOf = (file: string) => readFileSync(file, "utf8").trimEnd().split("\n")
const tamper = (file: string, change: (lines: string[]) => string[]) =>
  writeFileSync(file, `${change(linesOf(file)).join("\n")}\n`)

const told = async (audit: Audit) =>
  (await audit.verify()).faults.map(({ kind, place }) => `${kind} ${place.split("/").at(-1)}`)

describe("verify", () => {
  test("says that all is well where it is", async () => {
    using it = await place()
    const verified = await it.audit.verify()
    expect(verified).toMatchObject({ ok: true, sessions: 1, files: 1, pending: 0, faults: [] })
    expect(verified.lines).toBe(linesOf(it.file).length)
    expect(verified.lines).toBeGreaterThan(6)
  })

  const NAME = "session-ses_root-passes.jsonl"
  const WAYS: Record<string, { change: (lines: string[]) => string[]; first: string }> = {
    "an edited line": {
      change: (lines) => lines.map((line, at) => (at === 2 ? line.replace('"actor":"', '"actor":"x') : line)),
      first: `edited ${NAME}:3`,
    },
    "an edited line that is no JSON any more": {
      change: (lines) => lines.map((line, at) => (at === 2 ? line.slice(3) : line)),
      first: `edited ${NAME}:3`,
    },
    "a removed line": { change: (lines) => lines.toSpliced(3, 1), first: `removed ${NAME}:4` },
    "the last line removed": { change: (lines) => lines.slice(0, -1), first: `removed ${NAME}:` },
    "an added line": { change: (lines) => lines.toSpliced(4, 0, `{"seq":99}`), first: `unreadable ${NAME}:5` },
    "an added line of our own form": {
      change: (lines) => lines.toSpliced(4, 0, lines[1]!.replace('"seq":2', '"seq":77')),
      first: `added ${NAME}:5`,
    },
    "a line that stands there twice": {
      change: (lines) => lines.toSpliced(4, 0, lines[1]!),
      first: `added ${NAME}:5`,
    },
    "two lines that changed places": {
      change: (lines) => lines.with(1, lines[4]!).with(4, lines[1]!),
      first: `reordered ${NAME}:2`,
    },
  }
  for (const [name, { change, first }] of Object.entries(WAYS)) {
    test(`finds and names ${name}`, async () => {
      using it = await place()
      tamper(it.file, change)
      const faults = await told(it.audit)
      expect(faults[0]).toStartWith(first)
      expect(faults.length).toBeLessThanOrEqual(2)
    })
  }

  test("finds a file that is gone", async () => {
    using it = await place()
    rmSync(it.file)
    expect(await told(it.audit)).toEqual([`removed ${NAME}:1`])
  })

  test("names the fields that were edited", async () => {
    using it = await place()
    tamper(it.file, (lines) =>
      lines.map((line, at) => (at === 1 ? line.replace('"subagent":"audit"', '"subagent":"docs"') : line)),
    )
    expect((await it.audit.verify()).faults[0]?.message).toContain("subagent changed")
  })

  const sql = (it: Place, statement: string) => {
    using client = new Database(it.path)
    client.run(statement)
  }

  test("finds what was edited, removed or added in the database", async () => {
    for (const [statement, first] of [
      ["update pass_over_audit set actor = 'mallory' where seq = 2", "edited database: ses_root line 2"],
      ["delete from pass_over_audit where seq = 3", "removed database: ses_root line 4"],
      ["delete from pass_over_audit where seq > 4", "removed database: ses_root line 5"],
    ] as const) {
      using it = await place()
      sql(it, statement)
      const faults = await told(it.audit)
      expect(faults).toContain(first)
    }
  })

  test("finds an end that was cut off from both, once a summary was written", async () => {
    using it = await place()
    await it.audit.summarize(it.world.clock.now())
    sql(it, "delete from pass_over_audit where seq > 4")
    tamper(it.file, (lines) => lines.slice(0, 4))
    expect(await told(it.audit)).toEqual(["removed database: ses_root line 5"])
  })
})

describe("restore", () => {
  /** The same project with a database that knows nothing. */
  const lost = (it: Place) => {
    const opened = openAudit({ path: it.folder.at("fresh.db"), directory: it.folder.path, log_directory: LOGS })
    if (!opened.ok) throw new Error(opened.problem)
    return { audit: opened.audit, [Symbol.dispose]: () => opened.audit.close() }
  }

  test("brings back lines, passes and what was found, and does it once", async () => {
    using it = await place()
    using fresh = lost(it)
    const before = await it.audit.query()
    const restored = await fresh.audit.restore()
    expect(restored).toMatchObject({ ok: true, lines: before.lines.length, passes: 3, outcomes: 3 })
    expect((await fresh.audit.query()).lines).toEqual(before.lines)
    expect(await fresh.audit.verify()).toMatchObject({ ok: true })
    expect(await fresh.audit.restore()).toMatchObject({ ok: true, lines: 0, passes: 0, outcomes: 0 })
    using again = createEngineWorld({ path: it.folder.at("fresh.db") })
    const passes = await again.engine.store.list({ session_id: "ses_root" })
    const [pass] = passes
    expect(passes).toHaveLength(3)
    expect(passes).toEqual(await it.world.engine.store.list({}))
    expect(passes[2]).toMatchObject({
      continues_pass_id: passes[1]?.id,
      child_session_id: passes[1]?.child_session_id,
    })
    const outcome = await again.engine.store.outcome(pass!.id)
    expect(outcome?.output.summary.decision).toBe("needs_modification")
    expect(outcome?.output.artifacts).toMatchObject([{ type: "finding", message: "The sum is wrong." }])
  })

  test("refuses a chain that is broken, and says where; forced, it takes what is intact", async () => {
    using it = await place()
    tamper(it.file, (lines) => lines.toSpliced(3, 1))
    using fresh = lost(it)
    const refused = await fresh.audit.restore()
    expect(refused).toMatchObject({ ok: false, lines: 0, passes: 0 })
    expect(refused.refused?.[0]?.message).toContain("line 4 is missing before it")
    expect((await fresh.audit.query()).lines).toEqual([])
    expect(await fresh.audit.restore({ force: true })).toMatchObject({ ok: true, lines: linesOf(it.file).length })
  })

  test("refuses lines that contradict the database", async () => {
    using it = await place()
    using client = new Database(it.path)
    client.run(`update pass_over_audit set hash = '${"0".repeat(64)}' where seq = 2`)
    expect((await it.audit.restore()).ok).toBe(false)
  })
})

describe("prune", () => {
  test("removes whole months that are past, leaves an anchor, and the rest verifies", async () => {
    using it = await place()
    const at = it.world.clock.now()
    it.world.clock.shift(70 * DAY)
    await outcomeOf(it.world, await started(it.world))
    await it.world.engine.store.flushAudit(["ses_root"], (lines) => appendLines(it.logs, lines))
    const before = (await it.audit.verify()).lines
    expect(await it.audit.prune({ retention_days: 90, now: at + 70 * DAY })).toMatchObject({ lines: 0, files: 0 })
    const pruned = await it.audit.prune({ retention_days: 30, now: at + 70 * DAY })
    expect(pruned).toMatchObject({ files: 1, kept: [] })
    expect(pruned.lines).toBeGreaterThan(6)
    expect(pruned.events).toBeGreaterThan(6)
    expect(existsSync(it.file)).toBe(false)
    expect(await it.audit.verify()).toMatchObject({ ok: true, lines: before - pruned.lines, files: 1 })
    // The chain goes on, also where nothing of it is left.
    expect(await it.audit.prune({ retention_days: 1, now: at + 400 * DAY })).toMatchObject({ files: 1 })
    expect((await it.audit.query()).lines).toEqual([])
    await outcomeOf(it.world, await started(it.world))
    await it.world.engine.store.flushAudit(["ses_root"], (lines) => appendLines(it.logs, lines))
    expect(await it.audit.verify()).toMatchObject({ ok: true, faults: [] })
  })

  test("takes nothing away that a link leads to", async () => {
    using it = await place()
    const month = dirname(it.file)
    renameSync(month, it.folder.at("elsewhere"))
    symlinkSync(it.folder.at("elsewhere"), month)
    const pruned = await it.audit.prune({ retention_days: 1, now: it.world.clock.now() + 400 * DAY })
    expect(pruned.files).toBe(0)
    expect(existsSync(it.folder.at("elsewhere", basename(it.file)))).toBe(true)
  })

  test("keeps what somebody changed, and says so", async () => {
    using it = await place()
    tamper(it.file, (lines) => lines.toSpliced(3, 1))
    const pruned = await it.audit.prune({ retention_days: 1, now: it.world.clock.now() + 400 * DAY })
    expect(pruned).toMatchObject({ lines: 0, files: 0 })
    expect(pruned.kept[0]?.message).toContain("missing before it")
    expect(existsSync(it.file)).toBe(true)
  })
})

describe("query", () => {
  test("knows every filter, alone and together", async () => {
    using it = await place()
    const sent = await it.world.ask({ subagent: "nobody" })
    expect(sent.ok).toBe(false)
    const count = async (query: AuditQueryInput) => (await it.audit.query(query)).lines.length
    const all = await count({})
    const now = it.world.clock.now()
    expect(await count({ session_id: "ses_root", directory: it.folder.path })).toBe(all)
    expect(await count({ subagent: "audit" })).toBe(all - 1)
    expect(await count({ originating_agent: "alice", subagent: "nobody" })).toBe(1)
    expect(await count({ error_code: "E001" })).toBe(1)
    expect(await count({ action: "requested" })).toBe(3)
    expect(await count({ action: ["requested", "refused"] })).toBe(4)
    expect(await count({ decision: "needs_modification", status: "completed" })).toBeGreaterThanOrEqual(3)
    expect(await count({ decision: "approved" })).toBe(0)
    expect(await count({ start_time: now + 1 })).toBe(0)
    expect(await count({ end_time: Math.floor(now / 1000) + 1, start_time: new Date(now - DAY).toISOString() })).toBe(
      all,
    )
    const [line] = (await it.audit.query({ limit: 1, action: "returned" })).lines
    expect(await count({ pass_over_id: line!.pass_over_id })).toBeGreaterThanOrEqual(3)
    expect(await count({ text: "sum wrong" })).toBe(3)
    expect(await count({ text: "wro*", action: "returned" })).toBe(3)
    expect(await count({ text: "wro" })).toBe(0)
    expect(it.audit.query({ start_time: "tomorrow" })).rejects.toThrow()
  })

  test("turns pages without losing or repeating a line", async () => {
    using it = await place()
    const all = (await it.audit.query()).lines
    for (const more of [{}, { subagent: "audit" }, { text: "audit" }] as AuditQueryInput[]) {
      const pages: unknown[] = []
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await it.audit.query({ ...more, limit: 2, ...(cursor ? { cursor } : {}) })
        pages.push(...page.lines)
        cursor = page.cursor
      }
      expect(pages).toEqual(all)
    }
  })

  test("exports as JSON, lines and a table that no spreadsheet runs", async () => {
    using it = await place()
    const entry = PassOverAuditEntry.strip().parse((await it.audit.query({ limit: 1 })).lines[0])
    await it.audit.record({ ...entry, actor: "=cmd()", summary: 'a,"b"' })
    const text = async (format: "json" | "jsonl" | "csv") => {
      const pieces: string[] = []
      await it.audit.export({}, format, (piece) => void pieces.push(piece))
      return pieces.join("")
    }
    const { lines } = await it.audit.query()
    expect(JSON.parse(await text("json"))).toEqual(lines)
    expect(
      (await text("jsonl"))
        .trimEnd()
        .split("\n")
        .map((one) => JSON.parse(one)),
    ).toEqual(lines)
    const csv = await text("csv")
    expect(csv).toContain("'=cmd()")
    expect(csv).toContain('"a,""b"""')
    expect(csv.split("\r\n")).toHaveLength(lines.length + 2)
  })
})

describe("the guide's entries", () => {
  test("record an entry at the end of its session's chain, and find it again", async () => {
    using it = await place()
    const of = { directory: it.folder.path, path: it.path }
    const [last] = await AuditLog.query({ limit: 1 }, of)
    const { seq, hash } = last!
    const entry = PassOverAuditEntry.strip().parse(last)
    const line = await AuditLog.record({ ...entry, summary: "Looked at by hand." }, of)
    expect(line).toMatchObject({ seq: seq + 1, prev: hash, action: "recorded" })
    expect(await AuditLog.query({ text: "hand" }, of)).toEqual([line])
    expect((await it.audit.verify()).pending).toBe(1)
  })

  test("find every entry of the project, however many there are, and none of another unless it is named", async () => {
    using it = await place()
    const of = { directory: it.folder.path, path: it.path }
    const entry = PassOverAuditEntry.strip().parse((await AuditLog.query({ limit: 1 }, of))[0])
    const known = (await AuditLog.query({}, of)).length
    await AuditLog.withAudit(of, async (audit) => {
      for (let nth = 0; nth < 150; nth += 1) await audit.record({ ...entry, actor: "script", summary: `Look ${nth}` })
    })
    const elsewhere = { directory: it.folder.at("elsewhere"), path: it.path }
    mkdirSync(elsewhere.directory)
    await AuditLog.record({ ...entry, session_id: "ses_else", summary: "Of another project." }, elsewhere)
    const found = await AuditLog.query({}, of)
    expect(found).toHaveLength(known + 150)
    expect(found[0]?.summary).toBe("Look 149")
    expect(await AuditLog.query({ limit: 120 }, of)).toEqual(found.slice(0, 120))
    expect(await AuditLog.query({}, elsewhere)).toMatchObject([{ summary: "Of another project." }])
    expect(await AuditLog.query({ directory: elsewhere.directory }, of)).toHaveLength(1)
  })
})

describe("the folder of the log", () => {
  test("stays inside the project", () => {
    using folder = createFolder()
    mkdirSync(folder.at("project"))
    mkdirSync(folder.at("outside"))
    symlinkSync(folder.at("outside"), folder.at("project/link"))
    symlinkSync("../nowhere", folder.at("project/dangling"))
    const of = (name: string) => auditFolder(folder.at("project"), name)
    expect(of(LOGS)).toBe(folder.at("project", LOGS))
    for (const name of [
      "/etc",
      "../outside",
      "a/../../b",
      "~/x",
      "C:\\x",
      "link",
      "link/logs",
      "dangling",
      ".",
      ".git/x",
      "\\\\host\\x",
    ]) {
      expect(() => of(name)).toThrow(/stays inside the project/)
    }
    for (const log_directory of ["/etc", "../x", "."])
      expect(PassOverPreferences.safeParse({ audit: { log_directory } }).success).toBe(false)
    expect(PassOverPreferences.safeParse({ audit: { log_directory: "logs/pass-over" } }).success).toBe(true)
  })
})
