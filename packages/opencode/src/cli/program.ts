import { Command as Program, CommanderError } from "commander"
import { resolve } from "node:path"
import { byAgent } from "../agent-shell"
import { PassOverError } from "../pass-over/domain/errors"
import { nearest } from "../pass-over/domain/nearest"
import { Stop, text, usage, type Command, type Context, type Values } from "./command"
import { clean } from "./clean"
import { COMMANDS } from "./commands"
import { EXIT, EXIT_TEXT, exitFor, type ExitCode, type ExitName } from "./exit"
import { createOutput, type Output, type Terminal } from "./output"
import { real } from "./place"

export type World = Omit<Terminal, "json"> & { directory: string; version: string; now(): number }

type Done = { code: ExitCode }

const examples = (list: readonly string[]) =>
  list.length === 0 ? "" : `\nExamples:\n${list.map((one) => `  $ ${one}`).join("\n")}\n`

const exits = () =>
  `\nExit codes:\n${(Object.keys(EXIT) as ExitName[]).map((name) => `  ${String(EXIT[name]).padStart(2)}  ${EXIT_TEXT[name]}`).join("\n")}\n`

function add(parent: Program, command: Command, run: Run) {
  const made = parent.command(command.name).description(command.summary)
  made.addHelpText("after", () => examples(command.examples))
  for (const one of command.args ?? []) made.argument(one.name, one.text)
  if (command.commands) {
    // What is asked of a command that has commands below it is its help.
    made.option("--json", "one JSON value for programs")
    for (const below of command.commands) add(made, below, run)
    return
  }
  for (const { flags, text: what } of command.options ?? []) made.option(flags, what)
  made.option("--json", "one JSON value for programs").option("--directory <folder>", "the project, if not this folder")
  made.action(async (...given: unknown[]) => {
    const options = made.opts<Record<string, unknown>>()
    const args = given.slice(0, -2).flatMap((one) => (Array.isArray(one) ? one : [one]))
    await run(command, { args: args.filter((one): one is string => typeof one === "string"), options })
  })
}

type Call = { args: string[]; options: Values }
type Run = (command: Command, call: Call) => Promise<void>

function build(world: World, { json, said, run }: { json: boolean; said(text: string): void; run: Run }): Program {
  const program = new Program("pass-over")
    .description("Delegation between coding agents as a contract, for opencode.")
    .version(world.version, "-v, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .option("--json", "one JSON value for programs")
    .helpCommand("help [command]", "print the help of a command")
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: (out) => (json ? said(out) : world.write(out)),
      // What is wrong is said once, by `tell`, with the right exit code.
      writeErr: said,
      getOutHelpWidth: () => world.width ?? 100,
      getErrHelpWidth: () => world.width ?? 100,
    })
    .addHelpText("after", () => examples(["pass-over init", "pass-over list", "pass-over help config"]) + exits())
  for (const command of COMMANDS) add(program, command, run)
  inherit(program)
  return program
}

// Settings of the program do not reach commands that are made with `command()` after they were set one by one.
function inherit(program: Program) {
  for (const below of program.commands) {
    below.copyInheritedSettings(program)
    inherit(below)
  }
}

/** The help of a command that there is not is a mistake, and not the help of everything. */
function helpOf(program: Program, [name, ...more]: readonly string[]): void {
  if (name === undefined || name.startsWith("-")) return program.help()
  const found = program.commands.find((below) => below.name() === name)
  if (found) return helpOf(found, more)
  const known = program.commands.map((below) => below.name())
  const near = nearest(name, known)
  throw usage(`There is no command "${name}".`, near ? `Did you mean ${near}?` : `There are: ${known.join(", ")}.`)
}

/** An option that takes every word after it, where one stands in front of what a command cannot do without. */
function swallowed(command: Command | undefined, argv: readonly string[]): string | undefined {
  const flags = (command?.options ?? []).flatMap(({ flags }) => (flags.endsWith("...>") ? flags.split(" ", 1) : []))
  const taker = flags.find((flag) => argv.includes(flag))
  return taker && `${taker} takes every word after it; write the words of the command before it.`
}

type Failure = { exit: ExitCode; message: string; suggestion?: string | undefined; code: string }

const named = (argv: readonly string[]) =>
  COMMANDS.find(({ name }) => name === argv.find((word) => !word.startsWith("-")))

/** The command that was meant, as far as it can be told, with what comes before it: its help is what helps. */
function meant(program: Program, argv: readonly string[]): string {
  const found = argv.reduce((at, word) => at.commands.find((below) => below.name() === word) ?? at, program)
  const path = (one: Program): string => (one.parent ? `${path(one.parent)} ${one.name()}` : one.name())
  return path(found)
}

/** Whatever went wrong as a sentence. What we did not foresee is ours, and its stack is of no use to a user. */
function failure(error: unknown, called: string): Failure {
  if (error instanceof Stop) {
    return { exit: error.exit, message: error.message, suggestion: error.suggestion, code: error.code ?? "FAILED" }
  }
  if (error instanceof PassOverError) {
    return { exit: exitFor(error.code), message: error.message, suggestion: error.suggestedAction, code: error.code }
  }
  if (error instanceof CommanderError) {
    const [message = "", ...more] = error.message.replace(/^error: /, "").split("\n")
    const hint = more
      .join(" ")
      .trim()
      .replace(/^\((.*)\)$/, "$1")
    return { exit: EXIT.usage, message, suggestion: hint || `${called} --help shows how it is called.`, code: "USAGE" }
  }
  const said = error instanceof Error ? error.message : String(error)
  return {
    exit: EXIT.unexpected,
    message: `Something went wrong that should not: ${said}`,
    suggestion: "Please report it, with the command that you called.",
    code: "UNEXPECTED",
  }
}

function tell({ message, suggestion, code }: Failure, out: Output, terminal: Terminal) {
  if (out.json) return out.value({ error: { code, message, ...(suggestion ? { suggestion } : {}) } })
  terminal.writeError(`${clean(message)}\n${suggestion ? `→ ${clean(suggestion)}\n` : ""}`)
}

/** A child that answers for its user, or widens its own rights, would make every question to a person worthless. */
function forPerson({ person }: Command, { options, env }: Pick<Context, "env"> & { options: Values }, called: string) {
  const decides = typeof person === "function" ? person(options) : person
  if (!decides || !byAgent(env)) return
  throw new Stop(
    EXIT.failed,
    `${called} is for a person, and an agent started this shell.`,
    `Tell the user what you would do and why; they can call it in a terminal of their own, or as !${called} in opencode. Work is passed on with the tool pass_over.`,
    "E013",
  )
}

const HELP = ["commander.helpDisplayed", "commander.help", "commander.version"]

/** Carries out one command line and says with what to exit. It never throws and never shows a stack. */
export async function execute(argv: readonly string[], world: World): Promise<ExitCode> {
  const done: Done = { code: EXIT.ok }
  const json = argv.includes("--json")
  const terminal: Terminal = { ...world, json }
  const out = createOutput(terminal)
  const help = { text: "" }
  const said = (text: string) => void (help.text += text)
  const run: Run = async (command, { args, options }) => {
    const directory = real(resolve(world.directory, text(options, "directory") ?? "."))
    const context: Context = { out, directory, env: world.env, now: world.now }
    forPerson(command, { options, env: world.env }, meant(program, argv))
    if (command.run) done.code = await command.run({ ...context, args, options })
  }
  const program = build(world, { json, said, run })
  try {
    const words = argv.filter((word) => word !== "--json")
    const [first, ...asked] = words
    if (first === "help") helpOf(program, asked)
    if (first === undefined) program.help()
    await program.parseAsync([...argv], { from: "user" })
    return done.code
  } catch (error) {
    if (error instanceof CommanderError && HELP.includes(error.code)) {
      // A command that only has commands below it, called alone, is asked what it can do.
      if (!json) world.write(help.text)
      if (json) out.value(error.code === "commander.version" ? { version: world.version } : { help: help.text })
      return EXIT.ok
    }
    const failed = failure(error, meant(program, argv))
    const missing = error instanceof CommanderError && error.code === "commander.missingArgument"
    const suggestion = (missing ? swallowed(named(argv), argv) : undefined) ?? failed.suggestion
    tell({ ...failed, suggestion }, out, terminal)
    return failed.exit
  }
}
