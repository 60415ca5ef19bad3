import type { PassID } from "../domain/id"
import type { Runner } from "./runner"

/** The questions of the host that a person has not answered, and whose limits stand still because of each. */
export type Questions = {
  asked(request_id: string, of: PassID, waiting: readonly Runner[]): void
  answered(request_id: string): void
  /** A pass is over, and with it what it asked: a question may outlive its child, and its answer is nobody's then. */
  over(of: PassID): void
}

export function createQuestions(): Questions {
  const open = new Map<string, { of: PassID; waiting: readonly Runner[] }>()

  function answered(request_id: string) {
    const known = open.get(request_id)
    if (!open.delete(request_id)) return
    for (const runner of known?.waiting ?? []) runner.input({ type: "waiting", more: false })
  }

  return {
    // The same question may be heard of more than once.
    asked(request_id, of, waiting) {
      if (open.has(request_id)) return
      open.set(request_id, { of, waiting })
      for (const runner of waiting) runner.input({ type: "waiting", more: true })
    },
    answered,
    over(of) {
      for (const [request_id, question] of open) if (question.of === of) answered(request_id)
    },
  }
}
