import { COMMANDS } from "../src/cli/commands"
import type { Command } from "../src/cli/command"
import { EXIT, EXIT_TEXT, type ExitName } from "../src/cli/exit"
import { table } from "./markdown"

const usage = (path: string, { args = [] }: Command) => [path, ...args.map((one) => one.name)].join(" ")

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const forWhom = ({ person }: Command) => {
  if (person === undefined) return ""
  return person === true ? " For a person alone." : " What decides is for a person alone."
}

function one(command: Command, before: string): string[] {
  const path = `${before} ${command.name}`
  if (command.commands) return command.commands.flatMap((below) => one(below, path))
  const named = [
    ...(command.args ?? []).map(({ name, text }) => [`\`${name}\``, text]),
    ...(command.options ?? []).map(({ flags, text }) => [`\`${flags}\``, text]),
  ]
  return [
    `### \`${usage(path, command)}\``,
    `${sentence(command.summary)}${forWhom(command)}`,
    ...(named.length > 0 ? [named.map(([name, text]) => `- ${name}: ${text}`).join("\n")] : []),
    ["```sh", ...command.examples, "```"].join("\n"),
  ]
}

/** Every command with its arguments, options and examples, from what the command line itself is made of. */
export const commandsDocument = (): string => COMMANDS.flatMap((command) => one(command, "pass-over")).join("\n\n")

export const exitsDocument = (): string =>
  table(
    ["Code", "Meaning"],
    (Object.keys(EXIT) as ExitName[]).map((name) => [String(EXIT[name]), EXIT_TEXT[name]]),
  )
