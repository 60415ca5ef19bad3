import type { Pass } from "../domain/pass"

const MARK = "flow:"

/** The call id of a work of a run: whoever comes after a crash finds its pass by it. */
export const flowCall = (run_id: string, work: string, attempt: number) =>
  `${MARK}${run_id}:${work}${attempt === 1 ? "" : `:${attempt}`}`

/** Whether a pass is a step of a flow, which does with its outcome what the flow says. */
export const worksFor = ({ call_id }: Pick<Pass, "call_id">) => call_id?.startsWith(MARK) ?? false
