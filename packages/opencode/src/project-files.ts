import { projectConfig } from "./cli/place"
import { globalConfigPath } from "./paths"
import type { Written } from "./pass-over/domain/config"
import { PassOverError } from "./pass-over/domain/errors"
import { createConfigFiles } from "./pass-over/store/config-file"

export type FilesNow = { files: readonly Written[]; problem: string | null }

/** What the preferences files of a project say just now. A broken one is told, and what they say is left out. */
export function filesNow(directory: string): FilesNow {
  const files = createConfigFiles({
    project: () => projectConfig(directory),
    global: globalConfigPath(),
    warn: () => {},
  })
  try {
    return { files: files.read(), problem: null }
  } catch (error) {
    if (!(error instanceof PassOverError)) throw error
    return { files: [], problem: error.message }
  }
}
