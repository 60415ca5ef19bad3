import type { WorkArtifact } from "../domain/artifact"
import type { Pass } from "../domain/pass"
import type { Attempt, Commit, OpenPass, Opened, Settled, Store } from "../service/port"
import type { Contents } from "./content"
import { moveDetail, outcomeDetail, passDetail } from "./audit-detail"
import { announce, append, record } from "./record"
import { storable } from "./row"
import { enter, leaveSlot } from "./slot"
import type { Base, Statements } from "./statement"

type Passes = Pick<
  Store,
  "open" | "commit" | "settle" | "settleMany" | "bind" | "stage" | "attempt" | "refuse" | "announce"
>

/** Writes a pass down, and tells it as it is read later. */
function insertPass({ insert }: Statements, input: OpenPass) {
  const { chain_depth, max_chain_depth, ancestors, status, revision, ...given } = input.pass
  const request = storable(given)
  insert.request(request)
  insert.context({ pass_over_id: request.id, context: input.request.work_context, manifest: input.manifest })
  insert.return({
    return_id: input.return_id,
    pass_over_id: request.id,
    session_id: request.session_id,
    auto_return_enabled: input.auto_return_enabled,
    auto_apply_enabled: input.auto_apply_enabled,
    chain_depth,
    max_chain_depth,
    ancestors,
    status,
    revision,
    created_at: request.time_created,
  })
  return { ...input.pass, ...request }
}

// The fence keeps out an owner that was taken for dead: it may still be running, but the pass is not its any more.
const owned = ({ select }: Statements, pass: Pass) => select.fenced.get({ id: pass.id, fence: pass.fence })

const goesOn = ({ select }: Statements, pass: Pass) =>
  select.goesOn.get({ id: pass.id, fence: pass.fence }) !== undefined

/** Moves the return context if nobody moved it first; gives back what of a pass may have changed without a move. */
function moved(run: Statements, { pass, move, at }: Commit) {
  const held = owned(run, pass)
  if (!held) return
  const rows = run.update.moved.all({
    id: pass.id,
    from: move.from,
    to: move.to,
    revision: pass.revision,
    next: move.revision,
    returned_at: move.to === "returned" ? at : null,
  })
  return rows.length === 1 ? held : undefined
}

const stamp = (run: Statements, pass: Pass, times: { time_started?: number; time_ended?: number }) =>
  run.update.stamped.run({ id: pass.id, time_started: null, time_ended: null, ...times })

/** Artifacts as their rows hold them: made ready before the lock is taken. */
export const holdArtifacts = (contents: Contents, artifacts: Settled["artifacts"]) => ({
  given: artifacts,
  held: contents.hold<WorkArtifact>(artifacts.map(({ artifact }) => artifact)),
})

type HeldArtifacts = ReturnType<typeof holdArtifacts>

export function insertArtifacts(
  run: Statements,
  pass_over_id: Pass["id"],
  { given, held }: HeldArtifacts,
  { at, from = 0 }: { at: number; from?: number },
) {
  held.put(pass_over_id, at)
  for (const [index, { artifact_id, artifact }] of given.entries()) {
    const body = held.artifacts[index] ?? artifact
    run.insert.artifact({
      artifact_id,
      pass_over_id,
      position: from + index,
      type: body.type,
      path: body.type === "file_modification" ? body.path : null,
      severity: body.type === "finding" ? body.severity : null,
      body,
    })
  }
}

function insertOutcome(run: Statements, input: Settled, artifacts: HeldArtifacts) {
  const { output } = input
  run.insert.output(
    storable({
      work_id: output.work_id,
      status: output.status,
      completion_reason: output.completion_reason ?? null,
      summary: output.summary,
      auto_apply_allowed: output.auto_apply_allowed,
      metadata: output.metadata,
      usage: input.usage,
      error_code: input.error_code,
      transcript: input.transcript,
      time_created: input.at,
    }),
  )
  insertArtifacts(run, output.work_id, artifacts, { at: input.at })
  run.insert.delivery({
    pass_over_id: output.work_id,
    session_id: input.pass.session_id,
    ...input.delivery,
    time_created: input.at,
  })
}

const putAttempt = (run: Statements, attempt: Attempt) => run.insert.attempt(storable(attempt))

const after = (run: Statements, pass: Pass) => run.pass.byId({ id: pass.id }) ?? pass

/** A move with its audit line and its event; whether it could be made. */
export function applyMove(run: Statements, input: Commit): boolean {
  if (!moved(run, input)) return false
  if (input.move.to === "waiting_for_return") stamp(run, input.pass, { time_started: input.at })
  record(run, input.note, input.event, moveDetail(input))
  return true
}

/** The same, with the pass as it is then, inside a transaction that somebody else holds. */
export const commitMove = (run: Statements, input: Commit): Pass | "stale" =>
  applyMove(run, input) ? after(run, input.pass) : "stale"

type Settling = { input: Settled; artifacts: HeldArtifacts }

const settling = ({ contents }: Base, input: Settled): Settling => ({
  input,
  artifacts: holdArtifacts(contents, input.artifacts),
})

function settle({ run, slots }: Pick<Base, "run" | "slots">, { input, artifacts }: Settling): Pass | "stale" {
  const held = moved(run, input)
  if (!held) return "stale"
  leaveSlot(slots, input.pass.id, input.usage)
  insertOutcome(run, input, artifacts)
  if (input.attempt) putAttempt(run, input.attempt)
  const { completed_at = input.at } = input.output.metadata
  stamp(run, input.pass, { time_ended: completed_at })
  run.update.dropLive.run({ id: input.pass.id })
  run.update.unasked.run({ id: input.pass.id, at: input.at })
  record(run, input.note, input.event, outcomeDetail(input))
  const { to: status, revision } = input.move
  return { ...input.pass, ...held, status, revision, time_ended: held.time_ended ?? completed_at }
}

// Counted here once more, under the lock: passes that are asked for side by side all found none of the others before.
const repeatedOf = ({ select }: Statements, pass: Pass) =>
  select.repeated.get({ ...pass, from: pass.originating_agent_id, to: pass.subagent_id })?.count ?? 0

/** What happens to a pass, each as one transaction with its audit line and its event. */
function openPass(base: Base, input: OpenPass): Opened {
  const { run } = base
  const { session_id, call_id, message_id } = input.pass
  const call = { session_id, call_id, message_id: message_id ?? "" }
  const known = call_id !== null && run.select.called.get(call) ? run.pass.byExactCall({ ...call, call_id }) : undefined
  if (known) return { pass: known, created: false, place: { state: "running" } }
  const { continues_pass_id } = input.pass
  const other = continues_pass_id === null ? undefined : run.pass.continuing({ id: continues_pass_id })
  if (other) return { continued_by: other.id }
  const repeated = repeatedOf(run, input.pass)
  if (repeated >= input.repetitions) return { repeated }
  const place = enter(base, input.pass, input.slot)
  if ("over" in place) return place
  const pass = insertPass(run, input)
  record(run, input.note, input.event, passDetail(input))
  if (input.permitted) append(run, input.permitted, input.event.directory)
  return { pass, created: true, place }
}

function bind(run: Statements, { pass, attempt, event, dispatch }: Parameters<Store["bind"]>[0]): Pass | "stale" {
  // What can still be dispatched goes on.
  if (!(dispatch ? applyMove(run, dispatch) : goesOn(run, pass))) return "stale"
  run.update.bound.run({ id: pass.id, fence: pass.fence, child_session_id: attempt.child_session_id })
  putAttempt(run, attempt)
  announce(run, event)
  const { child_session_id } = attempt
  if (!dispatch) return { ...pass, child_session_id }
  const { move, at: time_started } = dispatch
  return {
    ...pass,
    child_session_id,
    status: move.to,
    revision: move.revision,
    time_started: pass.time_started ?? time_started,
  }
}

export function createPasses(base: Base): Passes {
  const { run, write, soon, contents } = base
  // Its child is bound before it hears a word. Who does not wait is told of a pass at once.
  const opening = (input: OpenPass) => (input.pass.wait ? soon : write)
  return {
    open: (input) => opening(input)(() => openPass(base, input)),

    commit: (input) => write(() => commitMove(run, input)),

    settle: async (input) => {
      const one = settling(base, input)
      return write(() => settle(base, one))
    },

    settleMany: async (inputs) => {
      const all = inputs.map((input) => settling(base, input))
      return write(() => all.filter((one) => settle(base, one) !== "stale").map(({ input }) => input.pass.id))
    },

    bind: (input) => write(() => bind(run, input)),

    stage: async ({ pass, report, event }) => {
      const held = contents.hold(report.artifacts)
      const staged = JSON.stringify({ ...report, artifacts: held.artifacts })
      return write(() => {
        if (!goesOn(run, pass)) return "ended"
        if (run.update.staged.all({ id: pass.id, staged }).length === 0) return "already"
        held.put(pass.id, event.at)
        announce(run, event)
        return "staged"
      })
    },

    attempt: ({ attempt, event }) =>
      write(() => {
        putAttempt(run, attempt)
        announce(run, event)
      }),

    refuse: (entry, event) => write(() => record(run, entry, event)),

    announce: (...events) =>
      soon(() => {
        for (const event of events) announce(run, event)
      }),
  }
}
