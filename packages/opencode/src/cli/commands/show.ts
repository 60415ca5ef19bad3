import { place, type FindingArtifact, type WorkArtifact } from "../../pass-over/domain/artifact"
import { headline } from "../../pass-over/domain/envelope"
import { describeManifest } from "../../pass-over/domain/manifest"
import { findingsOf } from "../../pass-over/domain/outcome"
import type { Pass } from "../../pass-over/domain/pass"
import { transcriptItem } from "../../pass-over/domain/transcript"
import { inOrder } from "../../pass-over/domain/transcript-order"
import { readable } from "../../pass-over/domain/time"
import type { Engine } from "../../pass-over/service/engine"
import type { Outcome } from "../../pass-over/service/port"
import { readTranscript } from "../../pass-over/service/transcript"
import { clean, oneLine } from "../clean"
import type { Command, Invocation } from "../command"
import { withEngine } from "../engine"
import { EXIT } from "../exit"
import { findPass, short } from "../find"
import type { Output, Style } from "../output"
import { printTranscript } from "../transcript"
import { stateOf } from "./list"

const SEVERITY: Record<FindingArtifact["severity"], Style> = { error: "red", warning: "yellow", info: "cyan" }

async function read({ store }: Engine, given: string, whole: boolean) {
  const pass = await findPass(store, given)
  const [outcome, kept, attempts, happened, below, said] = await Promise.all([
    store.outcome(pass.id),
    store.request(pass.id),
    store.attempts(pass.id),
    store.eventsOf(pass.id, 500),
    store.list({ parent_pass_id: pass.id }),
    whole ? readTranscript(store, pass.id) : [],
  ])
  return { pass, outcome, kept, attempts, happened, below, transcript: inOrder(said.flatMap(transcriptItem)) }
}

const time = (at: number) => new Date(at).toISOString().replace("T", " ").slice(0, 19)

function head(out: Output, pass: Pass, now: number) {
  const end = pass.time_ended ?? now
  const rows: [string, string][] = [
    ["pass", pass.id],
    ["who", [...pass.ancestors, pass.subagent_id].join(" → ")],
    ["state", stateOf(pass)],
    [
      "began",
      `${time(pass.time_created)} UTC, ${readable(end - pass.time_created)}${pass.time_ended ? "" : " so far"}`,
    ],
    ["limit", readable(pass.timeout_ms)],
    ["policy", pass.policy],
    ["project", pass.directory],
    ...(pass.continues_pass_id ? [["goes on", `from ${pass.continues_pass_id}`] as [string, string]] : []),
    ...(pass.child_session_id ? [["session", pass.child_session_id] as [string, string]] : []),
    ["asked", pass.objective],
  ]
  for (const [name, value] of rows) out.line(`${out.paint("dim", name.padEnd(8))} ${oneLine(value)}`)
}

function findings(out: Output, outcome: Outcome) {
  const all = findingsOf(outcome.output)
  if (all.length === 0) return
  out.line()
  for (const { severity, category, message, location, suggested_fix } of all) {
    const at = location ? `${oneLine(place(location))}: ` : ""
    out.line(`  ${out.paint(SEVERITY[severity], severity.padEnd(7))} ${at}${oneLine(message)} (${oneLine(category)})`)
    if (suggested_fix) out.line(`          ${out.paint("dim", `fix: ${oneLine(suggested_fix)}`)}`)
  }
}

function artifact(item: WorkArtifact): string | undefined {
  if (item.type === "file_modification") {
    const unsure = item.confidence === "low" ? " (not sure about it)" : ""
    return `file      ${oneLine(item.path)}: ${oneLine(item.reason)}${unsure}`
  }
  if (item.type === "decision") return `decision  ${oneLine(item.question)}: ${item.answer}, ${oneLine(item.reasoning)}`
  if (item.type === "message") return `message   ${oneLine(item.content).slice(0, 300)}`
  return undefined
}

export function ending(out: Output, outcome: Outcome) {
  const { output, usage, error_code } = outcome
  out.line()
  out.line(out.paint("bold", headline(output, usage.cost)))
  if (error_code) {
    const why = oneLine(output.completion_reason ?? "")
    // Some reasons begin with the code already.
    out.line(`ended with ${why.startsWith(error_code) ? why : [error_code, why].filter(Boolean).join(": ")}`)
  }
  for (const { code, message } of output.summary.errors ?? [])
    out.line(out.paint("yellow", `${code} on the way: ${oneLine(message)}`))
  if (output.summary.decision_reason) out.line(clean(output.summary.decision_reason))
  for (const { claim, why } of output.summary.verdict?.unresolved ?? [])
    out.line(out.paint("yellow", `not verified: ${oneLine(claim)} (${oneLine(why)})`))
  if (outcome.held)
    out.line(out.paint("yellow", "It waits for a person before it reaches its originator: pass-over inbox."))
  if (outcome.dropped) out.line(out.paint("yellow", "It was kept back from its originator."))
  findings(out, outcome)
  const others = output.artifacts.flatMap((item) => artifact(item) ?? [])
  if (others.length > 0) out.line()
  for (const line of others) out.line(`  ${line}`)
}

async function run({ out, args: [given = ""], options, now }: Invocation) {
  const whole = options.transcript === true
  const found = await withEngine((engine) => read(engine, given, whole))
  const { pass, outcome, kept, attempts, happened, below, transcript } = found
  if (out.json) {
    const request = kept ? { request: kept.request, manifest: kept.manifest } : {}
    const passes = below.map((one) => one.id)
    out.value({
      pass,
      ...request,
      outcome: outcome ?? null,
      attempts,
      events: happened.events,
      events_left: happened.left,
      passes,
      ...(whole ? { transcript } : {}),
    })
    return EXIT.ok
  }
  head(out, pass, now())
  if (kept) out.line(`${out.paint("dim", "sent".padEnd(8))} ${describeManifest(kept.manifest)}`)
  for (const one of attempts.slice(1)) {
    out.line(
      `${out.paint("dim", "again".padEnd(8))} ${one.kind}${one.error_message ? `: ${oneLine(one.error_message)}` : ""}`,
    )
  }
  for (const one of below) {
    out.line(`${out.paint("dim", "passed".padEnd(8))} ${short(one.id)} → ${one.subagent_id}, ${stateOf(one)}`)
  }
  printTranscript(out, transcript, pass.subagent_id)
  if (outcome) ending(out, outcome)
  return EXIT.ok
}

export const show: Command = {
  name: "show",
  summary: "show one pass: what was asked, what went along, how it ended",
  args: [{ name: "<id>", text: "the id of a pass, or enough of its beginning or end" }],
  options: [{ flags: "--transcript", text: "what its child was told, said and did as well" }],
  examples: ["pass-over show 3f9c21aa", "pass-over show 3f9c21aa --transcript", "pass-over show 3f9c21aa --json"],
  run,
}
