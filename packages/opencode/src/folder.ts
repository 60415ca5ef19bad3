import { realpathSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { PassOverError, PassOverErrorCode } from "./pass-over/domain/errors"

/** A folder that a script names, as opencode calls it: it compares folders as text, and links are looked through. */
export function folderOf(directory: string): string {
  const path = resolve(directory)
  try {
    if (statSync(path).isDirectory()) return realpathSync(path)
  } catch {
    // What cannot be looked at is as good as not there.
  }
  throw new PassOverError(PassOverErrorCode.NOT_FOUND, `There is no folder ${path}.`, {
    suggestedAction: "Check the directory; where none is named it is the working directory.",
  })
}
