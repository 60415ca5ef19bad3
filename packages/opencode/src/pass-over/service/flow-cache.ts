import type { PassWork, Leave } from "../handoff/state"
import type { Task } from "../handoff/task"
import { only } from "../handoff/view"
import type { FlowWorld } from "./flow-pass"
import { grant, type Ask } from "./grant"
import type { FlowRun } from "./port-flow"
import type { Outcome } from "./port"

/** `print` tells the work of earlier steps that it stands on from every other. */
type Wanted = { work: PassWork; task: Task; ask: Ask; print: string | undefined }

export type Recalled = { key: string; outcome?: Outcome }

/** Every file that an outcome rests on: what went along, and what its child was seen reading. */
function readOf(task: Task, { output }: Outcome): string[] {
  const seen = only(output, "tool_result").flatMap(({ input }) => {
    const path = input["filePath"] ?? input["path"]
    return typeof path === "string" ? [path] : []
  })
  return [...new Set([...task.files, ...seen])]
}

/** Whether all that was read can be named and compared. A command may read anything. */
const comparable = ({ output }: Outcome) =>
  only(output, "tool_result").every(({ tool_name }) => ["read", "pass_over_return"].includes(tool_name))

/** The earlier outcome of the very same request, where the preference allows it and nothing that it read has changed. */
export async function recall(
  { engine, project, files }: FlowWorld,
  run: FlowRun,
  wanted: Wanted,
): Promise<Recalled | undefined> {
  const granted = await grant(
    engine,
    project,
    {
      agent: run.originator,
      session_id: run.session_id,
      message_id: null,
      call_id: null,
      by: run.started_by,
      model: run.model,
    },
    wanted.ask,
  )
  if (!granted.ok || !granted.granted.policy.values.result_cache) return undefined
  const { task, print } = wanted
  const { id: _number, ...handoff } = task.handoff.handoff
  const key = engine.hash(
    JSON.stringify({
      directory: run.directory,
      agent: task.agent,
      objective: task.objective,
      instructions: task.instructions,
      handoff,
      request: task.request ?? null,
      model: granted.granted.model,
      policy: granted.granted.policy.values,
      files: task.files.map((path) => [path, files.hash(path) ?? null]),
      stands_on: print,
    }),
  )
  const known = await engine.store.cached(key)
  if (!known) return { key }
  const changed = Object.entries(known.files).some(([path, hash]) => files.hash(path) !== hash)
  const outcome = changed ? undefined : await engine.store.outcome(known.pass_over_id)
  if (outcome) return { key, outcome }
  await engine.store.uncache(key)
  return { key }
}

/** Keeps a VERIFIED outcome for the next identical request. */
export async function remember(
  { engine, files }: FlowWorld,
  key: string,
  came: { leave: Leave; outcome: Outcome; task: Task },
) {
  const { leave, outcome, task } = came
  if (leave.envelope.status !== "VERIFIED" || leave.problems.length > 0 || !comparable(outcome)) return
  const hashes = readOf(task, outcome).map((path) => [path, files.hash(path)] as const)
  if (hashes.some(([, hash]) => hash === undefined)) return
  await engine.store.cache({
    key,
    pass_over_id: outcome.output.work_id,
    files: Object.fromEntries(hashes.map(([path, hash]) => [path, hash ?? ""])),
    at: engine.clock.now(),
  })
}
