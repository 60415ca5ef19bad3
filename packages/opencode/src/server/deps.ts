import type { StartOrder } from "../pass-over/domain/start"
import type { Engine } from "../pass-over/service/engine"
import type { Audit, Verified } from "../pass-over/service/port-audit"
import type { Feed } from "./feed"
import type { Identity, PanelKeys, Secret, Tickets } from "./secret"

/** What the routes are made of. */
export type ServerDeps = {
  engine: Engine
  feed: Feed
  /** The lines of all projects, for reading. */
  audit: Pick<Audit, "query" | "export">
  /** Compares the log files of one project with the database. */
  verify(directory: string): Promise<Verified>
  /** Sees to it that an opencode takes an order up. */
  summon(order: StartOrder): Promise<unknown>
  /** Sees to it that an opencode has what was sent back done again. */
  rework(wanted: { command_id: string; directory: string }): Promise<unknown>
  /** Sees to it that an opencode carries a run. */
  carry(run_id: string): Promise<unknown>
  secret: Secret
  tickets: Tickets
  panels: PanelKeys
  port: () => number
  database: string
  version: string
  /** The user's name, for the audit. */
  user: string
}

export type Env = { Variables: { who: Identity | "nobody" } }

/** Where somebody decides, as the audit names it. */
export const surfaceOf = (who: Identity | "nobody") => (who === "panel" ? "the panel" : "the HTTP API")
