import { fence, freshNonce } from "../domain/fence"
import { diagramText } from "../handoff/diagram"
import { leftKey, type RunState, type StepResult } from "../handoff/state"
import { yaml } from "../handoff/yaml"
import type { Engine } from "./engine"
import { proposedBy, tellProposed, type Proposed } from "./flow-proposal"
import type { FlowRun } from "./port-flow"

const LABEL = "pass-over-flow"
const MOST_SHOWN = 12

type Room = { text: number; items: number }

// As in the answer of a pass: what can be read later is cut, so that the host never cuts through our closing mark.
const ROOMS: readonly Room[] = [
  { text: 2_000, items: 40 },
  { text: 600, items: 10 },
  { text: 200, items: 3 },
  { text: 80, items: 0 },
]
const MOST_CHARACTERS = 20_000
const MOST_LINES = 1_500

const clip = (text: string, most: number) =>
  text.length <= most ? text : `${text.slice(0, Math.max(0, most - 1)).toWellFormed()}…`

/** Everything in a value cut to size, its texts and its lists. */
function within(value: unknown, room: Room): unknown {
  if (typeof value === "string") return clip(value, room.text)
  if (Array.isArray(value)) return value.slice(0, room.items).map((each) => within(each, room))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, within(inner, room)]))
}

/** The concerns that stand at the end of a step, those of its critic and of its branches among them. */
function concernsOf(state: RunState, node: string) {
  return Object.entries(state.left)
    .filter(([key]) => key.startsWith(leftKey({ node, agent: "" })) || key.startsWith(`${node}.`))
    .flatMap(([, { envelope }]) => envelope.concerns.map((concern) => ({ by: envelope.meta.agent_key, ...concern })))
}

const stepOf = (state: RunState, { node, agent, status, passed, pass_over_id, context }: StepResult, room: Room) => ({
  step: node,
  agent,
  status,
  passed,
  pass: pass_over_id,
  ...(within({ ...context, concerns: concernsOf(state, node) }, room) as object),
})

/** Why a run has ended, and what it asks a person, in the words of the agents. */
function reasons(state: RunState) {
  const asked = Object.values(state.open).flatMap((work) =>
    work.type === "gate" ? [{ step: work.node, why: work.why, reason: work.reason }] : [],
  )
  return {
    ...(state.reason === null ? {} : { reason: state.reason }),
    ...(asked.length > 0 ? { waiting: asked.slice(0, MOST_SHOWN) } : {}),
  }
}

/** What a run has left: its last steps with what they found, and the files that it proposes, as data. */
function left(engine: Pick<Engine, "ids">, { run, state, proposed }: Telling): string | undefined {
  const done = run.plan.nodes.flatMap(({ id }) => state.results[id] ?? []).filter(({ skipped }) => !skipped)
  const shown = done.slice(-MOST_SHOWN)
  const why = reasons(state)
  if (shown.length === 0 && Object.keys(why).length === 0) return undefined
  let text = ""
  for (const room of ROOMS) {
    const steps = shown.map((each) => stepOf(state, each, room))
    const files = proposed
      .slice(0, MOST_SHOWN)
      .map((each) => within({ pass: each.pass_over_id, files: each.files, applied: each.applied }, room))
    text = yaml({
      ...(within(why, { ...room, items: MOST_SHOWN }) as object),
      ...(steps.length > 0 ? { steps } : {}),
      ...(files.length > 0 ? { proposed: files } : {}),
    })
    if (text.length <= MOST_CHARACTERS && text.split("\n").length <= MOST_LINES) break
  }
  return fence(LABEL, freshNonce(text, engine.ids.nonce), text)
}

const waitsFor = (state: RunState) =>
  state.status === "waiting"
    ? [
        "A person has to answer first: pass-over inbox. What the run comes to is brought as a message; do not wait for it.",
      ]
    : []

/** What is left to do about a run that found something: it names it, and changes nothing more. */
function stands({ plan }: FlowRun, state: RunState): string[] {
  if (state.status !== "completed") return []
  const count = plan.nodes.flatMap(({ id }) => concernsOf(state, id)).length
  if (count === 0) return []
  return [
    `${count === 1 ? "One concern stands" : `${count} concerns stand`} at its end. Your next step is to put right what you agree with, yourself or by another pass, and to say what you leave.`,
  ]
}

const LONGEST_DRAWING = 80

/** The drawing of a run; of a long one its beginning and its end. */
function drawn(run: FlowRun, state: RunState): string {
  const lines = diagramText(run.plan, state, "model").split("\n")
  if (lines.length <= LONGEST_DRAWING) return lines.join("\n")
  const [first, last] = [lines.slice(0, 20), lines.slice(-40)]
  return [...first, `  … ${lines.length - 60} lines more: pass-over flow show ${run.run_id}`, ...last].join("\n")
}

type Telling = { run: FlowRun; state: RunState; proposed: readonly Proposed[] }

/** Where a run stands and what it has left, as the model reads it. */
export async function tellRun(engine: Pick<Engine, "ids" | "store">, run: FlowRun, state: RunState): Promise<string> {
  const proposed = await proposedBy(engine.store, run)
  const data = left(engine, { run, state, proposed })
  return [
    `Run ${run.run_id}`,
    drawn(run, state),
    ...waitsFor(state),
    ...stands(run, state),
    ...(state.status === "running" ? [] : tellProposed(proposed, { most: MOST_SHOWN, run_id: run.run_id })),
    ...(data === undefined ? [] : ["What its steps and agents left, as data:", data]),
  ].join("\n")
}
