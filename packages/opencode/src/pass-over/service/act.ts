import type { Gate, GateKind } from "../domain/gate"
import { releaseOrDrop } from "./deliver"
import type { Engine, Project } from "./engine"
import { expireGates, lookAtGates } from "./gate"

// What follows an answer that nobody waits for. Where somebody waits, the answer itself is all that is needed.
const ACTS: Partial<Record<GateKind, (engine: Engine, project: Project, gate: Gate) => Promise<void>>> = {
  delivery: releaseOrDrop,
}

async function act(engine: Engine, project: Project) {
  const answered = await engine.store.gates({
    directory: project.directory,
    status: ["approved", "rejected", "questioned"],
    unacted: true,
  })
  for (const gate of answered) {
    const carry = ACTS[gate.kind]
    if (!carry || !(await engine.store.actOn(gate.gate_id, engine.clock.now()))) continue
    await carry(engine, project, gate)
  }
}

/** Something in the database has changed: answers that are waited for are heard, others are carried out. */
export async function attendGates(engine: Engine) {
  await lookAtGates(engine)
  for (const project of engine.projects.values()) await act(engine, project)
}

/** Questions whose time is over get their default answer. */
export async function tendGates(engine: Engine) {
  await expireGates(engine)
  await attendGates(engine)
}
