import { argumentsOf } from "./chunk"
import { createRecord, type Recorded, type WaitOptions } from "./record"
import type { Reply } from "./reply"
import { report, type Problem } from "./report"
import { parseRequest, type Raw } from "./request"
import { createPlaybook, type Scenario } from "./scenario"

export type Decision = { ok: true; reply: Reply } | { ok: false; outcome: "unexpected" | "failed"; sentence: string }

const WAIT_MS = 20_000

/** One scenario being played: where it stands, what was asked, and what went wrong. Knows nothing of sockets. */
export function createStage(scenario: Scenario) {
  const playbook = createPlaybook(scenario)
  const record = createRecord()
  const problems: Problem[] = []

  const text = () => report(problems, playbook.unplayed(), record.list())

  const fail = (outcome: "unexpected" | "failed", request: Recorded, reason: string): Decision => {
    problems.push({ request, title: outcome === "failed" ? "A step failed for" : "Unexpected request from", reason })
    return { ok: false, outcome, sentence: `${reason} The rehearsal's report has the details.` }
  }

  return {
    record,
    report: text,

    receive(raw: Omit<Raw, "number">): Recorded | undefined {
      const parsed = parseRequest({ ...raw, number: record.list().length + 1 }, record.turn)
      if (parsed) return record.add(parsed)
      problems.push({ title: "A request whose body is not a JSON object.", reason: raw.text.slice(0, 200) })
      return undefined
    },

    async decide(request: Recorded): Promise<Decision> {
      try {
        const turn = playbook.next(request)
        if (!turn.ok) return fail("unexpected", request, turn.reason)
        request.step = turn.label
        const reply = typeof turn.play === "function" ? await turn.play(request) : turn.play
        // Types do not reach tests written in JavaScript, and a function that forgets its return is easily written.
        if (!Array.isArray(reply?.pieces)) {
          return fail("failed", request, `The function of ${turn.label} gave no reply.`)
        }
        check(reply)
        return { ok: true, reply }
      } catch (error) {
        return fail("failed", request, `The script of ${request.step ?? request.agent} threw: ${String(error)}`)
      }
    },

    strayed(method: string, path: string) {
      problems.push({ title: `Unexpected request: ${method} ${path}`, reason: "The model has no such route." })
    },

    waitFor(agent: string, options: WaitOptions) {
      const { count = 1, session, timeout_ms = WAIT_MS } = options
      const filter = session === undefined ? { agent } : { agent, session }
      return record.wait(filter, count, timeout_ms, () => {
        const seen = record.list(filter).length
        const late = `Request ${count} of ${agent} did not come within ${timeout_ms} ms; there were ${seen}.`
        return new Error([late, text()].filter(Boolean).join("\n\n"))
      })
    },
  }
}

const SILENT = ["pause", "hold"]

/** What could not be played is found here and not in mid-stream: arguments that are no JSON, a refusal too late. */
function check({ pieces }: Reply) {
  for (const piece of pieces) if (piece.type === "call") argumentsOf(piece)
  const refusal = pieces.findIndex((piece) => piece.type === "refuse")
  if (pieces.slice(0, refusal + 1).every((piece) => piece.type === "refuse" || SILENT.includes(piece.type))) return
  throw new Error("A connection that is in use cannot be refused; fault.refuse() comes first in a reply.")
}

export type Stage = ReturnType<typeof createStage>
