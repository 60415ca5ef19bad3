import { realpathSync, statSync } from "node:fs"
import { isAbsolute, resolve } from "node:path"
import { HttpError } from "./failure"

/**
 * A project as opencode names it, however it was spelled: links are looked through where it is there, and one that is gone
 * loses only what makes no difference. What is stored under another spelling would hold for nobody.
 */
export function spelled(given: string): string {
  if (!isAbsolute(given)) return given
  try {
    return realpathSync(given)
  } catch {
    return resolve(given)
  }
}

/** The folder of a project that something is to be done in. */
export function folder(given: string): string {
  try {
    if (isAbsolute(given) && statSync(given).isDirectory()) return realpathSync(given)
  } catch {
    // Not there, or not ours to see: the same to who asks.
  }
  throw new HttpError("BAD_REQUEST", `directory: ${given} is no folder, or no absolute path.`)
}
