import { describeManifest } from "../../opencode/src/pass-over/domain/manifest"
import { headline } from "../../opencode/src/pass-over/domain/envelope"
import type { Pass } from "../../opencode/src/pass-over/domain/pass"
import { newTokens } from "../../opencode/src/pass-over/domain/run"
import type { Engine } from "../../opencode/src/pass-over/service/engine"
import { searchable, type Ended, type Entry, type Told } from "./history-view"

// A page is read in a few milliseconds: the terminal draws between two of them.
const PAGE = 100
const REFUSALS = 1_000
const LINES = 60

export type Cursor = { id: string; at: number }
export type Page = { entries: Entry[]; next: Cursor | undefined }

export type History = {
  /** What has ended in this project, the latest first, page by page: passes, and refusals, which never became one. */
  page(from?: Cursor): Promise<Page>
  /** Everything that is told of one pass. */
  told(pass: Pass): Promise<Told>
}

export function createHistory({ store }: Pick<Engine, "store">, directory: string): History {
  async function page(from?: Cursor): Promise<Page> {
    const rows = await store.passes({ directory, after: from?.id, limit: PAGE })
    const last = rows.length === PAGE ? rows.at(-1)?.pass : undefined
    const { lines } = await store.queryAudit({
      directory,
      action: "refused",
      limit: REFUSALS,
      // Those of the same time as the passes of this page.
      ...(last ? { start_time: last.time_created } : {}),
      ...(from ? { end_time: from.at - 1 } : {}),
    })
    const ended: Ended[] = [
      ...rows
        .filter(({ pass }) => pass.time_ended !== null)
        .map((row): Ended => ({ kind: "pass", id: row.pass.id, at: row.pass.time_created, ...row })),
      ...lines.map((line): Ended => ({ kind: "refusal", id: line.pass_over_id, at: line.timestamp, line })),
    ]
    const now = Date.now()
    return {
      entries: ended.toSorted((a, b) => b.at - a.at).map((entry) => searchable(entry, now)),
      next: last && { id: last.id, at: last.time_created },
    }
  }

  async function told(pass: Pass): Promise<Told> {
    const [outcome, kept, attempts, changes, lines] = await Promise.all([
      store.outcome(pass.id),
      store.request(pass.id),
      store.attempts(pass.id),
      store.changes(pass.id),
      store.audit({ pass_over_id: pass.id, limit: LINES }),
    ])
    return {
      pass,
      head: outcome ? headline(outcome.output, outcome.usage.cost) : undefined,
      output: outcome?.output,
      error_code: outcome?.error_code ?? null,
      tokens: outcome ? newTokens(outcome.usage) : 0,
      cost: outcome?.usage.cost ?? 0,
      went_along: kept && describeManifest(kept.manifest),
      attempts: attempts.length,
      changed: changes.length > 0,
      lines: lines.toSorted((a, b) => a.seq - b.seq),
    }
  }

  return { page, told }
}
