import { approvalOf, type ChangeSet, type Op } from "../../domain/change/change"
import { PassOverErrorCode, refuse } from "../../domain/errors"
import { told } from "../../domain/gate"
import type { Pass } from "../../domain/pass"
import { policyOf, valuesOf } from "../../domain/policy"
import { ttlOf } from "../begin"
import type { Engine } from "../engine"
import { askPerson, type Surface } from "../gate"
import type { Permit } from "./apply"
import type { Target } from "./target"

const SHOWN = 200

export type Approving = { pass: Pass; change: ChangeSet; asked_by: string; surface?: Surface | undefined }

/**
 * Asks a person before changes are applied, where the policy wants one. The question is bound to the exact paths and
 * contents: another content is another question, and an answer to this one says nothing about it.
 */
export const allowChange =
  (engine: Engine, { pass, change, asked_by, surface }: Approving): Permit =>
  async (ops: readonly Op[], { tree }: Target) => {
    // What is written into a tree of ours is proposed to the user with all that is in it.
    if (tree) return
    const values = valuesOf(pass)
    if (!values.require_user_approval) return
    const approval = approvalOf(ops, engine.hash)
    const gate = await askPerson(
      engine,
      {
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
        detail: { change_id: change.change_id, approval, ops: ops.slice(0, SHOWN), operations: ops.length },
        policy: policyOf(pass, "require_user_approval"),
        default_action: values.gate_default,
        ttl_ms: ttlOf(engine, pass),
      },
      engine.headless ? undefined : surface,
    )
    if (gate.status === "approved") {
      await engine.store.actOn(gate.gate_id, engine.clock.now())
      return
    }
    return refuse(PassOverErrorCode.DECLINED, `Nothing was written: it was ${told(gate)}.`, {
      suggestion: "Say what the user wanted instead, or leave these files out.",
    })
  }
