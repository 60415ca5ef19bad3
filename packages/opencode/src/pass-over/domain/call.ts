/** The call id of the nth pass of one tool call: the first has that of the call itself, the others count on. */
export const nthCall = (call_id: string, nth: number) => (nth === 1 ? call_id : `${call_id}#${nth}`)

/** The tool call that a pass belongs to, from its call id. */
export const toolCallOf = (call_id: string) => call_id.replace(/#\d+$/, "")

/** The call id of a pass that a run of a flow makes: from the run and what is to be done, so that a crash finds it again. */
export const flowCall = (run_id: string, key: string, attempt: number) =>
  `flow:${run_id}:${key}${attempt === 1 ? "" : `:${attempt}`}`

/** Whether a pass is a step of a flow: its run reads the result, and nobody else is brought it. */
export const ofFlow = ({ call_id }: { call_id: string | null }) => call_id?.startsWith("flow:") === true

/** The run that a pass belongs to, from its call id. */
export const runOfCall = (call_id: string | null) => /^flow:(run_[^:]+):/.exec(call_id ?? "")?.[1]

/** The call id of a pass in which something is done again that a person has sent back. */
export const reworkCall = (command_id: string) => `rework:${command_id}`

export const isRework = (call_id: string | null) => call_id?.startsWith("rework:") === true
