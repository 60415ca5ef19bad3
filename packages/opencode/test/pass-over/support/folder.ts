import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export type Folder = Disposable & { path: string; at(...parts: string[]): string }

/** An empty folder of the test's own, gone with the scope that holds it. */
export function createFolder(): Folder {
  // The real path: on some systems the temporary folder is a link.
  const path = realpathSync(mkdtempSync(join(tmpdir(), "pass-over-")))
  return {
    path,
    at: (...parts) => join(path, ...parts),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}
