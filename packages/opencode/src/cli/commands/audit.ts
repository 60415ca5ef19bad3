import { closeSync, existsSync, fsyncSync, openSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import type { z } from "zod"
import { AuditAction, type AuditLine } from "../../pass-over/domain/audit-log"
import { AuditQuery, FORMATS, type AuditFormat, type AuditQueryInput } from "../../pass-over/domain/audit-query"
import { issueText } from "../../pass-over/domain/issue-text"
import { OutputStatus, ReviewDecision } from "../../pass-over/domain/output"
import { databasePath } from "../../paths"
import { auditedIn, printFaults, withAudit } from "../audit"
import { clean, safeText } from "../clean"
import { count, Stop, text, usage, type Command, type Invocation, type Option, type Values } from "../command"
import { enumWords } from "../enum-words"
import { EXIT } from "../exit"
import { short } from "../find"
import type { Output } from "../output"
import { plural } from "../words"
import { runPrune } from "./audit-prune"

const FILTERS: readonly Option[] = [
  { flags: "--all", text: "of every project" },
  { flags: "--pass <id>", text: "of one pass, by its whole id" },
  { flags: "--session <id>", text: "of one session" },
  { flags: "--from <agent>", text: "passed on by this agent" },
  { flags: "--to <agent>", text: "passed to this agent" },
  { flags: "--action <words>", text: "requested, refused, returned …, with commas between them" },
  { flags: "--status <words>", text: "completed, failed, aborted, partial" },
  { flags: "--decision <words>", text: "approved, rejected, needs_modification, blocked" },
  { flags: "--error <codes>", text: "E010, E011 …" },
  { flags: "--since <time>", text: "2026-11-18, 2026-11-18T12:00Z or a Unix time" },
  { flags: "--until <time>", text: "the same" },
]

const words = (options: Values, name: string) => text(options, name)?.split(",")

type Asking = Pick<Invocation, "args" | "options" | "directory">

function asked({ args, options, directory }: Asking, more: AuditQueryInput = {}): AuditQueryInput {
  const given = {
    directory: options.all === true ? undefined : directory,
    pass_over_id: text(options, "pass"),
    session_id: text(options, "session"),
    originating_agent: text(options, "from"),
    subagent: text(options, "to"),
    action: enumWords(text(options, "action"), "--action", AuditAction),
    status: enumWords(text(options, "status"), "--status", OutputStatus),
    decision: enumWords(text(options, "decision"), "--decision", ReviewDecision),
    error_code: words(options, "error"),
    start_time: text(options, "since"),
    end_time: text(options, "until"),
    text: args.length > 0 ? args.join(" ") : undefined,
    ...more,
  }
  const parsed = AuditQuery.safeParse(given)
  if (parsed.success) return given
  throw usage(
    parsed.error.issues.map((issue: z.core.$ZodIssue) => `${named(issue.path)}: ${issueText(issue)}`).join("; "),
  )
}

const OPTION: Record<string, string> = { start_time: "--since", end_time: "--until", error_code: "--error" }
const named = ([first]: PropertyKey[]) => OPTION[String(first)] ?? `--${String(first)}`

const time = (at: number) => new Date(at).toISOString().slice(0, 19).replace("T", " ")

function print(out: Output, lines: readonly AuditLine[]) {
  out.table(
    [
      { title: "WHEN (UTC)" },
      { title: "PASS", rank: 3 },
      { title: "WHO" },
      { title: "WHAT" },
      { title: "BY", rank: 2 },
      { title: "RESULT", rank: 1 },
      { title: "SUMMARY", grow: true, rank: 4 },
    ],
    lines.map((line) => [
      time(line.timestamp),
      short(line.pass_over_id),
      `${line.originating_agent} → ${line.subagent}`,
      line.action,
      line.actor,
      line.error_code ?? line.decision ?? line.status ?? "",
      line.summary,
    ]),
  )
}

async function runQuery(call: Invocation) {
  const { out, options } = call
  const directory = await auditedIn(call.directory)
  const query = asked({ ...call, directory }, { limit: count(options, "limit", 50), cursor: text(options, "cursor") })
  const page = existsSync(databasePath())
    ? await withAudit(directory, (audit) => out.progress("Searching …", () => audit.query(query)))
    : { lines: [], cursor: null }
  if (out.json) {
    out.value(page)
    return EXIT.ok
  }
  if (page.lines.length === 0) {
    out.line(
      `Nothing like this is in the audit${options.all === true ? "." : " of this project. --all looks at every project."}`,
    )
    return EXIT.ok
  }
  print(out, page.lines)
  if (page.cursor) out.line(out.paint("dim", `There is more: --cursor ${page.cursor}`))
  return EXIT.ok
}

async function runVerify({ out, directory: from }: Invocation) {
  const directory = await auditedIn(from)
  const found = await withAudit(directory, (audit) =>
    out.progress("Comparing the log files with the database …", () => audit.verify()),
  )
  if (out.json) out.value(found)
  if (!out.json) {
    printFaults(out, found.faults)
    const looked = `${plural(found.lines, "line")} of ${plural(found.sessions, "session")} in ${plural(found.files, "file")}`
    if (found.ok && found.lines === 0 && found.pending === 0) {
      out.line(`Nothing of ${directory} is in the audit yet, so there was nothing to look at.`)
      return EXIT.ok
    }
    const pending = found.pending > 0 ? `; ${found.pending} are not in a file yet` : ""
    out.line(
      found.ok
        ? `${out.paint("green", "In order")}: ${looked}${pending}.`
        : `${plural(found.faults.length, "fault")} in ${looked}${pending}. The first of a session is where it was changed.`,
    )
  }
  return found.ok ? EXIT.ok : EXIT.failed
}

const isFormat = (given: string): given is AuditFormat => FORMATS.some((format) => format === given)

async function runExport(call: Invocation) {
  const { out, options } = call
  const directory = await auditedIn(call.directory)
  const format = text(options, "format") ?? "jsonl"
  if (!isFormat(format)) throw usage(`--format knows ${FORMATS.join(", ")}, not "${format}".`)
  const limit = text(options, "limit") === undefined ? {} : { limit: count(options, "limit", 1) }
  const query = asked({ ...call, directory }, limit)
  const to = text(options, "output")
  if (to === undefined) {
    const safe = format === "csv" ? (out.width === undefined ? (piece: string) => piece : clean) : safeText
    await withAudit(directory, (audit) => audit.export(query, format, (piece) => out.raw(safe(piece))))
    return EXIT.ok
  }
  const path = resolve(call.directory, to)
  const lines = await withAudit(directory, (audit) =>
    out.progress(`Writing ${path} …`, () => toFile(path, (write) => audit.export(query, format, write))),
  )
  if (out.json) out.value({ path, lines })
  if (!out.json) out.line(`${plural(lines, "line")} written to ${path}.`)
  return EXIT.ok
}

async function toFile<T>(path: string, work: (write: (text: string) => void) => Promise<T>): Promise<T> {
  try {
    // Whole conversations may be in it, and a file that is there already is somebody's.
    const file = openSync(path, "wx", 0o600)
    try {
      const done = await work((piece) => writeFileSync(file, piece))
      fsyncSync(file)
      return done
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error
    const why = error.code === "EEXIST" ? "it is there already" : error.message
    throw new Stop(EXIT.failed, `${path} cannot be written: ${why}.`, "Name another file.")
  }
}

async function runRestore({ out, directory: from, options }: Invocation) {
  const directory = await auditedIn(from)
  const restored = await withAudit(directory, (audit) =>
    out.progress("Reading the log files …", () => audit.restore({ force: options.force === true })),
  )
  if (out.json) out.value(restored)
  if (!out.json) {
    printFaults(out, restored.refused ?? [])
    const omitted =
      restored.omitted > 0 ? ` Not in the log and still missing: ${plural(restored.omitted, "content")}.` : ""
    out.line(
      restored.ok
        ? `Restored from ${plural(restored.lines, "line")}: passes ${restored.passes}, outcomes ${restored.outcomes}.${omitted}`
        : "Nothing was restored: the log files are not in order. --force takes what can be read.",
    )
  }
  return restored.ok ? EXIT.ok : EXIT.failed
}

export const audit: Command = {
  name: "audit",
  summary: "look into the record of all passes, and look after it",
  examples: ["pass-over audit query --to audit", "pass-over audit verify"],
  commands: [
    {
      name: "query",
      summary: "search the record, the newest first",
      args: [{ name: "[text...]", text: "words that all have to occur" }],
      options: [
        ...FILTERS,
        { flags: "--limit <n>", text: "how many at most (50)" },
        { flags: "--cursor <cursor>", text: "go on where the page before ended" },
      ],
      examples: ["pass-over audit query --to audit --since 2026-11-01", "pass-over audit query timeout --all --json"],
      run: runQuery,
    },
    {
      name: "verify",
      summary: "find the first line that was changed, removed, added or moved",
      examples: ["pass-over audit verify", "pass-over audit verify --json"],
      run: runVerify,
    },
    {
      name: "export",
      summary: "write the record out",
      options: [
        ...FILTERS,
        { flags: "--format <format>", text: `${FORMATS.join(", ")} (jsonl)` },
        { flags: "--output <file>", text: "into this new file instead of standard output" },
        { flags: "--limit <n>", text: "how many lines at most" },
      ],
      examples: ["pass-over audit export --format csv --output passes.csv", "pass-over audit export --to audit"],
      run: runExport,
    },
    {
      name: "prune",
      person: true,
      summary:
        "remove what is over for longer than audit.retention_days: audit lines, passes with their contexts and results, runs of flows, and contents of files that nothing refers to",
      options: [
        { flags: "--days <n>", text: "this many days instead" },
        { flags: "--dry-run", text: "only say how much would go" },
      ],
      examples: ["pass-over audit prune --dry-run", "pass-over audit prune --days 90"],
      run: runPrune,
    },
    {
      name: "restore",
      person: true,
      summary: "rebuild a lost database from the log files",
      options: [{ flags: "--force", text: "also from files that are not in order" }],
      examples: ["pass-over audit restore"],
      run: runRestore,
    },
  ],
}
