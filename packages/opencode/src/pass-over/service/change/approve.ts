import { approvalOf, type ChangeSet, type Op } from "../../domain/change/change"
import { PassOverErrorCode, refuse } from "../../domain/errors"
import { told, type Gate } from "../../domain/gate"
import type { Pass } from "../../domain/pass"
import type { Effective } from "../../domain/preference"
import { policyOf, ttlOf } from "../begin"
import { standStill, type Engine } from "../engine"
import { answerTo, openGate, type NewGate, type Surface } from "../gate"
import type { Permit } from "./apply"
import type { Target } from "./target"

const SHOWN = 200

export type Approving = {
  pass: Pass
  change: Pick<ChangeSet, "change_id">
  undo?: boolean
  asked_by: string
  /** The session whose agent waits for the answer. */
  session_id?: string | undefined
  surface?: Surface | undefined
}

/**
 * The answer that counts for this one application. A yes is good for one: after an undo it is asked again. A person's no
 * to exactly this content stands. Where nobody answered, or the answer was a question, it may be asked again.
 */
async function decided(engine: Engine, wanted: NewGate, surface: Surface | undefined): Promise<Gate> {
  for (let round = 1; ; round += 1) {
    const key = round === 1 ? wanted.key : `${wanted.key}:${round}`
    const { gate } = await openGate(engine, { ...wanted, key })
    const answered = await answerTo(engine, gate, surface)
    if (answered.status === "approved" && (await engine.store.actOn(answered.gate_id, engine.clock.now()))) {
      return answered
    }
    if (answered.status === "rejected" && answered.answered_by !== null) return answered
    // What was asked just now has its answer, whatever that is; what was answered before is asked once more.
    if (answered.status !== "approved" && gate.status === "pending") return answered
  }
}

/**
 * Asks a person before changes are applied, where the policy wants one. The question is bound to the exact paths and
 * contents: another content is another question, and an answer to this one says nothing about it.
 */
export const allowChange =
  (engine: Engine, { pass, change, undo = false, asked_by, session_id, surface }: Approving): Permit =>
  async (ops: readonly Op[], { tree }: Target) => {
    // What is written into a tree of ours is proposed to the user with all that is in it.
    if (tree) return
    const values = pass.preference.values as Partial<Effective>
    if (values.require_user_approval === false) return
    const approval = approvalOf(ops, engine.hash)
    const wanted: NewGate = {
      key: `${change.change_id}:${approval}`,
      kind: "approval",
      pass,
      session_id: pass.root_session_id,
      directory: pass.directory,
      asked_by,
      question: `May ${asked_by} ${undo ? "take back" : "write"} ${ops.length} file${ops.length === 1 ? "" : "s"} of ${pass.subagent_id}'s change? ${ops
        .slice(0, 20)
        .map(({ path }) => path)
        .join(", ")}`,
      detail: { change_id: change.change_id, approval, ops: ops.slice(0, SHOWN), operations: ops.length },
      policy: policyOf(pass, "require_user_approval"),
      default_action: values.gate_default ?? "reject",
      ttl_ms: ttlOf(engine, pass),
    }
    const waiting = session_id === undefined ? undefined : engine.running.byChild(session_id)
    const gate = await standStill(engine.running, waiting, () =>
      decided(engine, wanted, engine.headless ? undefined : surface),
    )
    if (gate.status === "approved") return
    return refuse(PassOverErrorCode.DECLINED, `Nothing was written: it was ${told(gate)}.`, {
      suggestion:
        "Say what the user wanted instead, or leave these files out. Whoever changes their mind writes it themselves, in the panel or in a terminal of their own.",
    })
  }
