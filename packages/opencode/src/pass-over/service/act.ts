import { isAuto, type Gate, type GateKind } from "../domain/gate"
import { applyOrDrop } from "./change/approved"
import { releaseOrDrop } from "./deliver"
import type { Engine, Project } from "./engine"
import { expireGates, lookAtGates } from "./gate"

type Act = {
  kind: GateKind
  /** Where somebody waits, the answer itself is all that is needed. */
  alone: (gate: Gate) => boolean
  carry: (engine: Engine, project: Project, gate: Gate) => Promise<void>
}

// What follows an answer that nobody waits for.
const ACTS: readonly Act[] = [
  { kind: "delivery", alone: () => true, carry: releaseOrDrop },
  { kind: "approval", alone: isAuto, carry: applyOrDrop },
]

async function act(engine: Engine, project: Project) {
  for (const { kind, alone, carry } of ACTS) {
    // Of this kind alone: most others are never acted on here, and there are more of them with every day.
    const answered = await engine.store.gates({
      directory: project.directory,
      kind,
      status: ["approved", "rejected", "questioned"],
      unacted: true,
    })
    for (const gate of answered) {
      if (!alone(gate) || !(await engine.store.actOn(gate.gate_id, engine.clock.now()))) continue
      // One that fails does not keep the others from their turn.
      await carry(engine, project, gate).catch((error: unknown) =>
        engine.log("error", "an answer could not be carried out", { gate_id: gate.gate_id, error: String(error) }),
      )
    }
  }
}

/** Carries out answers that nobody waits for. A user's own check may be part of that, and takes its time. */
export async function actOnAnswers(engine: Engine) {
  for (const project of engine.projects.values()) await act(engine, project)
}

/** Something in the database has changed: answers that are waited for are heard, others are carried out. */
export async function attendGates(engine: Engine) {
  await lookAtGates(engine)
  await actOnAnswers(engine)
}

/** Questions whose time is over get their default answer. */
export async function tendGates(engine: Engine) {
  await expireGates(engine)
  await attendGates(engine)
}
