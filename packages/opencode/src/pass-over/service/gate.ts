import { PassOverErrorCode, refuse, type Refusal } from "../domain/errors"
import { told, type Gate, type GateAnswer, type GateKind } from "../domain/gate"
import { event, note, type Pass } from "../domain/pass"
import { sourceOf, valuesOf } from "../domain/policy"
import type { Engine } from "./engine"

export type NewGate = {
  key: string
  kind: GateKind
  pass: Pass | undefined
  run_id?: string
  session_id: string
  directory: string
  asked_by: string
  question: string
  detail?: Record<string, unknown>
  policy: string
  default_action: Gate["default_action"]
  ttl_ms: number
}

/** A place besides the inbox where the same question is put, such as the host's own dialog. Nothing when it cannot say. */
export type Surface = (gate: Gate, signal: AbortSignal) => Promise<GateAnswer | undefined>

const subject = (gate: Pick<Gate, "pass_over_id" | "run_id" | "session_id" | "directory">) => ({
  id: (gate.pass_over_id ?? gate.run_id ?? gate.session_id) as Pass["id"],
  session_id: gate.session_id,
  directory: gate.directory,
})

// Where nobody sits the default holds soon, unless somebody has said how long it may take.
const HEADLESS_TTL_MS = 60_000

/** How long a question may stay open that somebody waits for. */
export function ttlOf({ headless }: Pick<Engine, "headless">, pass: Pass): number {
  const { gate_ttl_ms } = valuesOf(pass)
  const source = sourceOf(pass, "gate_ttl_ms")
  const said = source !== undefined && source.origin !== "product"
  return headless && !said ? Math.min(HEADLESS_TTL_MS, gate_ttl_ms) : gate_ttl_ms
}

type Asking = Pick<Engine, "clock" | "ids" | "store">

/** Writes a question down, or finds it where it was asked before. */
export async function openGate(engine: Asking, wanted: NewGate): Promise<{ gate: Gate; created: boolean }> {
  const at = engine.clock.now()
  const { pass, ttl_ms, run_id, ...rest } = wanted
  const gate: Gate = {
    detail: {},
    ...rest,
    gate_id: engine.ids.make("gat"),
    pass_over_id: pass?.id ?? null,
    run_id: run_id ?? null,
    status: "pending",
    note: null,
    answered_by: null,
    surface: null,
    time_created: at,
    time_expires: at + ttl_ms,
    time_answered: null,
    time_acted: null,
  }
  return engine.store.ask({
    gate,
    event: event(subject(gate), "gate.asked", at, { gate_id: gate.gate_id, kind: gate.kind, question: gate.question }),
    ...(pass ? { note: note(pass, { action: "asked", actor: wanted.asked_by, at, summary: gate.question }) } : {}),
  })
}

export type Answered = { ok: true; gate: Gate } | { ok: false; refusal: Refusal }

/** Answers a question. Whoever comes second is told who was first. */
export async function answerGate(engine: Engine, gate_id: string, answer: GateAnswer): Promise<Answered> {
  const known = await engine.store.gate(gate_id)
  if (!known) {
    return { ok: false, refusal: refuse(PassOverErrorCode.NOT_FOUND, `No question ${gate_id} is known.`) }
  }
  const at = engine.clock.now()
  const pass = known.pass_over_id === null ? undefined : await engine.store.find(known.pass_over_id)
  const { first, gate = known } = await engine.store.answerGate({
    gate_id,
    answer,
    at,
    event: event(subject(known), "gate.answered", at, { gate_id, verdict: answer.verdict, by: answer.by }),
    ...(pass
      ? {
          note: note(pass, {
            action: "answered",
            actor: answer.by ?? "default",
            at,
            summary: `${known.kind}: ${answer.verdict}${answer.note ? `, ${answer.note}` : ""}`,
            detail: { gate: { kind: known.kind, verdict: answer.verdict } },
          }),
        }
      : {}),
  })
  engine.gates.tell(gate)
  if (first) return { ok: true, gate }
  return {
    ok: false,
    refusal: refuse(PassOverErrorCode.STALE_REVISION, `This was ${told(gate)}.`, {
      suggestion: "Nothing is left to answer here.",
      detail: { gate_id, status: gate.status },
    }),
  }
}

/** What holds when nobody answered. Whoever answers in the same moment was faster. */
async function expire(engine: Engine, gate: Gate): Promise<void> {
  await answerGate(engine, gate.gate_id, { verdict: gate.default_action, note: null, by: null, surface: "default" })
}

/** Waits for the answer to a question, wherever it is given; a surface may put it to a person at the same time. */
export async function answerTo(engine: Engine, gate: Gate, surface?: Surface): Promise<Gate> {
  if (gate.status !== "pending") return gate
  const answered = Promise.withResolvers<Gate>()
  const over = new AbortController()
  const off = engine.gates.on(gate.gate_id, (heard) => {
    if (heard.status !== "pending") answered.resolve(heard)
  })
  const failed = (error: unknown) =>
    engine.log("warn", "a question could not be answered", { gate_id: gate.gate_id, error: String(error) })
  const unarm = engine.clock.after(Math.max(1, gate.time_expires - engine.clock.now()), () => {
    expire(engine, gate).catch(failed)
  })
  surface?.(gate, over.signal)
    .then((answer) => (answer ? answerGate(engine, gate.gate_id, answer).then(() => {}) : undefined))
    .catch(failed)
  try {
    // It may have been answered between its being written and our listening.
    const now = await engine.store.gate(gate.gate_id)
    if (now && now.status !== "pending") return now
    return await answered.promise
  } finally {
    unarm()
    off()
    over.abort()
  }
}

/** Nobody waits for this answer any more: whoever does is told. */
export async function withdrawGate(engine: Engine, gate_id: string) {
  await engine.store.withdraw({ gate_id, at: engine.clock.now() })
  const gate = await engine.store.gate(gate_id)
  if (gate && gate.status !== "pending") engine.gates.tell(gate)
}

/** Something in the database has changed: maybe somebody elsewhere has answered. */
export async function lookAtGates(engine: Engine) {
  for (const gate_id of engine.gates.ids()) {
    const gate = await engine.store.gate(gate_id)
    if (gate && gate.status !== "pending") engine.gates.tell(gate)
  }
}

/** Gates that nobody waits for any more have their time to live too. */
export async function expireGates(engine: Engine) {
  for (const gate of await engine.store.overdue(engine.clock.now())) await expire(engine, gate)
}
