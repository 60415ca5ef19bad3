import { chained, foldOver, toChange, type Segment } from "../../domain/change/fold"
import { same, type FileState } from "../../domain/change/change"
import { below } from "../../domain/change/path"
import { patched } from "../../domain/patch"
import { isBinary } from "../../domain/change/text"
import type { Workspaces } from "../port-workspace"
import { keep, keepStream, whole } from "./blob"
import type { ChangeDeps } from "./deps"
import type { Observed } from "./take"
import { changesNothing } from "../../domain/tool"

export type ToolCall = { call_id: string; tool: string; args: Record<string, unknown>; session_id: string }

/** Watches what a child changes in the user's own tree, around each of its tool calls. */
export type Recorder = {
  readonly directory: string
  before(call: ToolCall): Promise<void>
  after(call: ToolCall): Promise<void>
  observed(): Promise<Observed>
}

const text = (value: unknown) => (typeof value === "string" ? value : undefined)

/** The files that a call names; nothing where it may write anywhere. */
export function named({ tool, args }: Pick<ToolCall, "tool" | "args">): string[] | undefined {
  if (changesNothing(tool)) return []
  if (tool === "apply_patch" || tool === "patch") {
    return patched(text(args.patchText) ?? text(args.patch) ?? "")
  }
  const path = text(args.filePath)
  return (tool === "edit" || tool === "write") && path !== undefined ? [path] : undefined
}

type Write = { path: string; session_id: string; at: number }

// What the sessions of this process were seen writing with tools that say where: it is not taken for somebody else's.
const writes: Write[] = []
const MOST_WRITES = 1_000

/** Notes a write of any session, so that the window of another's shell command does not take it for its own. */
export function noteWrites(call: ToolCall, directory: string, at: number) {
  for (const path of named(call) ?? []) {
    const plain = below(directory, path)
    if (plain !== undefined) writes.push({ path: `${directory}/${plain}`, session_id: call.session_id, at })
  }
  if (writes.length > MOST_WRITES) writes.splice(0, writes.length - MOST_WRITES)
}

type Open =
  | { kind: "named"; states: Map<string, FileState | null> }
  | { kind: "anywhere"; tree: string; at: number; session_id: string }

/** `rights`: who might read each file when it was first seen. */
type Looking = { deps: ChangeDeps; directory: string; rights: Map<string, number> }

async function look({ deps, directory, rights }: Looking, paths: readonly string[]) {
  const tree = await deps.openTree(directory)
  const states = new Map<string, FileState | null>()
  try {
    for (const path of paths) {
      const found = await tree.look(path)
      if (found.kind === "refused") continue
      const state = found.kind === "file" ? found.state : null
      if (state && !(await keepStream(deps, state, tree.pieces(path)))) continue
      states.set(path, state)
      const first = rights.get(path) ?? tree.rights(path)
      if (first !== undefined) rights.set(path, first)
    }
    return states
  } finally {
    tree.close()
  }
}

async function contentOf(deps: ChangeDeps, state: FileState | null) {
  return state ? ((await whole(deps, state.hash)) ?? null) : null
}

/** All that was seen of one file, as one change. Where it cannot be told apart from others' work, the last part counts. */
async function folded(deps: ChangeDeps, segments: readonly Segment[], notes: string[]): Promise<Segment | undefined> {
  let now: Segment | undefined
  for (const next of segments) {
    const plain = now ? chained(now, next) : next
    if (plain) {
      now = plain
      continue
    }
    if (!now) continue
    const [first, before, after] = await Promise.all(
      [now.new, next.old, next.new].map((state) => contentOf(deps, state)),
    )
    const fold = foldOver(now, next, { first: first ?? null, before: before ?? null, after: after ?? null }, deps.sha)
    if (fold.ok && fold.content) await keep(deps, [{ hash: deps.sha(fold.content), content: fold.content }])
    if (!fold.ok) notes.push(`${next.path}: others changed the same lines in between; only its last change is recorded`)
    now = fold.ok ? fold.segment : next
  }
  return now && !same(now.old, now.new) ? now : undefined
}

export type Recording = { deps: ChangeDeps; directory: string; workspaces: Workspaces | undefined }

export function createRecorder({ deps, directory, workspaces }: Recording): Recorder {
  const [open, looking] = [new Map<string, Open>(), { deps, directory, rights: new Map<string, number>() }]
  const [segments, notes] = [new Map<string, Segment[]>(), new Array<string>()]
  let worked: Promise<unknown> = Promise.resolve()

  const add = (segment: Segment) => segments.set(segment.path, [...(segments.get(segment.path) ?? []), segment])

  async function begin(call: ToolCall) {
    const paths = named(call)
    if (paths) {
      const plain = paths.flatMap((path) => below(directory, path) ?? [])
      if (plain.length > 0) open.set(call.call_id, { kind: "named", states: await look(looking, plain) })
      return
    }
    if (!workspaces) return
    const [at, { session_id, call_id }] = [deps.clock.now(), call]
    open.set(call_id, { kind: "anywhere", tree: await workspaces.snapshot(), at, session_id })
  }

  async function end(call: ToolCall) {
    const opened = open.get(call.call_id)
    open.delete(call.call_id)
    if (!opened) return
    if (opened.kind === "named") {
      const after = await look(looking, [...opened.states.keys()])
      for (const [path, old] of opened.states) add({ path, old, new: after.get(path) ?? null })
      return
    }
    if (!workspaces) return
    const found = await workspaces.between(opened.tree, await workspaces.snapshot())
    for (const { path, old_path, old, new: after } of found.files) {
      const others = writes.some(
        (write) =>
          write.path === `${directory}/${path}` && write.session_id !== opened.session_id && write.at >= opened.at,
      )
      if (others) {
        notes.push(`${path} was written by another session while a command ran; it is not taken for this one's`)
        continue
      }
      if (old_path !== null) add({ path: old_path, old, new: null })
      add({ path, old: old_path === null ? old : null, new: after })
    }
  }

  // A change that cannot be recorded must not keep the child from working.
  const quietly = async (work: () => Promise<void>) => {
    const mine = worked
      .then(work, work)
      .catch((error: unknown) => deps.log("warn", "a change could not be recorded", { error: String(error) }))
    worked = mine
    await mine
  }

  return {
    directory,
    before: (call) => quietly(() => begin(call)),
    after: (call) => quietly(() => end(call)),
    async observed() {
      await worked
      // A call that was broken off has no end of its own.
      for (const call_id of open.keys()) await quietly(() => end({ call_id, tool: "", args: {}, session_id: "" }))
      const files = []
      for (const all of segments.values()) {
        const segment = await folded(deps, all, notes)
        if (!segment) continue
        const sides = await Promise.all([contentOf(deps, segment.old), contentOf(deps, segment.new)])
        files.push(
          toChange(
            segment,
            sides.some((side) => side !== null && isBinary(side)),
          ),
        )
      }
      return { origin: "direct", files, notes: [...notes], directory, rights: looking.rights }
    },
  }
}
