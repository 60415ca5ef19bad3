import type { Refusal } from "../pass-over/domain/errors"
import { EXIT, exitFor, type ExitCode } from "./exit"
import type { Output } from "./output"

export type Context = {
  out: Output
  /** Where the command was called; `--directory` is already in it. */
  directory: string
  env: Readonly<Record<string, string | undefined>>
  now(): number
}

export type Values = Readonly<Record<string, unknown>>

export type Invocation = Context & { args: readonly string[]; options: Values }

export type Option = { flags: string; text: string }

/** A command is one file that exports one of these, and one line in `commands.ts`. */
export type Command = {
  name: string
  summary: string
  /** As people write them: "<id>", "[text...]". */
  args?: readonly { name: string; text: string }[]
  options?: readonly Option[]
  examples: readonly string[]
  /** A command with commands of its own has no work itself. */
  commands?: readonly Command[]
  run?(call: Invocation): Promise<ExitCode>
  /** It decides in a person's name, or some calls of it do: an agent's shell is refused. */
  person?: true | ((options: Values) => boolean)
}

/** Ends a command with a sentence; never with a stack. */
export class Stop extends Error {
  override readonly name = "Stop"
  constructor(
    readonly exit: ExitCode,
    message: string,
    readonly suggestion?: string,
    readonly code?: string,
  ) {
    super(message)
  }
}

export const refused = (refusal: Refusal) =>
  new Stop(exitFor(refusal.code), refusal.message, refusal.suggestion, refusal.code)

export const usage = (message: string, suggestion?: string) => new Stop(EXIT.usage, message, suggestion, "USAGE")

/** A text option, or nothing. */
export const text = (options: Values, name: string): string | undefined => {
  const value = options[name]
  return typeof value === "string" ? value : undefined
}

/** A whole number from an option. */
export function count(options: Values, name: string, fallback: number): number {
  const given = text(options, name)
  if (given === undefined) return fallback
  const value = Number(given)
  if (Number.isInteger(value) && value > 0) return value
  throw usage(`--${name} must be a whole number above 0, not "${given}".`)
}
