import { approvalOf, type ChangeSet, type Op } from "../../domain/change/change"
import { PassOverErrorCode, refuse } from "../../domain/errors"
import { AutoApproval, told } from "../../domain/gate"
import type { Pass } from "../../domain/pass"
import { policyOf, valuesOf } from "../../domain/policy"
import type { Engine } from "../engine"
import { answerTo, openGate, ttlOf, type NewGate, type Surface } from "../gate"
import type { Permit } from "./apply"
import type { Target } from "./target"

const SHOWN = 200

export type Approving = { pass: Pass; change: ChangeSet; asked_by: string; surface?: Surface | undefined }

export type Approval = Pick<Approving, "pass" | "change" | "asked_by"> & {
  ops: readonly Op[]
  approval: string
  ttl_ms: number
  /** Nobody waits for the answer: it is carried out by whoever has the project open. */
  auto?: boolean
}

/**
 * The question to a person whether changes may be applied. It is bound to the exact paths and contents: another content
 * is another question, and an answer to this one says nothing about it.
 */
export const approvalGate = ({ pass, change, asked_by, ops, approval, ttl_ms, auto }: Approval): NewGate => ({
  key: `${change.change_id}:${approval}`,
  kind: "approval",
  pass,
  session_id: pass.root_session_id,
  directory: pass.directory,
  asked_by,
  question: `May ${asked_by} write ${ops.length} file${ops.length === 1 ? "" : "s"} of ${pass.subagent_id}'s change? ${ops
    .slice(0, 20)
    .map(({ path }) => path)
    .join(", ")}`,
  detail: {
    change_id: change.change_id,
    approval,
    ops: ops.slice(0, SHOWN),
    operations: ops.length,
    ...(auto ? { auto } : {}),
  },
  policy: policyOf(pass, "require_user_approval"),
  default_action: valuesOf(pass).gate_default,
  ttl_ms,
})

const ELSEWHERE = refuse(PassOverErrorCode.STALE_REVISION, "It was approved, and is being applied already.", {
  suggestion: "pass_over_review with the id shows how it stands.",
})

/** Asks a person before changes are applied, where the policy wants one, and waits for the answer. */
export const allowChange =
  (engine: Engine, { pass, change, asked_by, surface }: Approving): Permit =>
  async (ops: readonly Op[], { tree }: Target) => {
    // What is written into a tree of ours is proposed to the user with all that is in it.
    if (tree) return
    if (!valuesOf(pass).require_user_approval) return
    const approval = approvalOf(ops, engine.hash)
    const wanted = approvalGate({ pass, change, asked_by, ops, approval, ttl_ms: ttlOf(engine, pass) })
    const { gate: asked } = await openGate(engine, wanted)
    const gate = await answerTo(engine, asked, engine.headless ? undefined : surface)
    const first = await engine.store.actOn(gate.gate_id, engine.clock.now())
    if (gate.status === "approved") {
      // Whoever comes second to an answer that nobody had to wait for does not write the same again.
      return !first && AutoApproval.safeParse(asked.detail).success && asked.time_acted === null ? ELSEWHERE : undefined
    }
    return refuse(PassOverErrorCode.DECLINED, `Nothing was written: it was ${told(gate)}.`, {
      suggestion: "Say what the user wanted instead, or leave these files out.",
    })
  }
