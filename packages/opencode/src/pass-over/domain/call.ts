/** The call id of the nth pass of one tool call: the first has that of the call itself, the others count on. */
export const nthCall = (call_id: string, nth: number) => (nth === 1 ? call_id : `${call_id}#${nth}`)

/** The tool call that a pass belongs to, from its call id. */
export const toolCallOf = (call_id: string) => call_id.replace(/#\d+$/, "")
