/** Every way in which a pass can be refused or fail. The numbers are those of the architecture, §9.1. */
export const PassOverErrorCode = {
  // Request validation
  INVALID_SUBAGENT: "E001",
  CHAIN_DEPTH_EXCEEDED: "E002",
  CYCLE_DETECTED: "E003",
  DISABLED_PAIR: "E004",

  // Execution
  SUBAGENT_TIMEOUT: "E010",
  SUBAGENT_CRASHED: "E011",
  CONTEXT_OVERFLOW: "E012",
  PERMISSION_DENIED: "E013",
  RESOURCE_EXHAUSTED: "E014",
  BUDGET_EXCEEDED: "E015",
  CANCELLED: "E016",
  DECLINED: "E017",

  // Return
  RETURN_CONTEXT_LOST: "E020",
  INVALID_WORK_OUTPUT: "E021",
  RETURN_TIMEOUT: "E022",

  // Configuration
  CONFIG_INVALID: "E030",
  PREFERENCE_CONFLICT: "E031",

  // Concurrent use
  STALE_REVISION: "E040",
  STALE_BASE: "E041",
  NOT_FOUND: "E042",
} as const
export type PassOverErrorCode = (typeof PassOverErrorCode)[keyof typeof PassOverErrorCode]
export type PassOverErrorName = keyof typeof PassOverErrorCode

export type ErrorEntry = {
  /** Whether trying again, without anyone changing anything first, can help. */
  recoverable: boolean
  /** What a user who never read our documents understands. */
  user: string
  /** What to do about it. */
  action: string
}

/** What is known of each code in advance. A code without a line here does not compile. */
export const ERRORS: Record<PassOverErrorCode, ErrorEntry> = {
  E001: {
    recoverable: false,
    user: "There is no such agent to pass work to.",
    action: "Name one of the agents listed, or check its name in your opencode configuration.",
  },
  E002: {
    recoverable: false,
    user: "Too many delegation steps. Cannot pass to another agent.",
    action: "Do this part of the work yourself, or raise max_chain_depth in pass-over.json.",
  },
  E003: {
    recoverable: false,
    user: "This would create a delegation loop. Choose a different agent.",
    action:
      'Choose an agent that is not in the chain yet, or return what you have to the agent that asked you; "enabled": false rules a pair out.',
  },
  E004: {
    recoverable: false,
    user: "Passing work between these two agents is switched off.",
    action: 'Set "enabled": true for this pair in pass-over.json, or choose a different agent.',
  },
  E010: {
    recoverable: true,
    user: "Agent took too long to respond. Try again with a simpler task.",
    action: "Ask for less at once, or give more time with timeout_ms.",
  },
  E011: {
    recoverable: true,
    user: "The agent stopped working before it was done.",
    action: "Try again; if it happens again, look at the child session and at opencode's log.",
  },
  E012: {
    recoverable: false,
    user: "There is more context than the agent can take in.",
    action: "Name fewer files, or lower max_context_size_bytes for this pair.",
  },
  E013: {
    recoverable: false,
    user: "The agent is not allowed to do this.",
    action: "Change the permission of the agent that asks, or choose an agent that needs less.",
  },
  E014: {
    recoverable: true,
    user: "Memory, disk or database could not be used just now.",
    action:
      "Free some space (pass-over audit prune takes old records away), send less context or wait a moment, then try again.",
  },
  E015: {
    recoverable: false,
    user: "The budget for this work is used up.",
    action: "Raise the budget, or finish with what has been found so far.",
  },
  E016: { recoverable: false, user: "The pass was cancelled.", action: "Start it again if it is still wanted." },
  E017: {
    recoverable: false,
    user: "A person said no to this.",
    action: "Ask the user what they would like instead; do not ask for the same again.",
  },
  E020: {
    recoverable: false,
    user: "The record of this pass is gone, so its result has no place to return to.",
    action: "Run pass-over audit restore to rebuild it from the log files.",
  },
  E021: {
    recoverable: true,
    user: "The agent's answer could not be understood.",
    action:
      "It is asked once more by itself; if that fails too, what it did is kept and marked partial. Check output_schema, if you have set one.",
  },
  E022: {
    recoverable: true,
    user: "The result could not be handed back in time.",
    action: "Read it with pass_over_read, or wait: it is delivered at the next chance.",
  },
  E030: {
    recoverable: false,
    user: "Configuration error. Contact your administrator.",
    action: "Correct pass-over.json; pass-over config validate names the line.",
  },
  E031: {
    recoverable: false,
    user: "Two settings in pass-over.json contradict each other.",
    action: "Change one of the two settings that are named.",
  },
  E040: {
    recoverable: false,
    user: "Someone else changed this first.",
    action: "Read it again, then decide again.",
  },
  E041: {
    recoverable: false,
    user: "The file has changed since this change to it was proposed.",
    action: "Look at the difference again before you apply it.",
  },
  E042: {
    recoverable: false,
    user: "Nothing is known under this id.",
    action: "Check the id; pass-over list shows those of this project.",
  },
}

const NAMES = new Map(Object.entries(PassOverErrorCode).map(([name, code]) => [code, name as PassOverErrorName]))

/** "CYCLE_DETECTED" for "E003". */
export function errorName(code: PassOverErrorCode): PassOverErrorName {
  return NAMES.get(code) ?? "SUBAGENT_CRASHED"
}

export type ErrorOptions = {
  recoverable?: boolean
  suggestedAction?: string
  context?: Record<string, unknown>
  cause?: unknown
}

/** The one error that this product throws. Callers decide by `code`, people read `message` and `suggestedAction`. */
export class PassOverError extends Error {
  override readonly name = "PassOverError"
  readonly recoverable: boolean
  readonly suggestedAction: string
  readonly context: Record<string, unknown>

  /** As the architecture has it, with `recoverable` and the suggested action, or with options. */
  constructor(
    readonly code: PassOverErrorCode,
    message: string,
    options: boolean | ErrorOptions = {},
    suggestedAction?: string,
  ) {
    const given = typeof options === "boolean" ? { recoverable: options } : options
    super(message, given.cause === undefined ? undefined : { cause: given.cause })
    this.recoverable = given.recoverable ?? ERRORS[code].recoverable
    this.suggestedAction = suggestedAction ?? given.suggestedAction ?? ERRORS[code].action
    this.context = given.context ?? {}
  }
}

/** A refusal is a value where rules are decided; it becomes a `PassOverError` only where a caller has to be stopped. */
export type Refusal = {
  code: PassOverErrorCode
  message: string
  suggestion: string
  detail: Record<string, unknown>
}

export function refuse(
  code: PassOverErrorCode,
  message: string,
  options: { suggestion?: string; detail?: Record<string, unknown> } = {},
): Refusal {
  return { code, message, suggestion: options.suggestion ?? ERRORS[code].action, detail: options.detail ?? {} }
}

export const toError = (refusal: Refusal) =>
  new PassOverError(refusal.code, refusal.message, { suggestedAction: refusal.suggestion, context: refusal.detail })

/** What a code means to a user, and what helps; nothing for what is no code of ours. */
export const meaning = (code: string | null): Pick<ErrorEntry, "user" | "action"> | undefined =>
  code !== null && code in ERRORS ? ERRORS[code as PassOverErrorCode] : undefined

/** Whether it is the database that could not be used: nothing but the user can help, and anything of ours may say so. */
export const ofDatabase = (error: unknown): error is PassOverError =>
  error instanceof PassOverError && "database" in error.context

/** What is wrong, and what to do about it, in one line. */
export const told = ({ message, suggestedAction }: PassOverError) => `${message} ${suggestedAction}`

/** What an agent does where only the user can help: one that is told to free some space may begin to delete. */
export const TELL = "Do this part of the work yourself, and tell the user this sentence."

/** What an agent is told of an error. */
export function toRefusal(error: PassOverError): Refusal {
  const { code, message, suggestedAction, context: detail } = error
  if (ofDatabase(error)) return refuse(code, told(error), { suggestion: TELL, detail })
  return refuse(code, message, { suggestion: suggestedAction, detail })
}

/** Guide 7.3: the words for a user, never the internals. */
export const userFacingErrorMessage = (error: unknown) =>
  error instanceof PassOverError ? ERRORS[error.code].user : "Unexpected error. Please try again."

/** One line for an agent or a log: "E003 CYCLE_DETECTED: … → what to do". */
export const sentence = (refusal: Pick<Refusal, "code" | "message" | "suggestion">) =>
  `${refusal.code} ${errorName(refusal.code)}: ${refusal.message} → ${refusal.suggestion}`
