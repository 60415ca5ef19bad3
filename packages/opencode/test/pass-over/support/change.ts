import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { ChangeSet, FileChange, FileState } from "../../../src/pass-over/domain/change/change"
import { isBinary } from "../../../src/pass-over/domain/change/text"
import type { Verdict } from "../../../src/pass-over/domain/change/review"
import { event, note, type Pass } from "../../../src/pass-over/domain/pass"
import { keep } from "../../../src/pass-over/service/change/blob"
import type { ChangeDeps } from "../../../src/pass-over/service/change/deps"
import type { Store } from "../../../src/pass-over/service/port"
import { openTree } from "../../../src/pass-over/store/tree/tree"
import { openStore } from "./database"
import { createFolder, type Folder } from "./folder"
import { createWorld, type Target, type World } from "./world"

export const sha = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
export const bytes = (text: string) => new TextEncoder().encode(text)

export type Content = string | Uint8Array

export const content = (value: Content) => (typeof value === "string" ? bytes(value) : value)

export const state = (value: Content, mode: FileState["mode"] = "100644"): FileState => ({
  hash: sha(content(value)),
  mode,
  bytes: content(value).length,
})

/** What a test says of one file; what it leaves out is as usual. */
export type Wanted = {
  path: string
  old?: Content | null
  new?: Content | null
  old_path?: string
  modes?: [FileState["mode"], FileState["mode"]]
  refused?: string
}

export type ChangeWorld = Omit<World, "pass"> &
  Disposable & {
    folder: Folder
    project: string
    store: Store
    deps: ChangeDeps
    pass: Pass
    put(path: string, value: Content, mode?: number): void
    get(path: string): string | undefined
    /** Every path below the project, folders too. */
    paths(): string[]
    change(files: readonly Wanted[], more?: Partial<ChangeSet>): Promise<ChangeSet>
    accept(change: ChangeSet, verdicts?: readonly Partial<Verdict>[]): Promise<void>
  }

export type ChangeWorldOptions = {
  database?: string
  owner?: number
  strong?: boolean
  /** From how many drafts on they go to the disk together. */
  many?: number
  project?: string
  /** How the pass has ended, if it did not return. */
  ended?: Target
}

/** A project on disk, a real store, and a pass that has ended. */
export async function createChangeWorld(options: ChangeWorldOptions = {}): Promise<ChangeWorld> {
  const folder = createFolder()
  const project = options.project ?? folder.at("project")
  mkdirSync(project, { recursive: true })
  const database = openStore(options.database ?? ":memory:")
  const { store } = database
  const lane = options.owner ?? 1
  const world = createWorld({ lane })
  const deps: ChangeDeps = {
    store,
    clock: { now: () => world.clock.now(), mono: () => world.clock.now(), after: () => () => {} },
    ids: world.ids,
    log: () => {},
    owner_id: world.ids.make("own"),
    under_way: new Set(),
    run: async () => ({ exit_code: 0, output: "", duration_ms: 1 }),
    openTree: openTree({ strong: options.strong, many: options.many }),
    sha,
    hasher: () => {
      const hasher = new Bun.CryptoHasher("sha256")
      return { update: (piece) => void hasher.update(piece), digest: () => hasher.digest("hex") }
    },
  }
  const { pass: opened } = (await store.open(
    world.opening(world.pass({ directory: project, preference: { values: {}, sources: {} } })),
  )) as { pass: Pass }
  const running = await store.commit(world.commit(opened, "waiting_for_return"))
  if (running === "stale") throw new Error("stale")
  const pass = await store.settle(world.settled(running, options.ended ? { to: options.ended } : {}))
  if (pass === "stale") throw new Error("stale")

  const file = (wanted: Wanted): FileChange => {
    const {
      path,
      old = null,
      new: after = null,
      old_path = null,
      modes = ["100644", "100644"],
      refused = null,
    } = wanted
    const sides = [old, after].map((side) => (side === null ? null : content(side)))
    return {
      path,
      old_path,
      old: old === null ? null : state(old, modes[0]),
      new: after === null ? null : state(after, modes[1]),
      binary: sides.some((side) => side !== null && isBinary(side)),
      reason: "because",
      confidence: "high",
      refused,
    }
  }

  return {
    ...world,
    folder,
    project,
    store,
    deps,
    pass,
    put(path, value, mode) {
      mkdirSync(dirname(join(project, path)), { recursive: true })
      writeFileSync(join(project, path), value)
      if (mode !== undefined) chmodSync(join(project, path), mode)
    },
    get(path) {
      try {
        return readFileSync(join(project, path), "utf8")
      } catch {
        return undefined
      }
    },
    paths: () => (readdirSync(project, { recursive: true }) as string[]).toSorted(),
    async change(files, more = {}) {
      const change: ChangeSet = {
        change_id: world.ids.make("chg"),
        pass_over_id: pass.id,
        origin: "proposed",
        directory: project,
        files: files.map(file),
        notes: [],
        from_change_id: null,
        time_created: world.clock.now(),
        ...more,
      }
      await keep(
        deps,
        files
          .flatMap((one) => [one.old ?? null, one.new ?? null])
          .filter((one) => one !== null)
          .map((one) => ({ hash: sha(content(one)), content: content(one) })),
      )
      await store.saveChange(change)
      return change
    },
    async accept(change, verdicts = change.files.map(({ path }) => ({ path }))) {
      const at = world.clock.now()
      await store.review(
        change.change_id,
        verdicts.map((verdict) => ({
          path: "",
          hunk: null,
          accepted: true,
          reason: null,
          ...verdict,
          actor: "ada",
          time_created: at,
        })),
        { note: note(pass, { action: "reviewed", actor: "ada", at }), event: event(pass, "pass.reviewed", at) },
      )
    },
    [Symbol.dispose]: () => {
      database[Symbol.dispose]()
      folder[Symbol.dispose]()
    },
  }
}

export const modeOf = (path: string) => statSync(path).mode & 0o777
