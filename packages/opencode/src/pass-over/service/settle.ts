import { ofDatabase, told } from "../domain/errors"
import { returnMarker } from "../domain/marker"
import type { WorkOutput } from "../domain/output"
import { event, type Pass } from "../domain/pass"
import { open } from "../domain/return-context"
import { remaining } from "../domain/run"
import type { Failure } from "../domain/retry"
import { autoApply, barred } from "./change/auto"
import { changesOf } from "./change/deps"
import { observe } from "./change/place"
import { takeChanges } from "./change/take"
import { tellUnread } from "./change/unread"
import { conclude, modeOf, surely, unmade, unmakeable, type Facts, type Taken } from "./conclude"
import { madeAbove } from "./lineage"
import { endAttempt, takeOffered, type Live, type RunDeps } from "./live"
import type { Clock, Outcome, Settled } from "./port"
import { within } from "./within"

// Salvage must not make an outcome late: what cannot be told in this time is read afterwards, and added.
const SALVAGE_MS = 200
const SALVAGE_SHARE = 0.04
// Where its time is not up yet: a huge tree does not hold an outcome back for longer than this.
const CHANGES_MS = 10_000
// An outcome that cannot be written down is tried again before the originator gets it unrecorded.
const PAUSES_MS = [50, 250, 1_000]

const pause = (clock: Clock, ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))

/** The outcome that somebody else gave a pass. Whoever takes one over claims it first and writes a moment later. */
async function theirs(deps: RunDeps, pass: Pass): Promise<Outcome | undefined> {
  for (const wait of [...PAUSES_MS, 0]) {
    const [outcome, now] = await Promise.all([deps.store.outcome(pass.id), deps.store.find(pass.id)])
    if (outcome) return now?.fence === pass.fence ? outcome : { ...outcome, taken: true }
    if (wait > 0) await pause(deps.clock, wait)
  }
  return undefined
}

/** What is written down of an outcome; of one that cannot be written down in any form, that it cannot. */
function concluded(deps: RunDeps, live: Live, known: Facts, ours: Outcome): [Outcome, Settled | undefined] {
  const { pass, left } = live
  const facts = { ...known, pass }
  // The tool call that waited for it goes with its host.
  const mode = modeOf(left ? { ...pass, wait: false } : pass)
  try {
    return [ours, conclude(deps.ids, facts, ours, mode)]
  } catch (error) {
    unmakeable(deps, pass)(error)
    const less = unmade(facts, error)
    return [less, conclude(deps.ids, facts, less, mode)]
  }
}

/** Whoever reads later what its child did looks for its return, which may not have been written down when it came. */
async function stageLate(deps: RunDeps, live: Live) {
  const { report, pass, staging } = live
  if (!report || (await staging) !== "unstaged") return
  await deps.store.stage({ pass, report, event: event(pass, "pass.staged", deps.clock.now()) })
  delete live.staging
}

/** One try to write an outcome down; nothing where it is to be tried again. */
async function tried(deps: RunDeps, live: Live, facts: Facts, made: { ours: Outcome }): Promise<Outcome | undefined> {
  const [outcome, input] = concluded(deps, live, facts, made.ours)
  made.ours = outcome
  if (!input) return outcome
  await stageLate(deps, live)
  const result = await deps.store.settle(input)
  if (result !== "stale") {
    live.pass = result
    return outcome
  }
  // A step of our own was on its way, as the binding of the child: the pass is still ours to end.
  const now = await deps.store.find(live.pass.id)
  if (!now || !open(now.status) || now.fence !== live.pass.fence) return (await theirs(deps, live.pass)) ?? outcome
  live.pass = now
  return undefined
}

/** Writes an outcome down. Whoever ended the pass first has the last word: then theirs is the outcome. */
export async function record(deps: RunDeps, live: Live, facts: Facts, ours: Outcome): Promise<Outcome> {
  const made = { ours }
  let failed: unknown
  for (const wait of [...PAUSES_MS, 0]) {
    try {
      const outcome = await tried(deps, live, facts, made)
      if (outcome) return outcome
    } catch (error) {
      failed = error
      deps.log("error", "an outcome could not be recorded", { pass_over_id: live.pass.id, error: String(error) })
      if (wait > 0) await pause(deps.clock, wait)
    }
  }
  if (!ofDatabase(failed)) return made.ours
  // Somebody waits for it; its place stays taken until it is written down.
  if (failed.recoverable) deps.late.add(live.pass.id, async () => !!(await tried(deps, live, facts, made)))
  return { ...made.ours, unrecorded: told(failed) }
}

/**
 * Makes the one outcome of a pass out of its return, or out of what is left of its child, and writes it down. It comes
 * whatever goes wrong: somebody waits for it, and a place is given back with it.
 */
export async function settle(deps: RunDeps, live: Live, failure: Failure | undefined): Promise<Outcome> {
  const known = { above: [], messages: undefined, taken: undefined }
  takeOffered(live, failure)
  try {
    return await settled(deps, live, failure)
  } catch (error) {
    unmakeable(deps, live.pass)(error)
    const facts = factsOf(deps, live, failure, known)
    return record(deps, live, facts, unmade(facts, error))
  }
}

type Known = Pick<Facts, "above" | "messages" | "taken"> & { late?: boolean }

export function factsOf(deps: RunDeps, live: Live, failure: Failure | undefined, known: Known): Facts {
  const at = deps.clock.now()
  return {
    pass: live.pass,
    report: live.report,
    failure,
    usage: live.run.usage,
    at,
    completed_at: at,
    wall_ms: Math.round(deps.clock.mono() - live.began.mono),
    waited_ms: Math.round(live.run.waited_ms),
    attempt: endAttempt(live, at, failure),
    ...known,
  }
}

async function settled(deps: RunDeps, live: Live, failure: Failure | undefined): Promise<Outcome> {
  const { pass } = live
  const child = pass.child_session_id
  const left = Math.max(0, remaining(live.run, deps.clock.mono()))
  const grace = Math.max(SALVAGE_MS, pass.timeout_ms * SALVAGE_SHARE)
  const [above, messages, taken] = await Promise.all([
    // An outcome never fails because of it.
    madeAbove(deps.store, pass).catch(() => []),
    child === null ? [] : within(deps.clock, SALVAGE_MS, deps.host.messages(child)),
    within(deps.clock, Math.min(CHANGES_MS, left + grace), taking(deps, live)),
  ])
  const late = (taken?.later ?? true) && child !== null
  const facts = { ...factsOf(deps, live, failure, { above, messages, taken: taken?.of, late }), pass }
  return applied(deps, live, await record(deps, live, facts, surely(facts, unmakeable(deps, pass))))
}

/** What the policy lets apply itself is applied before the originator reads of it. */
async function applied(deps: RunDeps, live: Live, outcome: Outcome): Promise<Outcome> {
  const files = changesOf(deps)
  if (!files) return outcome
  return autoApply(files, live.pass, outcome, deps.mayEdit).catch((error: unknown) => {
    deps.log("error", "a result could not be applied by itself", { pass_over_id: live.pass.id, error: String(error) })
    return outcome
  })
}

/** Reads what it changed, for as long as that takes: who needs it later waits for it in `taking`. */
function taking(deps: RunDeps, live: Live): Promise<Read> {
  const work = changed(deps, live)
  deps.taking.set(live.pass.id, work)
  void work.then(() => deps.taking.delete(live.pass.id))
  return work
}

/** `later`: it could not even be written down that there is something to read. */
type Read = { of: Taken | undefined; later: boolean }

/** What it changed and wants changed. An outcome never fails because of it. */
async function changed(deps: RunDeps, live: Live): Promise<Read> {
  const files = changesOf(deps)
  const { workspace } = live
  const known = (of: Taken | undefined): Read => ({ of, later: false })
  if (!files) return known(undefined)
  try {
    const taken = await takeChanges(files, live.pass, {
      report: live.report,
      observed: await observe(deps, live),
      barred: (some) => barred(files, live.pass, some, deps.mayEdit),
    })
    return known(taken)
  } catch (error) {
    const failed = (error: unknown) =>
      deps.log("error", "changes could not be recorded", { pass_over_id: live.pass.id, error: String(error) })
    failed(error)
    if (!workspace) return { of: undefined, later: ofDatabase(error) }
    live.unread = true
    return tellUnread(files, live.pass, { workspace, error }).then(known, (again: unknown) => {
      failed(again)
      return { of: undefined, later: true }
    })
  }
}

/** The last line of a child's transcript: the host prints "interrupted" there, which would be read as a failure. */
export async function farewell(deps: Pick<RunDeps, "host">, pass: Pass, output: WorkOutput) {
  if (!pass.child_session_id) return
  const { decision } = output.summary
  const verdict = output.status === "completed" ? (decision ?? "completed") : output.status
  await deps.host.close(
    pass.child_session_id,
    `returned to ${pass.originating_agent_id}: ${verdict}`,
    returnMarker(output),
  )
}
