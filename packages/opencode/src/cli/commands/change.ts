import type { ChangeSet } from "../../pass-over/domain/change/change"
import { verdictsOf } from "../../pass-over/domain/change/target"
import { PassOverErrorCode, refuse, type Refusal } from "../../pass-over/domain/errors"
import type { Pass } from "../../pass-over/domain/pass"
import { changeOf, lastApplied, preview, review as decide, undoOne } from "../../pass-over/service/change/act"
import { undecided } from "../../pass-over/service/change/auto"
import { applyByPerson } from "../../pass-over/service/change/by-person"
import { sendBack } from "../../pass-over/service/change/send-back"
import { settled } from "../../pass-over/service/command"
import type { Engine } from "../../pass-over/service/engine"
import { callForRework } from "../../standby/rework"
import { changesOf, type ChangeDeps } from "../../pass-over/service/change/deps"
import { tellApplied } from "../../pass-over/service/change/tell"
import { viewChange, type FileView } from "../../pass-over/service/change/view"
import type { AppliedAndVerified } from "../../pass-over/service/change/act"
import { clean, cleanPatch, oneLine } from "../clean"
import { refused, Stop, text, usage, type Command, type Invocation } from "../command"
import { actor, withEngine } from "../engine"
import { EXIT } from "../exit"
import { findPass, short } from "../find"
import { projectRoot } from "../place"

type Changing = { deps: ChangeDeps; pass: Pass; change: ChangeSet }

const NO_FILES = refuse(PassOverErrorCode.RESOURCE_EXHAUSTED, "Files cannot be changed here.")

/** There is such a pass; only that there is nothing to do with it is not what a script hoped for. */
const nothing = ({ message, code }: Refusal, suggestion: string) => new Stop(EXIT.failed, message, suggestion, code)

const PASS = { name: "<id>", text: "the id of a pass, or enough of its beginning or end" }

/** The change that a pass wants, or has made, for as long as `work` takes. */
const withChange = <T>(
  { args: [given = ""] }: Invocation,
  work: (changing: Changing, engine: Engine) => Promise<T>,
): Promise<T> =>
  withEngine(async (engine) => {
    const deps = changesOf(engine)
    if (!deps) throw refused(NO_FILES)
    const pass = await findPass(engine.store, given)
    const found = await changeOf(deps, pass)
    if (!found.ok) throw nothing(found.refusal, `pass-over show ${short(pass.id)} has what it said.`)
    return work({ deps, pass, change: found.change }, engine)
  })

const stateOf = ({ taken, declined }: FileView) => {
  if (taken === "all") return "accepted"
  if (taken === "none") return declined.length > 0 ? "declined" : "undecided"
  return `accepted hunks ${taken.join(", ")}`
}

async function show({ out, options }: Invocation, { deps, change, pass }: Changing) {
  const view = await viewChange(deps, change)
  if (out.json) return out.value({ pass_over_id: pass.id, ...view })
  for (const file of view.files) {
    out.line(
      `${out.paint("bold", oneLine(file.line))} · ${stateOf(file)}${file.hunks > 1 ? ` · ${file.hunks} hunks` : ""}`,
    )
    if (file.refused !== null) out.line(out.paint("red", `  can never be applied: ${oneLine(file.refused)}`))
    for (const { hunk, reason } of file.declined)
      out.line(`  declined${hunk === null ? "" : ` #${hunk}`}: ${oneLine(reason ?? "no reason given")}`)
    if (options.patch === true && file.patch !== null) out.line(cleanPatch(file.patch))
  }
  for (const note of view.notes) out.line(out.paint("dim", `note: ${oneLine(note)}`))
  out.line()
  out.line(out.paint("dim", `pass-over apply ${short(pass.id)} writes what is accepted.`))
}

const several = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : []

// Another opencode may have to be started first.
const PATIENCE_MS = 30_000

/** Has what was declined done again by the agent itself, and says what came of that. */
async function again({ out, env }: Invocation, engine: Engine, { deps, pass, change }: Changing) {
  const sent = await sendBack(engine, deps, { pass, change, actor: actor(), rework: true })
  if (!sent.ok) throw refused(sent.refusal)
  const { command_id } = sent
  const { why, state } = await out.progress("Waiting for opencode …", async () => {
    const why = await callForRework(engine, { command_id, directory: pass.directory }, env)
    return { why, state: await settled(engine, command_id, why ? 0 : PATIENCE_MS) }
  })
  const done = state !== undefined && state.status !== "pending"
  const said = done
    ? (state.result ?? "")
    : `${why ? `${why.message} ` : ""}It goes back as soon as an opencode is open there.`
  if (out.json) out.value({ pass_over_id: pass.id, done, text: said })
  if (!out.json) out.line(oneLine(said))
  return done ? EXIT.ok : EXIT.unconfirmed
}

async function judge(call: Invocation) {
  const [accept, reject] = [several(call.options.accept), several(call.options.reject)]
  const reason = text(call.options, "reason") ?? ""
  if (reason !== "" && reject.length === 0)
    throw usage("--reason says why something is declined: name it with --reject.")
  return withChange(call, async (changing, engine) => {
    const { deps, pass, change } = changing
    const words = { accept, reject: Object.fromEntries(reject.map((target) => [target, reason])) }
    const verdicts = verdictsOf(change, words)
    const stray = verdicts.length > 0 ? await decide(deps, { pass, change, verdicts, actor: actor() }) : undefined
    if (stray) throw refused(stray)
    if (call.options.rework === true) return again(call, engine, changing)
    await show(call, changing)
    return EXIT.ok
  })
}

function told({ out }: Invocation, done: AppliedAndVerified, pass_over_id: string) {
  if (!done.ok && done.refusal.code === PassOverErrorCode.NOT_FOUND)
    throw nothing(done.refusal, done.refusal.suggestion)
  if (!done.ok) throw refused(done.refusal)
  const { application, verification } = done
  const paths = application.ops.map(({ path }) => path)
  if (out.json) out.value({ pass_over_id, apply_id: application.apply_id, paths, verification: verification ?? null })
  if (!out.json) {
    out.line(clean(tellApplied(done, `pass-over undo ${short(pass_over_id)}`)))
    for (const path of paths) out.line(`  ${oneLine(path)}`)
  }
  return verification && verification.exit_code !== 0 ? EXIT.failed : EXIT.ok
}

const write = (call: Invocation) =>
  withChange(call, async (changing, engine) => {
    const { deps, pass, change } = changing
    if (call.options.all === true) {
      // What somebody has decided about stays as they decided it.
      const verdicts = await undecided(deps, change)
      const stray = verdicts.length > 0 ? await decide(deps, { pass, change, verdicts, actor: actor() }) : undefined
      if (stray) throw refused(stray)
    }
    const planned = await preview(deps, change)
    if (!planned.ok) throw refused(planned.refusal)
    const { approval } = planned.planned
    return told(call, await applyByPerson(engine, deps, { pass, change, actor: actor(), approval }), pass.id)
  })

const takeBack = (call: Invocation) =>
  withEngine(async (engine) => {
    const deps = changesOf(engine)
    if (!deps) throw refused(NO_FILES)
    const [given] = call.args
    const pass = given === undefined ? undefined : await findPass(engine.store, given)
    const where = pass ? { pass_over_id: pass.id } : { directory: projectRoot(call.directory) }
    const application = await lastApplied(deps, where)
    return told(call, await undoOne(deps, { application, actor: actor() }), application?.pass_over_id ?? "")
  })

export const review: Command = {
  name: "review",
  person: ({ accept, reject, rework }) => [accept, reject, rework].some((given) => given !== undefined),
  summary: "show what a pass wants to change, and accept or decline files and hunks",
  args: [PASS],
  options: [
    { flags: "--accept <target...>", text: 'a file, a hunk of it ("src/a.ts#2"), or "*"' },
    { flags: "--reject <target...>", text: "the same, declined" },
    { flags: "--reason <text>", text: "why it is declined; its originator reads it" },
    { flags: "--rework", text: "send what is declined back to the agent, which does it again in its own session" },
    { flags: "--patch", text: "with the differences themselves" },
  ],
  examples: [
    "pass-over review 3f9c21aa --patch",
    "pass-over review 3f9c21aa --accept src/a.ts src/b.ts#2",
    'pass-over review 3f9c21aa --reject src/c.ts --reason "not part of this"',
    'pass-over review 3f9c21aa --reject src/c.ts --reason "keep the old name" --rework',
  ],
  run: judge,
}

export const apply: Command = {
  name: "apply",
  person: true,
  summary: "write what was accepted of a pass, all of it or nothing",
  args: [PASS],
  options: [{ flags: "--all", text: "accept first what nobody has decided about" }],
  examples: ["pass-over apply 3f9c21aa", "pass-over apply 3f9c21aa --all"],
  run: write,
}

export const undo: Command = {
  name: "undo",
  person: true,
  summary: "take back exactly what was applied; the last of this project without an id, and once more to bring it back",
  args: [{ name: "[id]", text: PASS.text }],
  examples: ["pass-over undo", "pass-over undo 3f9c21aa"],
  run: takeBack,
}
