import { resolve } from "node:path"
import { money } from "../../pass-over/domain/envelope"
import { PassOverErrorCode, refuse } from "../../pass-over/domain/errors"
import { issueText } from "../../pass-over/domain/issue-text"
import type { Pass } from "../../pass-over/domain/pass"
import { StartAsk } from "../../pass-over/domain/start"
import { MAX_DURATION_MS, readable } from "../../pass-over/domain/time"
import type { Outcome } from "../../pass-over/service/port"
import type { LivePass } from "../../pass-over/service/port-live"
import { runOutside, startOutside, wasCancelled, type Ran } from "../../outside"
import { oneLine } from "../clean"
import { refused, Stop, text, usage, type Command, type Invocation } from "../command"
import { actor, withEngine } from "../engine"
import { EXIT, type ExitCode } from "../exit"
import { short } from "../find"
import { projectRoot } from "../place"
import { unplaced } from "../sarif"
import { writable, writeSarif } from "../sarif-file"
import { plural } from "../words"
import { ending } from "./show"

const several = (value: unknown): string[] =>
  (Array.isArray(value) ? value : value === undefined ? [] : [value]).filter((one) => typeof one === "string")

const UNITS = { ms: 1, s: 1_000, m: 60_000, min: 60_000, h: 3_600_000 } as const

/** "90s", "10m", "1h"; a bare number is seconds. */
export function duration(given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|min|h)?$/.exec(given.trim()) ?? []
  if (amount === undefined) throw usage(`"${given}" is no time.`, "Write 90s, 10m or 1h.")
  const ms = Math.round(Number(amount) * UNITS[unit as keyof typeof UNITS])
  if (ms < 1) throw usage(`"${given}" is no time to work in.`, "Write 90s, 10m or 1h.")
  if (ms > MAX_DURATION_MS) throw usage(`"${given}" is too long.`, `At most ${readable(MAX_DURATION_MS)} are possible.`)
  return ms
}

function asked({ args: [subagent = "", ...words], options }: Invocation): StartAsk {
  const files = several(options.files)
  const constraints = several(options.constraint)
  const parsed = StartAsk.safeParse({
    subagent,
    objective: words.join(" "),
    reason: text(options, "reason"),
    from: text(options, "from"),
    background: text(options, "background"),
    files: files.length > 0 ? files : undefined,
    constraints: constraints.length > 0 ? constraints : undefined,
    timeout_ms: duration(text(options, "timeout")),
    model: text(options, "model"),
  })
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const name = String(issue?.path[0] ?? "")
  const said = issue ? issueText(issue) : "is not right"
  // A sentence of our own needs no subject and has its full stop.
  throw usage(said.endsWith(".") ? said : `${NAMES[name] ?? `--${name}`} ${said}.`)
}

const NAMES: Record<string, string> = {
  subagent: "The name of the agent",
  objective: "What to do",
  timeout_ms: "The time of --timeout",
  constraints: "A word of --constraint",
}

const VERDICT: Partial<Record<NonNullable<Outcome["output"]["summary"]["decision"]>, ExitCode>> = {
  needs_modification: EXIT.objection,
  rejected: EXIT.objection,
  blocked: EXIT.objection,
}

/** What a script goes on with. */
export function exitOf(outcome: Outcome): ExitCode {
  const { status, summary } = outcome.output
  if (wasCancelled(outcome) || outcome.error_code === PassOverErrorCode.DECLINED) return EXIT.cancelled
  if (status === "failed" || status === "aborted") return EXIT.unsuccessful
  if (status === "partial") return EXIT.partial
  return (summary.decision && VERDICT[summary.decision]) ?? EXIT.ok
}

const PHASES = { starting: "starting", staged: "returning", asking: "asked for its return" } as Record<string, string>

function doing(live: LivePass | undefined): string {
  if (live === undefined) return "queued"
  if (live.waits > 0) return "waiting for you (pass-over inbox)"
  // Its time does not run yet.
  if (live.phase === "starting" && live.deadline_at === null) return "queued"
  return PHASES[live.phase] ?? "working"
}

function told({ subagent_id, time_created }: Pass, live: LivePass | undefined, now: number): string {
  return [
    `${subagent_id} ${doing(live)}`,
    ...(live ? [`step ${live.step}`, `${live.tokens.toLocaleString("en")} tokens`] : []),
    ...(live && live.cost > 0 ? [money(live.cost)] : []),
    readable(now - time_created),
  ].join(" · ")
}

function stopped(refusal: NonNullable<Ran["order"]["refusal"]>): Stop {
  const taken = refusal.code === PassOverErrorCode.CANCELLED
  return new Stop(taken ? EXIT.cancelled : EXIT.refused, refusal.message, refusal.suggestion, refusal.code)
}

/** A first Ctrl+C cancels the pass and waits for what is left of it; a second one ends this at once. */
async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const heard = () => (stop.signal.aborted ? process.exit(EXIT.cancelled) : stop.abort())
  for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, heard)
  try {
    return await work(stop.signal)
  } finally {
    for (const name of ["SIGINT", "SIGTERM"] as const) process.off(name, heard)
  }
}

type Written = { path: string; problem: string | undefined; left_out: number }

function written({ directory, options }: Invocation, pass: Pass, outcome: Outcome): Written | undefined {
  const given = text(options, "sarif")
  if (given === undefined) return undefined
  const path = resolve(directory, given)
  return { path, problem: writeSarif(path, pass, outcome), left_out: unplaced(outcome).length }
}

/** The result in any case: it is paid for, also where the file could not be written. */
function shown(call: Invocation, pass: Pass, outcome: Outcome): ExitCode {
  const { out } = call
  const { output, usage: used, error_code } = outcome
  const file = written(call, pass, outcome)
  const ended = exitOf(outcome)
  const code = file?.problem !== undefined && ended === EXIT.ok ? EXIT.failed : ended
  if (out.json) {
    const sarif = file && { path: file.path, problem: file.problem ?? null, left_out: file.left_out }
    out.value({ pass_over_id: pass.id, exit_code: code, output, usage: used, error_code, ...(sarif ? { sarif } : {}) })
    return code
  }
  ending(out, outcome)
  out.line()
  if (file && file.left_out > 0 && file.problem === undefined)
    out.line(
      `Without a place in a file, so only notes of the run in ${file.path}: ${plural(file.left_out, "finding")}.`,
    )
  out.line(out.paint("dim", `pass-over show ${short(pass.id)} has all of it.`))
  if (file?.problem !== undefined)
    throw new Stop(code, file.problem, "The result above is kept; only the file is missing.")
  return code
}

const gone = (pass: Pass, cancelled: boolean) =>
  new Stop(
    cancelled ? EXIT.cancelled : EXIT.unconfirmed,
    cancelled ? `Pass ${pass.id} was asked to stop.` : `The opencode that ran pass ${pass.id} is gone.`,
    `It is settled when opencode opens ${pass.directory} again; pass-over show ${short(pass.id)} tells how it ended.`,
  )

async function begin(call: Invocation): Promise<ExitCode> {
  const { out, options, env } = call
  const ask = asked(call)
  const starting = {
    directory: projectRoot(call.directory),
    session_id: text(options, "session"),
    ask,
    actor: actor(),
  }
  const file = text(options, "sarif")
  if (file !== undefined && options.wait === false)
    throw usage("--sarif needs the result, and --no-wait does not wait for it.", "Leave one of them out.")
  if (file !== undefined) writable(resolve(call.directory, file))
  return withEngine((engine) =>
    interruptible(async (signal) => {
      if (options.wait === false) {
        const order = await out.progress("Waiting for opencode …", () =>
          startOutside(engine, starting, { signal, env }),
        )
        if (order.refusal) throw stopped(order.refusal)
        const { pass_over_id, start_id } = order
        if (out.json) out.value({ pass_over_id, start_id })
        if (!out.json) out.line(pass_over_id ? `Pass ${pass_over_id} runs.` : `Order ${start_id} waits for opencode.`)
        return pass_over_id ? EXIT.ok : EXIT.unconfirmed
      }
      const ran = await out.progress("Waiting for opencode …", (tell) =>
        runOutside(engine, starting, {
          signal,
          env,
          tell: (pass, live) => tell(oneLine(told(pass, live, Date.now()))),
        }),
      )
      if (ran.order.refusal) throw stopped(ran.order.refusal)
      if (!ran.pass) {
        throw refused(refuse(PassOverErrorCode.RETURN_TIMEOUT, `The order ${ran.order.start_id} is not taken up yet.`))
      }
      if (!ran.outcome) throw gone(ran.pass, signal.aborted)
      return shown(call, ran.pass, ran.outcome)
    }),
  )
}

export const run: Command = {
  name: "run",
  person: true,
  summary: "pass work to an agent from a script or a shell, and wait for the result",
  args: [
    { name: "<agent>", text: "who shall do it" },
    { name: "<objective...>", text: "what to do, and when it is done" },
  ],
  options: [
    { flags: "--from <agent>", text: "the originator, whose preferences and rights hold; alice if not said" },
    { flags: "--session <id>", text: "the opencode session that it belongs to; the result is brought there too" },
    { flags: "--files <path...>", text: "files that matter" },
    { flags: "--constraint <text...>", text: 'what the agent must keep to: read_only, no_network, "paths: src"' },
    { flags: "--background <text>", text: "what the agent has to know" },
    { flags: "--reason <text>", text: "why, in a few words" },
    { flags: "--timeout <time>", text: "how long it may take: 90s, 10m, 1h" },
    { flags: "--model <provider/model>", text: "the model, if not the agent's own" },
    { flags: "--no-wait", text: "do not wait; the id is printed when the pass runs" },
    {
      flags: "--sarif <file>",
      text: "write the findings as SARIF 2.1.0, for code scanning; those without a file are notes of the run",
    },
  ],
  examples: [
    'pass-over run audit "Review the last commit"',
    'pass-over run audit "Review src/total.ts" --files src/total.ts --constraint read_only --timeout 10m',
    'pass-over run audit "Review the last commit" --json --sarif audit.sarif',
    'pass-over run scout "Find where prices are rounded" --no-wait',
  ],
  run: begin,
}
