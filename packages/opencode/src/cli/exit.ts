import type { PassOverErrorCode } from "../pass-over/domain/errors"

/** What the command line ends with. Programs may rely on the numbers; `docs/command-line.md` has the same table. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  not_found: 3,
  config: 4,
  database: 5,
  late: 6,
  unconfirmed: 7,
  objection: 10,
  partial: 11,
  unsuccessful: 12,
  refused: 13,
  cancelled: 14,
  unexpected: 70,
} as const
export type ExitName = keyof typeof EXIT
export type ExitCode = (typeof EXIT)[ExitName]

export const EXIT_TEXT: Record<ExitName, string> = {
  ok: "Done.",
  failed: "It was refused or went wrong; the message says why. Also when `doctor` or `audit verify` found something.",
  usage: "The command, an option or an argument is not right.",
  not_found: "Nothing is known under this id or name.",
  config: "A preferences file, or what was to be written into one, is not valid.",
  database: "The database cannot be used.",
  late: "Somebody else was first, or the pass has ended already.",
  unconfirmed: "It was handed to the opencode that runs the pass, but nobody has answered yet.",
  objection: "`run`: the agent says needs_modification, rejected or blocked.",
  partial: "`run`: the agent did only a part of it, or its answer could not be used; what there is was kept.",
  unsuccessful: "`run`: the pass failed or its time was up.",
  refused: "`run`: the pass was refused before it began; the message says which rule did it.",
  cancelled: "`run`: the pass was cancelled, or a person said no to it.",
  unexpected: "A mistake of ours. Please report it.",
}

const BY_CODE: Partial<Record<PassOverErrorCode, ExitCode>> = {
  E014: EXIT.database,
  E030: EXIT.config,
  E031: EXIT.config,
  E040: EXIT.late,
  E041: EXIT.late,
  E042: EXIT.not_found,
}

export const exitFor = (code: PassOverErrorCode): ExitCode => BY_CODE[code] ?? EXIT.failed
