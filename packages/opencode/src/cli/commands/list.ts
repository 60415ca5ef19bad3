import { sep } from "node:path"
import { money } from "../../pass-over/domain/envelope"
import { readable } from "../../pass-over/domain/time"
import type { Pass } from "../../pass-over/domain/pass"
import { VerdictStatus } from "../../pass-over/domain/evidence-schema"
import { ReviewDecision } from "../../pass-over/domain/output"
import { ReturnStatus } from "../../pass-over/domain/return-context"
import type { PassRow } from "../../pass-over/service/port-query"
import type { Store } from "../../pass-over/service/port"
import { count, text, type Command, type Invocation } from "../command"
import { withHistory } from "../engine"
import { enumWords } from "../enum-words"
import { EXIT } from "../exit"
import { short } from "../find"
import type { Output, Style } from "../output"
import { projectRoot } from "../place"

const STYLES: Record<ReturnStatus, Style> = {
  initial: "dim",
  waiting_for_return: "cyan",
  returned: "green",
  processed: "green",
  timed_out: "red",
  cancelled: "yellow",
}

/** What a pass is doing, in a word that needs no table. */
export const stateOf = ({ status }: Pass): string =>
  status === "waiting_for_return" ? "running" : status === "initial" ? "not started" : status

export const cameTo = ({ result }: PassRow) =>
  result === null ? "" : result.status === "completed" ? (result.decision ?? "completed") : result.status

const ago = (ms: number) => (ms < 1_000 ? "now" : `${readable(ms)} ago`)

/** Passes of a project, wherever in it opencode was started. */
export async function ofProject(
  store: Store,
  directory: string,
  query: Omit<Parameters<Store["passes"]>[0], "directory">,
) {
  const root = projectRoot(directory)
  const known = await store.directories()
  const mine = known.filter((one) => one.directory === root || one.directory.startsWith(root + sep))
  const rows = await Promise.all(mine.map((one) => store.passes({ ...query, directory: one.directory })))
  return rows
    .flat()
    .toSorted((a, b) => (a.pass.id < b.pass.id ? 1 : -1))
    .slice(0, query.limit)
}

const RUNNING = ["initial", "waiting_for_return"] as const

/** "running" is whatever has not ended, beside the states by their own words. */
function statuses(given: string | undefined): ReturnStatus[] | undefined {
  const words = enumWords(given, "--status", ReturnStatus, ["running"])
  return words && [...new Set(words.flatMap((word) => (word === "running" ? RUNNING : word)))]
}

function print(out: Output, rows: readonly PassRow[], now: number) {
  out.table(
    [
      { title: "ID" },
      { title: "WHEN", align: "right", rank: 2 },
      { title: "WHO" },
      { title: "STATE" },
      { title: "DECISION", rank: 1 },
      { title: "VERDICT", rank: 6 },
      { title: "FINDINGS", align: "right", rank: 4 },
      { title: "COST", align: "right", rank: 5 },
      { title: "OBJECTIVE", grow: true, rank: 3 },
    ],
    rows.map((row) => {
      const { pass, result } = row
      return [
        short(pass.id),
        ago(now - pass.time_created),
        `${pass.originating_agent_id} → ${pass.subagent_id}`,
        { text: stateOf(pass), paint: (cell) => out.paint(STYLES[pass.status], cell) },
        cameTo(row),
        result?.verdict ?? "",
        result && result.issues_found > 0 ? String(result.issues_found) : "",
        result && result.cost > 0 ? money(result.cost) : "",
        pass.objective,
      ]
    }),
  )
}

async function run({ out, options, directory, now }: Invocation) {
  const query = {
    limit: count(options, "limit", 20),
    agent: text(options, "agent"),
    status: statuses(text(options, "status")),
    decision: enumWords(text(options, "decision"), "--decision", ReviewDecision),
    verdict: enumWords(text(options, "verdict"), "--verdict", VerdictStatus),
    text: text(options, "search"),
  }
  const rows = await withHistory<PassRow[]>([], ({ store }) =>
    options.all === true ? store.passes(query) : ofProject(store, directory, query),
  )
  if (out.json) {
    out.value({ passes: rows.map(({ pass, result }) => ({ ...pass, result })) })
    return EXIT.ok
  }
  if (rows.length === 0) {
    out.line(
      options.all === true
        ? "No passes yet."
        : `No passes ${query.status || query.decision || query.verdict || query.agent || query.text ? "like this " : "yet "}in ${projectRoot(directory)}. --all shows those of every project.`,
    )
    return EXIT.ok
  }
  print(out, rows, now())
  return EXIT.ok
}

export const list: Command = {
  name: "list",
  summary: "show the passes of this project, the newest first",
  options: [
    { flags: "--all", text: "of every project" },
    { flags: "--status <words>", text: "running, or states with commas between them" },
    { flags: "--decision <words>", text: "approved, rejected, needs_modification or blocked" },
    { flags: "--verdict <words>", text: "VERIFIED, UNVERIFIED or BLOCKED" },
    { flags: "--agent <name>", text: "with this agent on either side" },
    { flags: "--search <text>", text: "with this in what was asked or answered" },
    { flags: "--limit <n>", text: "how many at most (20)" },
  ],
  examples: [
    "pass-over list",
    "pass-over list --status running --all",
    "pass-over list --verdict UNVERIFIED",
    "pass-over list --agent audit --json",
  ],
  run,
}
