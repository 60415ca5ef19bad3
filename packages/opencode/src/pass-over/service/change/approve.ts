import { approvalOf, type ChangeSet, type Op } from "../../domain/change/change"
import { PassOverErrorCode, refuse, type Refusal } from "../../domain/errors"
import { isAuto, told, type Gate } from "../../domain/gate"
import type { Pass } from "../../domain/pass"
import { policyOf, valuesOf } from "../../domain/policy"
import { standStill, type Engine } from "../engine"
import { heldIn } from "../flow-held"
import { answerTo, openGate, ttlOf, type NewGate, type Surface } from "../gate"
import type { Permit } from "./apply"
import type { Target } from "./target"

const SHOWN = 200

export type Approving = {
  pass: Pass
  /** Its files are not told where something is taken back: what was written was approved with them. */
  change: Pick<ChangeSet, "change_id"> & Partial<Pick<ChangeSet, "files">>
  undo?: boolean
  asked_by: string
  /** The session whose agent waits for the answer. */
  session_id?: string | undefined
  surface?: Surface | undefined
}

export type Approval = Pick<Approving, "pass" | "change" | "undo" | "asked_by"> & {
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
export const approvalGate = ({ pass, change, undo, asked_by, ops, approval, ttl_ms, auto }: Approval): NewGate => ({
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

const ASKED = refuse(
  PassOverErrorCode.DECLINED,
  "A person is asked about this already, and nobody sits here to answer.",
  {
    suggestion: "Go on without it: what they say comes as a message.",
  },
)

/**
 * The answer that counts for this one application; a refusal where there is none to wait for. A yes is good for one:
 * after an undo it is asked again. A person's no to exactly this content stands. Where nobody answered, or the answer was
 * a question, it may be asked again.
 */
async function decided(engine: Engine, wanted: NewGate, surface: Surface | undefined): Promise<Gate | Refusal> {
  for (let round = 1; ; round += 1) {
    const key = round === 1 ? wanted.key : `${wanted.key}:${round}`
    const { gate } = await openGate(engine, { ...wanted, key })
    // It waits as long as nobody waits for it.
    if (engine.headless && gate.status === "pending" && isAuto(gate)) return ASKED
    const answered = await answerTo(engine, gate, surface)
    const first = await engine.store.actOn(answered.gate_id, engine.clock.now())
    if (answered.status === "approved" && first) return answered
    // Whoever comes second to an answer that nobody had to wait for does not write the same again.
    if (answered.status === "approved" && gate.time_acted === null && isAuto(gate)) return ELSEWHERE
    if (answered.status === "rejected" && answered.answered_by !== null) return answered
    // What was asked just now has its answer, whatever that is; what was answered before is asked once more.
    if (answered.status !== "approved" && gate.status === "pending") return answered
  }
}

/** Asks a person before changes are applied, where the policy wants one, and waits for the answer. */
export const allowChange =
  (engine: Engine, { pass, change, undo = false, asked_by, session_id, surface }: Approving): Permit =>
  async (ops: readonly Op[], { tree }: Target) => {
    // What is written into a tree of ours is proposed to the user with all that is in it.
    if (tree) return
    const others = await heldIn(engine.store, pass, { files: change.files ?? [] })
    if (![pass, ...others].some((each) => valuesOf(each).require_user_approval)) return
    const approval = approvalOf(ops, engine.hash)
    const ttl_ms = ttlOf(engine, pass)
    const wanted = approvalGate({ pass, change, undo, asked_by, ops, approval, ttl_ms })
    const waiting = session_id === undefined ? undefined : engine.running.byChild(session_id)
    const gate = await standStill(engine.running, waiting, () =>
      decided(engine, wanted, engine.headless ? undefined : surface),
    )
    if ("code" in gate) return gate
    if (gate.status === "approved") return
    return refuse(PassOverErrorCode.DECLINED, `Nothing was written: it was ${told(gate)}.`, {
      suggestion:
        "Say what the user wanted instead, or leave these files out. Whoever changes their mind writes it themselves, in the panel or in a terminal of their own.",
    })
  }
