import { watch } from "node:fs"
import { basename, dirname } from "node:path"

/** Hears of writes to a database by any process. Where the system cannot tell, nothing comes, and polling has to do. */
export const watchDatabase = (path: string) => (changed: () => void) => {
  const name = basename(path)
  try {
    const watcher = watch(dirname(path), (_event, file) => {
      if (file === null || file.startsWith(name)) changed()
    })
    watcher.on("error", () => watcher.close())
    return () => watcher.close()
  } catch {
    return () => {}
  }
}
