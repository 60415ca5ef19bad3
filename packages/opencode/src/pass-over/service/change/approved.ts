import { AutoApproval, told, type Gate } from "../../domain/gate"
import { resultMarks } from "../../domain/marker"
import type { Pass } from "../../domain/pass"
import type { Engine, Project } from "../engine"
import { applyAndVerify, changeOf, review } from "./act"
import { approvalFor } from "./apply"
import { AUTO, rest } from "./auto"
import { changesOf, type ChangeDeps } from "./deps"
import { plan } from "./plan"
import { targetOf } from "./target"
import { AGENTS_UNDO, tellApplied } from "./tell"

const OTHER = "Nothing was written: what would be written now is not what was approved."

/** Writes exactly what was approved, and says how that ended. */
async function writing(deps: ChangeDeps, pass: Pass, gate: Gate): Promise<string> {
  const { change_id, approval } = AutoApproval.parse(gate.detail)
  const found = await changeOf(deps, pass, change_id)
  if (!found.ok) return `Nothing was written: ${found.refusal.message}`
  const { change } = found
  const said = await deps.store.verdicts(change.change_id)
  const verdicts = rest(change, said)
  const target = await targetOf(deps.store, pass, change.directory)
  // Somebody may have declined a part of it since: then this is another question.
  const planned = await plan(deps, change, [...said, ...verdicts], approvalFor(deps, target))
  if (!planned.ok || planned.planned.approval !== approval) return OTHER
  const actor = gate.answered_by ?? AUTO
  if (verdicts.length > 0) await review(deps, { pass, change, verdicts, actor })
  return tellApplied(await applyAndVerify(deps, { pass, change, actor, approval }), AGENTS_UNDO)
}

/** The same, also where it could not be carried through: whoever asked for it hears of it in any case. */
const written = (deps: ChangeDeps, pass: Pass, gate: Gate): Promise<string> =>
  writing(deps, pass, gate).catch((error: unknown) => {
    deps.log("error", "what was approved could not be written", { pass_over_id: pass.id, error: String(error) })
    return `It could not be written: ${error instanceof Error ? error.message : String(error)}`
  })

/** Whether its originator reads of it: not where it has asked for no result, or was not given this one. */
async function hears({ store }: Pick<Engine, "store">, pass: Pass): Promise<boolean> {
  if (!pass.return_required || pass.status === "cancelled" || pass.status === "timed_out") return false
  return (await store.delivery(pass.id))?.status !== "held"
}

async function tell(engine: Engine, { host }: Project, pass: Pass, text: string) {
  const outcome = await engine.store.outcome(pass.id)
  const now = await engine.store.find(pass.id)
  if (!outcome || !now || !(await hears(engine, now))) return
  await host.deliver({
    session_id: pass.session_id,
    message_id: host.messageID(pass.id),
    text,
    start: false,
    of: pass.id,
    metadata: resultMarks(pass, outcome.output),
  })
}

/** Carries out what a person has said to a change that applies itself once they approve, and tells its originator. */
export async function applyOrDrop(engine: Engine, project: Project, gate: Gate) {
  const deps = changesOf(engine)
  const pass = gate.pass_over_id === null ? undefined : await engine.store.find(gate.pass_over_id)
  if (!deps || !pass) return
  const { change_id } = AutoApproval.parse(gate.detail)
  // Somebody has applied it another way meanwhile, and may have taken it back: there is nothing left to answer.
  const before = await deps.store.applications({ pass_over_id: pass.id })
  const applied = before.filter(({ kind, status }) => kind === "apply" && (status === "done" || status === "undone"))
  if (applied.some((one) => one.change_id === change_id)) return
  const how = gate.status === "approved" ? await written(deps, pass, gate) : "Nothing was written."
  await tell(engine, project, pass, `What ${pass.subagent_id} proposed in pass ${pass.id} was ${told(gate)}.\n${how}`)
}
