import type { ChangeSet } from "../../domain/change/change"
import type { Verdict } from "../../domain/change/review"
import { PassOverErrorCode, refuse, type Refusal } from "../../domain/errors"
import { event, note, type Pass } from "../../domain/pass"
import { valuesOf } from "../../domain/policy"
import type { Application, Verification } from "../port-change"
import { apply, approvalFor, type Applied, type Permit } from "./apply"
import type { ChangeDeps } from "./deps"
import { checkVerdicts, plan } from "./plan"
import { targetOfChange } from "./target"
import { undo } from "./undo"

const none = (pass: Pass) =>
  refuse(PassOverErrorCode.NOT_FOUND, `Pass ${pass.id} wants no file changed.`, {
    suggestion: "Read its findings with pass_over_read instead.",
  })

/** The change of a pass that is decided about: the latest, or the one that is named. */
export async function changeOf(
  deps: ChangeDeps,
  pass: Pass,
  change_id?: string,
): Promise<{ ok: true; change: ChangeSet } | { ok: false; refusal: Refusal }> {
  const all = await deps.store.changes(pass.id)
  const change = change_id === undefined ? all.at(-1) : all.find((one) => one.change_id === change_id)
  return change ? { ok: true, change } : { ok: false, refusal: none(pass) }
}

export type Reviewing = { pass: Pass; change: ChangeSet; verdicts: readonly Verdict[]; actor: string }

/** Writes down what somebody decided about files and hunks. Words about things that are not there are refused. */
export async function review(
  deps: ChangeDeps,
  { pass, change, verdicts, actor }: Reviewing,
): Promise<Refusal | undefined> {
  const stray = await checkVerdicts(deps, change, verdicts)
  if (stray) return stray
  const at = deps.clock.now()
  const accepted = verdicts.filter((verdict) => verdict.accepted).length
  const outcome = await deps.store.outcome(pass.id)
  const summary = [
    `accepted ${accepted}, declined ${verdicts.length - accepted} of ${change.change_id}`,
    ...verdicts
      .filter((verdict) => !verdict.accepted)
      .map(
        ({ path, hunk, reason }) =>
          `declined ${path}${hunk === null ? "" : `#${hunk}`}: ${reason ?? "no reason given"}`,
      ),
  ].join("; ")
  await deps.store.review(
    change.change_id,
    verdicts.map((verdict) => ({ ...verdict, actor, time_created: at })),
    {
      note: note(pass, { action: "reviewed", actor, at, output: outcome?.output, summary: summary.slice(0, 2_000) }),
      event: event(pass, "pass.reviewed", at, {
        change_id: change.change_id,
        actor,
        accepted,
        verdicts: verdicts.length,
      }),
    },
  )
  return undefined
}

/** What an application would write just now, for whoever has to approve it. */
export async function preview(deps: ChangeDeps, change: ChangeSet) {
  const [verdicts, target] = await Promise.all([
    deps.store.verdicts(change.change_id),
    targetOfChange(deps.store, change),
  ])
  return plan(deps, change, verdicts, approvalFor(deps, target))
}

/** The command with which what was applied is checked, where the user has named one. */
export const verifyCommand = (pass: Pass) => valuesOf(pass).verify_command

/** Runs the user's own check over what was applied, and writes down how it ended. */
export async function verify(
  deps: ChangeDeps,
  pass: Pass,
  application: Application,
  command: string,
): Promise<Verification> {
  const verification = { command, ...(await deps.run(command, application.directory)) }
  await deps.store.verified(application.apply_id, verification)
  await deps.store.announce(
    event(pass, "pass.verified", deps.clock.now(), {
      apply_id: application.apply_id,
      exit_code: verification.exit_code,
      duration_ms: verification.duration_ms,
    }),
  )
  return verification
}

export type AppliedAndVerified = Applied & { verification?: Verification | undefined }

export type ApplyingAll = {
  pass: Pass
  change: ChangeSet
  actor: string
  approval?: string | undefined
  permit?: Permit | undefined
  /** Whether the user's check may run; it is a shell command. */
  mayVerify?: ((command: string) => Promise<boolean>) | undefined
}

/** Applies what was accepted and runs the user's check over it. */
export async function applyAndVerify(deps: ChangeDeps, applying: ApplyingAll): Promise<AppliedAndVerified> {
  const applied = await apply(deps, applying)
  const command = verifyCommand(applying.pass)
  if (!applied.ok || !command) return applied
  if (applying.mayVerify && !(await applying.mayVerify(command))) return applied
  return { ...applied, verification: await verify(deps, applying.pass, applied.application, command) }
}

const nothing = refuse(PassOverErrorCode.NOT_FOUND, "There is nothing to undo here.", {
  suggestion: "pass-over audit query --action applied shows what was applied.",
})

/** The application that an undo without further words means: the last one that stands. */
export async function lastApplied(
  deps: ChangeDeps,
  where: { pass_over_id?: Pass["id"]; directory?: string },
): Promise<Application | undefined> {
  const all = await deps.store.applications({ ...where, limit: 1_000 })
  const done = all.filter((one) => one.status === "done")
  const known = new Map(all.map((one) => [one.apply_id, one]))
  return done.find((one) => stands(one, known)) ?? done[0]
}

/** Whether its files are in place by it: taking back what took something back is applying it again. */
function stands({ kind, undoes }: Application, known: ReadonlyMap<string, Application>): boolean {
  if (kind === "apply") return true
  const taken = undoes === null ? undefined : known.get(undoes)
  return taken !== undefined && !stands(taken, known)
}

export type UndoingOne = {
  application: Application | undefined
  actor: string
  permit?: Permit | undefined
}

/** Takes an application back, whichever pass it was of. */
export async function undoOne(deps: ChangeDeps, { application, actor, permit }: UndoingOne): Promise<Applied> {
  const pass = application && (await deps.store.find(application.pass_over_id))
  if (!application || !pass) return { ok: false, refusal: nothing }
  return undo(deps, { pass, application, actor, permit })
}
