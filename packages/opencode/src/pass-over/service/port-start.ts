import type { OwnerID, PassID, SessionID } from "../domain/id"
import type { StartOrder } from "../domain/start"

export type StartEnd = { pass_over_id: PassID } | { refusal: NonNullable<StartOrder["refusal"]> }

/** Orders to start a pass, from outside of opencode. */
export type StartStore = {
  askStart(order: StartOrder): Promise<void>
  start(start_id: string): Promise<StartOrder | undefined>
  /** Those that nobody has dealt with yet, the oldest first. */
  openStarts(filter: { directory?: string }): Promise<StartOrder[]>
  /** Takes one in hand: a pending one, or one whose owner is gone (`from`). Only one of several who try gets it. */
  claimStart(input: { start_id: string; from: OwnerID | null; owner_id: OwnerID }): Promise<boolean>
  /** The session that was made for it, written down before anything happens there. */
  placeStart(input: { start_id: string; owner_id: OwnerID; session_id: SessionID }): Promise<boolean>
  /** What became of it, said by who has it in hand; by anybody (`owner_id: null`) only while nobody has. */
  endStart(input: { start_id: string; owner_id: OwnerID | null } & StartEnd): Promise<boolean>
}
