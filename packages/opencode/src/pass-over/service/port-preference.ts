import type { PreferenceKey } from "../domain/preference-edit"
import type { PassOverPreferences } from "../domain/preference"

/** A group of settings that was stored for one project, with its history. */
export type StoredPreference = {
  key: PreferenceKey
  settings: Record<string, unknown>
  created_at: number
  updated_at: number
  updated_by: string
}

export type PutPreference = {
  directory: string
  key: PreferenceKey
  /** What the group was when it was read; another group there by now makes the write stale. */
  before: Record<string, unknown>
  /** The whole group as it shall be; an empty one is no group. */
  settings: Record<string, unknown>
  actor: string
  at: number
}

/** Preferences that are kept in the database, one project at a time. */
export type PreferenceStore = {
  /** All of them as preferences, for resolution. */
  preferences(directory: string): Promise<PassOverPreferences>
  /** All of them with their history, for people. */
  listPreferences(directory: string): Promise<StoredPreference[]>
  putPreference(input: PutPreference): Promise<"written" | "stale">
  /** Takes a group away; false where there was none. */
  deletePreference(input: { directory: string; key: PreferenceKey }): Promise<boolean>
}
