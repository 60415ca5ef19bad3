import type { WorkOutput } from "./output"
import type { Pass } from "./pass"
import type { PassOverMarker, PassOverReturnMarker } from "./request"

/**
 * The marks of the architecture, §3.2, as metadata on the parts that the host stores: a session read back later shows
 * where work was passed over and where it came back.
 */
export const passOverMarker = (
  pass: Pick<Pass, "id" | "originating_agent_id" | "subagent_id" | "reason">,
): PassOverMarker => ({
  pass_over_id: pass.id,
  originating_agent: pass.originating_agent_id,
  subagent: pass.subagent_id,
  reason: pass.reason,
})

/** The marks of a message that brings a result. */
export const resultMarks = (pass: Parameters<typeof passOverMarker>[0], output: WorkOutput) => ({
  pass_over: passOverMarker(pass),
  pass_over_return: returnMarker(output),
})

export const returnMarker = (output: WorkOutput): PassOverReturnMarker => ({
  work_output: {
    work_id: output.work_id,
    status: output.status,
    ...(output.summary.decision ? { decision: output.summary.decision } : {}),
    artifacts_count: output.artifacts.length,
  },
  return_to: output.return_to,
})
