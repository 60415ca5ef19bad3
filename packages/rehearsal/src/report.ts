import type { Recorded } from "./record"
import type { Piece, Step } from "./reply"
import type { ModelRequest } from "./request"
import type { Unplayed } from "./scenario"

/** A request that no step answered, with the reason as a sentence. */
export type Problem = { request?: ModelRequest; title: string; reason: string }

const SHORT = 160

export function shorten(text: string, limit = SHORT) {
  const flat = text.replaceAll(/\s+/g, " ").trim()
  if (flat.length <= limit) return flat
  return `${flat.slice(0, limit)}… (${text.length} characters)`
}

/** The problems and the unplayed steps as text a person can act on; empty when there are none. */
export function report(problems: Problem[], unplayed: Unplayed[], requests: Recorded[]) {
  const count = problems.length + unplayed.length
  if (count === 0) return ""
  const items = [...problems.map(problemText), ...unplayed.map((item) => unplayedText(item, requests))]
  return [
    `The model was not used as its scenario says: ${count} ${count === 1 ? "problem" : "problems"}.`,
    ...items.map((text, index) => `${index + 1}. ${text}`),
    requestsText(requests),
  ].join("\n\n")
}

function problemText(problem: Problem) {
  if (!problem.request) return `${problem.title}\n   ${problem.reason}`
  const { agent, session, number, turn } = problem.request
  const where = session ? `session ${session}, its request ${turn}` : `without a session, its request ${turn}`
  return [
    `${problem.title} agent "${agent}", ${where} (number ${number} of all).`,
    problem.reason,
    "It was sent:",
    ...sentLines(problem.request),
  ].join("\n   ")
}

function sentLines(request: ModelRequest) {
  const tools = request.tools.map((tool) => tool.name).join(", ") || "none"
  const tail = request.messages.filter((message) => message.role !== "system").slice(-4)
  const lines = tail.map((message) => {
    const calls = message.calls.map((item) => `call ${item.name} ${shorten(item.arguments)}`)
    return `  ${message.role}: ${[shorten(message.text), ...calls].filter(Boolean).join(" | ") || "(empty)"}`
  })
  return [`  system: ${shorten(request.system) || "(none)"}`, `  tools: ${tools}`, ...lines]
}

function unplayedText(item: Unplayed, requests: Recorded[]) {
  const last = requests.findLast((request) => request.step?.startsWith(`${item.script}, step`))
  const steps = item.of === 0 ? "all steps" : `${item.left.length} of ${item.of} steps`
  const played = (index: number) => (index === 0 && item.repeated > 0 ? ` (played ${item.repeated})` : "")
  const lines = item.left.map(
    (step, index) => `  ${item.at + index + 1} of ${item.of}: ${describe(step)}${played(index)}`,
  )
  return [
    `Not played: ${steps} of ${item.script}.`,
    ...lines,
    last ? `Its last request (number ${last.number}) ended with: ${ending(last)}` : "It was never asked.",
  ].join("\n   ")
}

const ending = (request: ModelRequest) => {
  const last = request.messages.at(-1)
  return last ? `${last.role}: ${shorten(last.text)}` : "(no message)"
}

function requestsText(requests: ModelRequest[]) {
  if (requests.length === 0) return "The model was asked nothing."
  const shown = requests.slice(-20)
  const lines = shown.map(
    (request) => `  ${request.number}. ${request.agent || "(no agent)"} ${request.session}: ${ending(request)}`,
  )
  const title = shown.length < requests.length ? `The last ${shown.length} of ${requests.length}` : "All"
  return [`${title} requests:`, ...lines].join("\n")
}

function describe(step: Step): string {
  if (typeof step === "function") return `a function${step.name ? ` (${step.name})` : ""}`
  if ("repeat" in step) return `${describe(step.repeat)}, repeated ${step.times ?? "for ever"}`
  if (step.http) return `status ${step.http.status}`
  return step.pieces.map(describePiece).join(", ") || "an empty answer"
}

function describePiece(piece: Piece) {
  if (piece.type === "text") return `say "${shorten(piece.text, 60)}"`
  if (piece.type === "reasoning") return `think "${shorten(piece.text, 60)}"`
  if (piece.type === "pause") return `pause ${piece.ms} ms`
  if (piece.type === "flood") return `flood of ${piece.bytes} bytes`
  if (piece.type !== "call") return piece.type
  const input = typeof piece.input === "string" ? piece.input : JSON.stringify(piece.input)
  return `call ${piece.name} ${shorten(input, 60)}`
}
