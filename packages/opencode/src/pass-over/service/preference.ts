import { strongestFirst, type Written } from "../domain/config"
import { difference, explain, knownPairs, type Change, type Explanation } from "../domain/explain"
import { PassOverErrorCode, refuse, type Refusal } from "../domain/errors"
import type { AgentInfo } from "../domain/agent"
import { edited, groupOf, writtenAfter, type PreferenceEdit, type PreferenceKey } from "../domain/preference-edit"
import type { PassOverPreferences } from "../domain/preference"
import type { Engine } from "./engine"

/** What is needed to say what holds: the files as they stand, and who is there. */
export type Scene = {
  directory: string
  /** The project's and the user's file, and what the environment says; what is stored is added here. */
  files: readonly Written[]
  agents: readonly AgentInfo[]
}

const STORED = "the stored preferences"

/** All the places that say something about a project, the strongest first. */
export async function allWritten(engine: Engine, scene: Pick<Scene, "directory" | "files">): Promise<Written[]> {
  const preferences = await engine.store.preferences(scene.directory)
  return strongestFirst([{ origin: "stored", path: STORED, preferences }, ...scene.files])
}

const sources = (engine: Engine, written: readonly Written[]) => ({ written, agents: engine.agents.defaults })

/** What holds for an ordered pair, each value with where it comes from and what it shadows. */
export const explainPair = async (engine: Engine, scene: Scene, from: string, to: string): Promise<Explanation> =>
  explain(from, to, sources(engine, await allWritten(engine, scene)))

/** Every pair that a pass could be made between, with what holds for it: the matrix of the panel. */
export async function explainAll(engine: Engine, scene: Scene): Promise<Explanation[]> {
  const written = await allWritten(engine, scene)
  const pairs = knownPairs({ agents: scene.agents, originators: engine.agents.originators, written })
  return pairs.map(({ from, to }) => explain(from, to, sources(engine, written)))
}

export type Preview =
  | { ok: true; changes: Change[]; preferences: PassOverPreferences }
  | { ok: false; refusal: Refusal }

/** What an edit of the stored preferences would change, pair by pair, before anything is saved. */
export async function preview(engine: Engine, scene: Scene, edit: PreferenceEdit): Promise<Preview> {
  const before = await allWritten(engine, scene)
  const stored = await engine.store.preferences(scene.directory)
  const made = edited(stored, edit)
  if (!made.ok) return made
  const after = writtenAfter(before, "stored", made.preferences)
  const known = { agents: scene.agents, originators: engine.agents.originators }
  const pairs = knownPairs({ ...known, written: [...before, ...after] })
  const changes = difference(pairs, sources(engine, before), sources(engine, after))
  return { ok: true, changes, preferences: made.preferences }
}

export type Saved = { ok: true; preferences: PassOverPreferences } | { ok: false; refusal: Refusal }

/** Edits the stored preferences of a project; what is not valid, or contradicts itself, is not written. */
export async function savePreference(
  engine: Engine,
  input: { directory: string; edit: PreferenceEdit; actor: string },
): Promise<Saved> {
  const { directory, edit, actor } = input
  const stored = await engine.store.preferences(directory)
  const made = edited(stored, edit)
  if (!made.ok) return made
  const written = await engine.store.putPreference({
    directory,
    key: edit.key,
    before: groupOf(stored, edit.key),
    settings: made.group,
    actor,
    at: engine.clock.now(),
  })
  if (written === "written") return { ok: true, preferences: made.preferences }
  return {
    ok: false,
    refusal: refuse(PassOverErrorCode.STALE_REVISION, "Somebody else changed these preferences just now."),
  }
}

/** Takes a whole group of stored settings away. */
export const dropPreference = (engine: Engine, input: { directory: string; key: PreferenceKey }): Promise<boolean> =>
  engine.store.deletePreference(input)
