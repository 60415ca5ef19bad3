import type { Database } from "bun:sqlite"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { GENESIS } from "../packages/opencode/src/pass-over/domain/audit-log"
import type { AuditQueryInput } from "../packages/opencode/src/pass-over/domain/audit-query"
import { createAuditQuery } from "../packages/opencode/src/pass-over/store/audit-query"
import { createAuditSearch } from "../packages/opencode/src/pass-over/store/audit-search"
import { openDatabase } from "../packages/opencode/src/pass-over/store/open"

// A million audit lines, and what a question about them costs: bun bench/audit.ts [lines] [rounds]

const LINES = Number(process.argv[2] ?? 1_000_000)
const ROUNDS = Number(process.argv[3] ?? 30)
const START = Date.UTC(2025, 0, 1)
const STEP = 30_000

const agents = ["alice", "build", "scout"]
const subagents = ["audit", "scout", "inspector", "docs"]
const pick = <T>(list: readonly T[], at: number) => list[at % list.length] as T

function line(at: number) {
  const pass = Math.floor(at / 3)
  const kind = at % 3
  const failed = pass % 97 === 0
  const ended = failed ? "timed_out" : "returned"
  const action = kind === 0 ? "requested" : kind === 1 ? "dispatched" : ended
  // build never hands anything to docs: a filter for both finds nothing among many.
  const from = pick(agents, pass)
  const to = from === "build" ? pick(["audit", "scout2", "inspector"], pass >> 2) : pick(subagents, pass >> 2)
  const status = kind < 2 ? null : failed ? "aborted" : "completed"
  const decision = status === "completed" ? pick(["approved", "needs_modification", "rejected"], pass >> 3) : null
  return { pass, action, from, to, status, decision, code: failed && kind === 2 ? "E010" : null }
}

function fill(client: Database) {
  const put = client.query(
    `insert into pass_over_audit (session_id, seq, pass_over_id, action, actor, error_code, timestamp, directory,
     originating_agent, subagent, user_id, reason, work_context_size_bytes, expected_output_type, started_at, completed_at,
     duration_ms, status, artifacts_count, files_modified_count, issues_found_count, returned, returned_at, applied,
     applied_by, policy_applied, policy_overrides, summary, decision, detail, prev, hash)
     values (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
  )
  const hash = "ab".repeat(32)
  for (let from = 0; from < LINES; from += 20_000) {
    client.transaction(() => {
      for (let at = from; at < Math.min(from + 20_000, LINES); at += 1) {
        const { pass, action, from: agent, to, status, decision, code } = line(at)
        put.run(
          `ses_${Math.floor(at / 300)}`,
          (at % 300) + 1,
          `pass-${pass}`,
          action,
          agent,
          code,
          START + at * STEP,
          `/home/ada/project-${pass % 20}`,
          agent,
          to,
          "ada",
          "code_review",
          20_000,
          "mixed",
          START,
          START,
          41_000,
          status,
          3,
          1,
          2,
          action === "returned" ? 1 : 0,
          null,
          0,
          null,
          "alice->audit",
          "{}",
          at % 50_000 === 7 ? "the flux capacitor leaks" : `needs another look at part ${pass % 1000}`,
          decision,
          null,
          GENESIS,
          hash,
        )
      }
    })()
  }
}

const day = 86_400_000
const span = LINES * STEP
const QUERIES: Record<string, AuditQueryInput> = {
  "newest 100": {},
  "one session": { session_id: "ses_1234" },
  "one pass": { pass_over_id: "pass-77777" },
  "one subagent": { subagent: "audit" },
  "a pair, one day long ago": {
    originating_agent: "alice",
    subagent: "audit",
    start_time: START + 9 * day,
    end_time: START + 10 * day,
  },
  "one day long ago": { start_time: START + 9 * day, end_time: START + 10 * day },
  "half of all time, oldest half": { end_time: START + span / 2, action: "returned" },
  "a rare error": { error_code: "E010" },
  "rejected by one agent": { decision: "rejected", subagent: "docs" },
  "many fit each, none fits both": { originating_agent: "build", subagent: "docs" },
  "many fit each, none fits all three": { action: "requested", status: "completed", originating_agent: "alice" },
  "one project": { directory: "/home/ada/project-7", action: "returned" },
  "one project, none": { directory: "/home/ada/project-7", subagent: "nobody" },
  "a page in the middle": { subagent: "scout", cursor: `${START + span / 2}-${LINES / 2}` },
  "a rare word": { text: "capacitor" },
  "two common words": { text: "another look", subagent: "audit" },
}

const folder = mkdtempSync(join(tmpdir(), "pass-over-bench-"))
const path = join(folder, "pass-over.db")
const opened = openDatabase(path)
if (!opened.ok) throw new Error(opened.problem)
const { client } = opened
client.run("pragma synchronous = off")
const filling = performance.now()
fill(client)
console.log(
  `${LINES} lines in ${Math.round(performance.now() - filling)} ms, ${Math.round(statSync(path).size / 1e6)} MB`,
)
const search = createAuditSearch(client, path)
const query = createAuditQuery(client, search)
const indexing = performance.now()
search.matching("capacitor")
console.log(`search index: ${Math.round(performance.now() - indexing)} ms, once`)

const at = (list: number[], part: number) => list.toSorted((a, b) => a - b)[Math.floor(list.length * part)] ?? 0
function timed(run: () => unknown) {
  const times = Array.from({ length: ROUNDS }, () => {
    const begin = performance.now()
    run()
    return performance.now() - begin
  })
  return `${at(times, 0.5).toFixed(2).padStart(8)} ${at(times, 0.95).toFixed(2).padStart(8)}`
}

console.log(`${"".padEnd(38)} ${"p50 ms".padStart(8)} ${"p95 ms".padStart(8)}`)
for (const [name, input] of Object.entries(QUERIES)) {
  console.log(`${name.padEnd(38)} ${timed(() => query(input))}   ${query(input).lines.length} lines`)
}
const scan = client.query(
  "select count(*) from pass_over_audit not indexed where originating_agent = 'build' and subagent = 'docs'",
)
console.log(`${"the same by a plain scan".padEnd(38)} ${timed(() => scan.all())}`)
client.close()
rmSync(folder, { recursive: true })
