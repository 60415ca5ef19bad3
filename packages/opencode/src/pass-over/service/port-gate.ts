import type { Gate, GateAnswer, GateKind, GateStatus } from "../domain/gate"
import type { PassID } from "../domain/id"
import type { AuditNote, PassEvent } from "../domain/pass"

export type GateFilter = {
  directory?: string | undefined
  session_id?: string | undefined
  pass_over_id?: PassID | undefined
  run_id?: string | undefined
  kind?: GateKind | undefined
  status?: readonly GateStatus[] | undefined
  /** Only those whose answer nobody has carried out yet. */
  unacted?: boolean | undefined
  /** Only those that were asked after this one. */
  after?: string | undefined
  limit?: number | undefined
}

export type Answering = { gate_id: string; answer: GateAnswer; at: number; note?: AuditNote; event: PassEvent }

/** Questions to people. Each method is one whole operation. */
export type GateStore = {
  /** Asks, or finds what was asked under the same key before. */
  ask(input: { gate: Gate; event: PassEvent; note?: AuditNote }): Promise<{ gate: Gate; created: boolean }>
  gate(gate_id: string): Promise<Gate | undefined>
  gates(filter: GateFilter): Promise<Gate[]>
  /** The first answer counts; whoever comes later is shown it. */
  answerGate(input: Answering): Promise<{ first: boolean; gate: Gate | undefined }>
  /** Pending gates whose time is over. */
  overdue(at: number): Promise<Gate[]>
  /** Takes it on oneself to carry out an answer, once. */
  actOn(gate_id: string, at: number): Promise<boolean>
  /** Nobody waits for this answer any more. What a pass or a run asks is withdrawn with the end of it. */
  withdraw(input: { gate_id: string; at: number }): Promise<void>
}
