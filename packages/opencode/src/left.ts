import { Database } from "bun:sqlite"
import { existsSync } from "node:fs"

/**
 * What an opencode has to look after as soon as it starts: passes that somebody else runs or has left, results that
 * have not come, questions that are open, work that was asked for. Whoever finds none of it need not hurry.
 */
export const LEFT: readonly string[] = [
  "select 1 from pass_over_owners",
  "select 1 from return_contexts where status in ('initial', 'waiting_for_return')",
  "select 1 from pass_over_deliveries where status <> 'delivered' and mode <> 'none'",
  "select 1 from work_outputs where transcript = 'unread'",
  "select 1 from pass_over_gates where status = 'pending'",
  "select 1 from pass_over_commands where status = 'pending'",
  "select 1 from pass_over_starts where state in ('pending', 'claimed')",
  "select 1 from pass_over_flow_runs where status in ('running', 'waiting', 'paused')",
  "select 1 from pass_over_flow_deliveries where status <> 'delivered' and mode <> 'none'",
  "select 1 from pass_over_flow_commands where status = 'pending'",
]

/**
 * Looks without any of our own machinery, so that opencode starts as fast as without us. Where it cannot tell it says
 * yes: the machinery knows what to say of a database that is broken, older or newer.
 */
export function somethingLeft(path: string): boolean {
  if (!existsSync(path)) return false
  try {
    using database = new Database(path, { readonly: true })
    return LEFT.some((sql) => database.query(`${sql} limit 1`).get() !== null)
  } catch {
    return true
  }
}
