import { openDatabase } from "../../../../opencode/src/pass-over/store/open"

/** A history of its own, written straight into the table: what is measured is the list. */
export function fillAudit(database: string, count: number) {
  const opened = openDatabase(database)
  if (!opened.ok) throw new Error(opened.problem)
  const { client } = opened
  const columns = client
    .query<{ name: string; type: string; notnull: number; dflt_value: unknown }, []>(
      "PRAGMA table_info(pass_over_audit)",
    )
    .all()
  const given: Record<string, (n: number) => string | number | null> = {
    id: () => null,
    session_id: (n) => `ses_${n % 50}`,
    seq: (n) => Math.floor(n / 50) + 1,
    directory: () => "/bench",
    action: (n) => ["requested", "dispatched", "returned"][n % 3] ?? "",
    actor: () => "alice",
    originating_agent: () => "archivist",
    subagent: (n) => ["audit", "scout"][n % 2] ?? "",
    pass_over_id: (n) => `019a0000-0000-7000-8000-${String(n).padStart(12, "0")}`,
    timestamp: (n) => Date.now() - (count - n) * 1_000,
    summary: (n) => `Review number ${n} of the cart, with and without a discount`,
    status: (n) => (n % 3 === 2 ? "completed" : null),
    policy_overrides: () => "{}",
  }
  const names = columns.map(({ name }) => name)
  const insert = client.prepare(
    `insert into pass_over_audit (${names.join(", ")}) values (${names.map(() => "?").join(", ")})`,
  )
  client.transaction(() => {
    for (let n = 0; n < count; n += 1) {
      const values = columns.map(({ name, type, notnull }) => {
        const make = given[name]
        if (make) return make(n)
        if (notnull === 0) return null
        return /int/i.test(type) ? 0 : ""
      })
      insert.run(...values)
    }
  })()
  client.close()
}
