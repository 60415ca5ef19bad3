import type { ChangeSet } from "../../opencode/src/pass-over/domain/change/change"
import type { Verdict } from "../../opencode/src/pass-over/domain/change/review"
import type { Refusal } from "../../opencode/src/pass-over/domain/errors"
import type { Pass } from "../../opencode/src/pass-over/domain/pass"
import {
  changeOf,
  lastApplied,
  review,
  undoOne,
  verifyCommand,
  type AppliedAndVerified,
} from "../../opencode/src/pass-over/service/change/act"
import { applyByPerson, showToPerson, type Shown } from "../../opencode/src/pass-over/service/change/by-person"
import { changesOf } from "../../opencode/src/pass-over/service/change/deps"
import { sendBack } from "../../opencode/src/pass-over/service/change/send-back"
import { tellApplied } from "../../opencode/src/pass-over/service/change/tell"
import { settled } from "../../opencode/src/pass-over/service/command"
import type { Engine } from "../../opencode/src/pass-over/service/engine"

/** A change as it is decided about here, with the command of the user's that an application runs. */
export type Proposal = Shown & { check: string | undefined }

export type Said = { ok: boolean; text: string }

export type Changes = {
  /** What a pass wants to change, or has changed; nothing where it is neither. */
  of(pass: Pass): Promise<Proposal | undefined>
  review(pass: Pass, change_id: string, verdicts: readonly Verdict[]): Promise<Said>
  /** Writes exactly what was shown. */
  apply(pass: Pass, shown: Proposal): Promise<Said>
  undo(pass: Pass): Promise<Said>
  /** Has what was declined done again. */
  sendBack(pass: Pass, change_id: string): Promise<Said>
}

// The opencode around this terminal looks several times a second.
const PATIENCE_MS = 3_000

const no = ({ message, suggestion }: Refusal): Said => ({ ok: false, text: `${message} ${suggestion}` })

const told = (done: AppliedAndVerified): Said => {
  if (!done.ok) return no(done.refusal)
  const { verification } = done
  return { ok: !verification || verification.exit_code === 0, text: tellApplied(done, "Undo") }
}

export function createChanges(engine: Engine, actor: string): Changes {
  const files = changesOf(engine)
  if (!files) throw new Error("Files cannot be changed here.")
  const deps = files

  /** The change as it is written down now, found again by its name. */
  async function known(pass: Pass, change_id: string, work: (change: ChangeSet) => Promise<Said>): Promise<Said> {
    const found = await changeOf(deps, pass, change_id)
    return found.ok ? work(found.change) : no(found.refusal)
  }

  return {
    async of(pass) {
      const found = await changeOf(deps, pass)
      if (!found.ok) return
      return { ...(await showToPerson(deps, found.change)), check: verifyCommand(pass) }
    },
    review: (pass, change_id, verdicts) =>
      known(pass, change_id, async (change) => {
        const stray = await review(deps, { pass, change, verdicts, actor })
        return stray ? no(stray) : { ok: true, text: "" }
      }),
    apply: (pass, { change_id, approval }) =>
      known(pass, change_id, async (change) =>
        told(await applyByPerson(engine, deps, { pass, change, actor, approval: approval ?? "" })),
      ),
    async undo(pass) {
      const application = await lastApplied(deps, { pass_over_id: pass.id })
      return told(await undoOne(deps, { application, actor }))
    },
    sendBack: (pass, change_id) =>
      known(pass, change_id, async (change) => {
        const sent = await sendBack(engine, deps, { pass, change, actor, rework: true })
        if (!sent.ok) return no(sent.refusal)
        const state = await settled(engine, sent.command_id, PATIENCE_MS)
        if (state?.status === "pending")
          return { ok: true, text: "It goes back as soon as an opencode has this project open." }
        return { ok: true, text: state?.result ?? "It went back." }
      }),
  }
}
