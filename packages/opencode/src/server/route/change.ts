import { Hono } from "hono"
import type { z } from "zod"
import { PassOverErrorCode, refuse } from "../../pass-over/domain/errors"
import type { PassID } from "../../pass-over/domain/id"
import { changeOf, lastApplied, review, undoOne } from "../../pass-over/service/change/act"
import { applyByPerson, showToPerson } from "../../pass-over/service/change/by-person"
import { changesOf, type ChangeDeps } from "../../pass-over/service/change/deps"
import { sendBack, type SendingBack } from "../../pass-over/service/change/send-back"
import { settled } from "../../pass-over/service/command"
import type { Application, Verification } from "../../pass-over/service/port-change"
import type { Env, ServerDeps } from "../deps"
import { answers, reads } from "../describe"
import { refused } from "../failure"
import { Ordered, PassParam } from "../schema"
import { unknown } from "./pass"
import * as Schema from "../schema-decide"

type Written = z.infer<typeof Schema.Written>
type Ordered = z.infer<typeof Ordered>

function filesOf(deps: ServerDeps): ChangeDeps {
  const files = changesOf(deps.engine)
  if (!files) throw refused(refuse(PassOverErrorCode.RESOURCE_EXHAUSTED, "Files cannot be changed here."))
  return files
}

async function found(deps: ServerDeps, files: ChangeDeps, id: PassID, change_id: string | undefined) {
  const pass = await deps.engine.store.find(id)
  if (!pass) throw unknown(id)
  const known = await changeOf(files, pass, change_id)
  if (!known.ok) throw refused(known.refusal)
  return { pass, change: known.change }
}

const written = (application: Application, verification: Verification | undefined): Written => {
  const { apply_id, kind, status, actor, time_done } = application
  return {
    application: { apply_id, kind, status, actor, time_done, verification: verification ?? application.verification },
  }
}

const tag = "changes"

// Whoever has the project open looks several times a second.
const PATIENCE_MS = 1_500

/** Has it done again, by whichever opencode; the answer tells what became of it where that is known already. */
async function reworked(deps: ServerDeps, files: ChangeDeps, back: Omit<SendingBack, "rework">): Promise<Ordered> {
  const { engine } = deps
  const sent = await sendBack(engine, files, { ...back, rework: true })
  if (!sent.ok) throw refused(sent.refusal)
  const { command_id } = sent
  void deps
    .rework({ command_id, directory: back.pass.directory })
    .catch((error: unknown) =>
      engine.log("warn", "an opencode could not be started", { command_id, error: String(error) }),
    )
  const state = await settled(engine, command_id, PATIENCE_MS)
  if (state?.status === "pending")
    return { state: "handed_over", text: "It goes back as soon as an opencode takes it up." }
  return { state: "done", text: state?.result ?? "It went back." }
}

function reviewRoutes(deps: ServerDeps) {
  return new Hono<Env>()
    .get(
      "/:id/changes",
      answers({ id: "listChanges", tag, summary: "Read what a pass proposes to change" }, Schema.Changes),
      reads("param", PassParam),
      async (c) => {
        const files = filesOf(deps)
        const { id } = c.req.valid("param")
        if (!(await deps.engine.store.find(id))) throw unknown(id)
        const all = await deps.engine.store.changes(id)
        return c.json({ items: await Promise.all(all.map((change) => showToPerson(files, change))) })
      },
    )
    .post(
      "/:id/review",
      answers({ id: "reviewChange", tag, summary: "Accept or decline files and hunks" }, Schema.Change),
      reads("param", PassParam),
      reads("json", Schema.Review),
      async (c) => {
        const files = filesOf(deps)
        const { change_id, verdicts } = c.req.valid("json")
        const { pass, change } = await found(deps, files, c.req.valid("param").id, change_id)
        const stray = await review(files, { pass, change, verdicts, actor: deps.user })
        if (stray) throw refused(stray)
        return c.json(await showToPerson(files, change))
      },
    )
    .post(
      "/:id/send-back",
      answers(
        {
          id: "sendBackChange",
          tag,
          summary: "Send what was declined back to be done again",
          description:
            "The child goes on in its own session, as a new pass that continues this one, and reads what was declined and why; its originator is told, and gets the result as a message. Where the child cannot go on, the originator does. Of a result that is held for a person or was kept back the originator is told nothing. An opencode that has the project open carries it out; where there is none, one is started. After an apply the originator is told by itself what was declined.",
        },
        Ordered,
      ),
      reads("param", PassParam),
      reads("json", Schema.SendBack),
      async (c) => {
        const files = filesOf(deps)
        const { pass, change } = await found(deps, files, c.req.valid("param").id, c.req.valid("json").change_id)
        return c.json(await reworked(deps, files, { pass, change, actor: deps.user }))
      },
    )
}

/** What a pass has changed or proposes to change: reviewed by file and hunk, applied as it was shown, and undone. */
export function changeRoutes(deps: ServerDeps) {
  return new Hono<Env>()
    .route("/", reviewRoutes(deps))
    .post(
      "/:id/apply",
      answers(
        {
          id: "applyChange",
          tag,
          summary: "Apply what was accepted",
          description:
            "All of it or nothing, and only what `approval` names: paths and contents exactly as they were shown.",
        },
        Schema.Written,
      ),
      reads("param", PassParam),
      reads("json", Schema.Apply),
      async (c) => {
        const files = filesOf(deps)
        const { change_id, approval } = c.req.valid("json")
        const { pass, change } = await found(deps, files, c.req.valid("param").id, change_id)
        const applied = await applyByPerson(deps.engine, files, { pass, change, approval, actor: deps.user })
        if (!applied.ok) throw refused(applied.refusal)
        return c.json(written(applied.application, applied.verification))
      },
    )
    .post(
      "/:id/undo",
      answers({ id: "undoChange", tag, summary: "Take back what was applied of a pass" }, Schema.Written),
      reads("param", PassParam),
      reads("json", Schema.Undo),
      async (c) => {
        const files = filesOf(deps)
        const application = await lastApplied(files, { pass_over_id: c.req.valid("param").id })
        const undone = await undoOne(files, { application, actor: deps.user })
        if (!undone.ok) throw refused(undone.refusal)
        return c.json(written(undone.application, undefined))
      },
    )
}
