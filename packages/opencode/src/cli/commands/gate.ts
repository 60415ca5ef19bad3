import { sep } from "node:path"
import { summonFor } from "../../flow/summon"
import { told, type Gate, type GateVerdict } from "../../pass-over/domain/gate"
import { gateFacts } from "../../pass-over/handoff/gate-fact"
import { readable } from "../../pass-over/domain/time"
import { answerGate } from "../../pass-over/service/gate"
import type { Store } from "../../pass-over/service/port"
import { clean, oneLine } from "../clean"
import { refused, Stop, text, usage, type Command, type Invocation } from "../command"
import { actor, withEngine, withHistory } from "../engine"
import { EXIT } from "../exit"
import { short } from "../find"
import { projectRoot } from "../place"

const inProject = (gate: Gate, directory: string) => {
  const root = projectRoot(directory)
  return gate.directory === root || gate.directory.startsWith(root + sep)
}

// More than these are read one by one.
const MOST_WHOLE = 3

/** A question with what stands behind it, as far as there is more than its line. */
function whole({ out }: Invocation, gate: Gate) {
  const facts = gateFacts(gate)
  if (facts.length === 0) return
  out.line("")
  out.line(out.paint("bold", `${short(gate.gate_id)} ${oneLine(gate.question)}`))
  for (const { name, value } of facts) {
    const [first = "", ...more] = clean(value).split("\n")
    out.line(`  ${out.paint("dim", `${name}:`)} ${first}`)
    for (const line of more) out.line(`    ${line}`)
  }
}

async function runInbox(call: Invocation) {
  const { out, options, directory, now, args } = call
  if (args[0] !== undefined) return runQuestion(call, args[0])
  const all = await withHistory<Gate[]>([], ({ store }) => store.gates({ status: ["pending"], limit: 1_000 }))
  const gates = options.all === true ? all : all.filter((gate) => inProject(gate, directory))
  if (out.json) {
    out.value({ gates })
    return EXIT.ok
  }
  if (gates.length === 0) {
    const elsewhere = all.length > 0 ? ` ${all.length} in other projects: pass-over inbox --all.` : ""
    out.line(`Nothing waits for you here.${elsewhere}`)
    return EXIT.ok
  }
  out.table(
    [
      { title: "ID" },
      { title: "WHAT" },
      { title: "ASKED BY", rank: 2 },
      { title: "IF NOBODY ANSWERS", rank: 1 },
      { title: "POLICY", rank: 3 },
      { title: "QUESTION", grow: true },
    ],
    gates.map((gate) => [
      short(gate.gate_id),
      gate.kind,
      gate.asked_by,
      `${gate.default_action} in ${readable(Math.max(0, gate.time_expires - now()))}`,
      gate.policy,
      gate.question,
    ]),
  )
  if (gates.length <= MOST_WHOLE) for (const gate of gates) whole(call, gate)
  if (gates.length > MOST_WHOLE) out.line("pass-over inbox <id> shows what stands behind a question.")
  return EXIT.ok
}

async function runQuestion(call: Invocation, given: string) {
  const { out } = call
  return withEngine(async ({ store }) => {
    const gate = await findGate(store, given)
    if (out.json) out.value({ gate })
    if (!out.json && gateFacts(gate).length === 0) out.line(`${short(gate.gate_id)} ${oneLine(gate.question)}`)
    if (!out.json) whole(call, gate)
    return EXIT.ok
  })
}

/** The question that an id, its beginning or its end names, or the pass that it is about. */
async function findGate(store: Store, given: string): Promise<Gate> {
  const exact = await store.gate(given)
  if (exact) return exact
  const word = given.toLowerCase()
  const pending = await store.gates({ status: ["pending"], limit: 1_000 })
  const named = pending.filter(({ gate_id, pass_over_id }) =>
    [gate_id, gate_id.replace(/^gat_/, ""), pass_over_id ?? ""].some((id) => id.startsWith(word) || id.endsWith(word)),
  )
  const [only, ...others] = word === "" ? [] : named
  if (only && others.length === 0) return only
  if (!only) {
    throw new Stop(EXIT.not_found, `No open question is known as ${given}.`, "pass-over inbox shows them.", "E042")
  }
  throw usage(
    `${given} names several questions: ${named.map((gate) => short(gate.gate_id)).join(", ")}.`,
    "pass-over inbox shows them.",
  )
}

async function answer({ out, args: [given = "", ...words], options, env }: Invocation, verdict: GateVerdict) {
  const note = text(options, "note") ?? (words.join(" ").trim() || null)
  if (verdict === "question" && note === null) throw usage("There is nothing to ask.")
  return withEngine(async (engine) => {
    const gate = await findGate(engine.store, given)
    const done = await answerGate(engine, gate.gate_id, { verdict, note, by: actor(), surface: "the command line" })
    if (!done.ok) throw refused(done.refusal)
    const { run_id } = done.gate
    // A run goes on from the answer, also where no opencode was left waiting for it.
    const why =
      run_id === null
        ? undefined
        : await out.progress("Waiting for opencode …", () => summonFor(engine, { run_id }, env))
    if (out.json) out.value({ gate: done.gate })
    if (!out.json) out.line(`${oneLine(gate.question)}\n${out.paint("bold", oneLine(told(done.gate)))}`)
    if (why && !out.json)
      out.line(`${oneLine(`${why.message} ${why.suggestion}`)} The run goes on when opencode is open there.`)
    return EXIT.ok
  })
}

const ID = { name: "<id>", text: "the id of a question or of its pass, or enough of it" }
const NOTE = { name: "[note...]", text: "a word about it; whoever asked is told" }

export const inbox: Command = {
  name: "inbox",
  summary: "show what waits for you",
  args: [{ name: "[id]", text: "one question with everything that stands behind it" }],
  options: [{ flags: "--all", text: "of every project" }],
  examples: ["pass-over inbox", "pass-over inbox 5b1e77c0", "pass-over inbox --all --json"],
  run: runInbox,
}

export const approve: Command = {
  name: "approve",
  person: true,
  summary: "say yes to a question of the inbox",
  args: [ID, NOTE],
  options: [{ flags: "--note <text>", text: "a word about it" }],
  examples: ["pass-over approve 5b1e77c0", "pass-over approve 5b1e77c0 but leave the tests alone"],
  run: (call) => answer(call, "approve"),
}

export const reject: Command = {
  name: "reject",
  person: true,
  summary: "say no to a question of the inbox",
  args: [ID, NOTE],
  options: [{ flags: "--note <text>", text: "why" }],
  examples: ["pass-over reject 5b1e77c0", "pass-over reject 5b1e77c0 not before the release"],
  run: (call) => answer(call, "reject"),
}

export const question: Command = {
  name: "question",
  person: true,
  summary: "answer a question of the inbox with a question of your own",
  args: [ID, { name: "<text...>", text: "what you want to know first" }],
  examples: ["pass-over question 5b1e77c0 why not the smaller change?"],
  run: (call) => answer(call, "question"),
}
