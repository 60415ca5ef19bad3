import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { openDatabase } from "../../packages/opencode/src/pass-over/store/open"
import { createStore } from "../../packages/opencode/src/pass-over/store/store"
import type { Pass } from "../../packages/opencode/src/pass-over/domain/pass"
import type { AuditLine } from "../../packages/opencode/src/pass-over/domain/audit-log"
import type { Manifest } from "../../packages/opencode/src/pass-over/domain/manifest"
import type { Outcome } from "../../packages/opencode/src/pass-over/service/port"

export const SAMPLE = join(import.meta.dir, "../../docs/example/sample-project")
export const PROMPT = "Review src/cart.js before we ship it, and fix what is wrong."

/** What happened, read back from what was stored: nothing in it is known in advance. */
export type Story = {
  model: string
  opencode: string
  project: string
  took_ms: number
  pass?: Pass
  outcome?: Outcome
  manifest?: Manifest
  audit: AuditLine[]
  /** Tool calls of the originator, in order, with whether they worked. */
  did: { tool: string; ok: boolean; what: string }[]
  said: string
  trouble: string
}

/** The files of the sample project by path. */
export function sampleFiles(folder = SAMPLE, prefix = ""): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).flatMap((name): [string, string][] => {
      const path = join(folder, name)
      if (statSync(path).isDirectory()) return Object.entries(sampleFiles(path, `${prefix}${name}/`))
      return [[`${prefix}${name}`, readFileSync(path, "utf8")]]
    }),
  )
}

type ToolEvent = { part?: { tool?: string; state?: { status?: string; input?: Record<string, unknown> } } }

const text = (value: unknown) => (typeof value === "string" ? value : undefined)

/** What `opencode run --format json` printed about the originator's own steps. */
export function readRun(events: readonly { type: string; [key: string]: unknown }[]) {
  const did = events.flatMap((event) => {
    const { part } = event as ToolEvent
    if (event.type !== "tool_use" || !part?.tool) return []
    const input = part.state?.input ?? {}
    const what = text(input.command) ?? text(input.filePath) ?? text(input.subagent) ?? ""
    return [{ tool: part.tool, ok: part.state?.status === "completed", what: what.replace(/^.*\/project\//, "") }]
  })
  const said = events.flatMap((event) => {
    const part = event.part as { text?: unknown } | undefined
    return event.type === "text" && typeof part?.text === "string" ? [part.text] : []
  })
  return { did, said: said.at(-1) ?? "" }
}

export async function readStore(database: string): Promise<Pick<Story, "pass" | "outcome" | "manifest" | "audit">> {
  const opened = openDatabase(database)
  if (!opened.ok) return { audit: [] }
  const store = createStore(opened, database)
  try {
    const [pass] = await store.list({})
    if (!pass) return { audit: [] }
    const [outcome, kept, audit] = await Promise.all([
      store.outcome(pass.id),
      store.request(pass.id),
      store.audit({ pass_over_id: pass.id }),
    ])
    return {
      pass,
      ...(outcome ? { outcome } : {}),
      ...(kept ? { manifest: kept.manifest } : {}),
      audit: audit.toReversed(),
    }
  } finally {
    store.close()
  }
}
