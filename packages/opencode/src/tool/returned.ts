/** The tool by which a child returns. */
export const RETURN = "pass_over_return"

/** The title of its call where the return was taken: nothing more is asked of the child. */
export const RETURNED = "returned"
