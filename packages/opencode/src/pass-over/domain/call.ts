/** The call id of the nth pass of one tool call: the first has that of the call itself, the others count on. */
export const nthCall = (call_id: string, nth: number) => (nth === 1 ? call_id : `${call_id}#${nth}`)

/** The tool call that a pass belongs to, from its call id. */
export const toolCallOf = (call_id: string) => call_id.replace(/#\d+$/, "")

/** The call id of a pass of a run; it follows from the run and the work, so that the pass is found again after a crash. */
export const flowCall = (run_id: string, key: string, attempt: number) =>
  `flow:${run_id}:${key}${attempt === 1 ? "" : `:${attempt}`}`

/** The run that a pass belongs to, from its call id. */
export const runOfCall = (call_id: string | null) => /^flow:(run_[^:]+):/.exec(call_id ?? "")?.[1]

/** The call id of a pass in which something is done again that a person has sent back. */
export const reworkCall = (command_id: string) => `rework:${command_id}`

export const isRework = (call_id: string | null) => call_id?.startsWith("rework:") === true
