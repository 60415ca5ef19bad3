import type { AgentInfo } from "../../opencode/src/pass-over/domain/agent"
import { sentence } from "../../opencode/src/pass-over/domain/errors"
import type { Change, Explanation } from "../../opencode/src/pass-over/domain/explain"
import type { PreferenceEdit } from "../../opencode/src/pass-over/domain/preference-edit"
import type { Engine } from "../../opencode/src/pass-over/service/engine"
import { explainAll, explainPair, preview, savePreference } from "../../opencode/src/pass-over/service/preference"
import { filesNow } from "../../opencode/src/project-files"
import type { SettingInfo } from "../../opencode/src/server/schema-preference"
import { SETTINGS } from "../../opencode/src/server/settings"

export type Tried = { ok: true; changes: readonly Change[] } | { ok: false; message: string }

export type Preferences = {
  /** Every pair of this project with what holds for it, and what is wrong with a file of it. */
  pairs(): Promise<{ pairs: readonly Explanation[]; problem: string | null }>
  pair(from: string, to: string): Promise<Explanation>
  settings: readonly SettingInfo[]
  /** What an edit would change, or what speaks against it. Nothing is written. */
  try(edit: PreferenceEdit): Promise<Tried>
  /** Stores an edit for this project, as the panel does: no file is touched. A sentence where it could not be. */
  save(edit: PreferenceEdit): Promise<string>
}

export type PreferenceDeps = {
  engine: Engine
  directory: string
  /** The agents that opencode has here. */
  agents: () => Promise<AgentInfo[]>
  actor: string
}

export function createPreferences({ engine, directory, agents, actor }: PreferenceDeps): Preferences {
  const scene = async () => ({ directory, agents: await agents(), ...filesNow(directory) })
  return {
    async pairs() {
      const now = await scene()
      return { pairs: await explainAll(engine, now), problem: now.problem }
    },
    pair: async (from, to) => explainPair(engine, await scene(), from, to),
    settings: SETTINGS,
    async try(edit) {
      const shown = await preview(engine, await scene(), edit)
      return shown.ok ? shown : { ok: false, message: sentence(shown.refusal) }
    },
    async save(edit) {
      const saved = await savePreference(engine, { directory, edit, actor })
      return saved.ok ? "" : sentence(saved.refusal)
    },
  }
}
