import { projectConfig } from "./cli/place"
import type { Written } from "./pass-over/domain/config"
import { PassOverError } from "./pass-over/domain/errors"
import { configFiles } from "./config-files"

export type FilesNow = { files: readonly Written[]; problem: string | null }

/** What the preferences files of a project say just now. A broken one is told, and what they say is left out. */
export function filesNow(directory: string): FilesNow {
  const files = configFiles(() => projectConfig(directory))
  try {
    return { files: files.read(), problem: null }
  } catch (error) {
    if (!(error instanceof PassOverError)) throw error
    return { files: [], problem: error.message }
  }
}
