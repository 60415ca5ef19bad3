import type { Clock, Ids, Log, Store } from "../port"
import type { Verification } from "../port-change"
import type { Hasher, OpenTree } from "../port-tree"

/** What the program around us brings for changing files. The hashes are of bytes, and in hexadecimal. */
export type FilePort = {
  openTree: OpenTree
  sha: (bytes: Uint8Array) => string
  hasher: () => Hasher
  /** Runs a command of the user's own in a directory, as a shell would. */
  run: (command: string, directory: string) => Promise<Omit<Verification, "command">>
  /** What this process is writing just now, so that it does not take itself for dead. */
  under_way: Set<string>
}

/** What changing files needs. */
export type ChangeDeps = FilePort & {
  store: Store
  clock: Clock
  ids: Ids
  log: Log
  owner_id: `own_${string}`
}

/** The parts of an engine that changes need; nothing where it runs without files, as in some tests. */
export const changesOf = (
  engine: Omit<ChangeDeps, keyof FilePort> & { files?: FilePort | undefined },
): ChangeDeps | undefined => {
  const { files, store, clock, ids, log, owner_id } = engine
  return files && { ...files, store, clock, ids, log, owner_id }
}
