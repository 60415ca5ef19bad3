import { call, say, type ModelRequest } from "@pass-over/rehearsal"

/** What agents in scenarios on the real opencode mostly do. */
export const to = (subagent: string, objective: string, more: Record<string, unknown> = {}) =>
  call("pass_over", { subagent, objective, reason: "test", ...more })

export const back = call("pass_over_return", { decision: "approved", decision_reason: "It is right." })

/** An originator that says what came back to it. */
export const answerOf = (request: ModelRequest) => say(request.result("pass_over") ?? "nothing")
