import { accessSync, constants, statSync } from "node:fs"
import { homedir } from "node:os"
import { basename, delimiter, isAbsolute, join } from "node:path"

const NAME = process.platform === "win32" ? "opencode.exe" : "opencode"

function runs(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/**
 * opencode's own program: the one that is named, the first on the PATH, the one that this runs on, the one that its
 * installer leaves. An entry of the PATH that is not absolute would look into the project, and is passed over.
 */
export function opencodeBinary(env: Readonly<Record<string, string | undefined>> = process.env): string | undefined {
  const named = env.PASS_OVER_OPENCODE
  const folders = (env.PATH ?? "").split(delimiter).filter(isAbsolute)
  return [
    ...(named ? [named] : []),
    ...folders.map((folder) => join(folder, NAME)),
    ...(basename(process.execPath).startsWith("opencode") ? [process.execPath] : []),
    join(env.HOME ?? homedir(), ".opencode", "bin", NAME),
  ].find(runs)
}
