import { describe, expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { COMMANDS } from "../../src/cli/commands"
import type { Command } from "../../src/cli/command"
import { EXIT } from "../../src/cli/exit"
import { createHome } from "./support"

const paths = (list: readonly Command[], before: string[] = []): { path: string[]; command: Command }[] =>
  list.flatMap((command) => {
    const path = [...before, command.name]
    return command.commands ? paths(command.commands, path) : [{ path, command }]
  })

const ALL = paths(COMMANDS)

describe("the help", () => {
  test("lists every command, examples and all exit codes", async () => {
    using home = createHome()
    const { code, out } = await home.run("--help")
    expect(code).toBe(0)
    for (const { name } of COMMANDS) expect(out).toContain(`\n  ${name}`)
    for (const exit of Object.values(EXIT)) expect(out).toMatch(new RegExp(`\\n +${exit} {2}\\S`))
    expect((await home.run()).out).toBe(out)
    expect((await home.run("help")).out).toBe(out)
  })

  test.each(ALL.map(({ path, command }) => [path.join(" "), command] as const))(
    "of %s has examples, which are of it",
    async (path, command) => {
      using home = createHome()
      const { code, out } = await home.run(...path.split(" "), "--help")
      expect(code).toBe(0)
      expect(command.examples.length).toBeGreaterThan(0)
      for (const example of command.examples) {
        expect(out).toContain(example)
        expect(example).toStartWith(`pass-over ${path}`)
      }
      expect(command.run).toBeDefined()
    },
  )

  test("of a command that has commands below it is what it answers alone", async () => {
    using home = createHome()
    const alone = await home.run("config")
    expect(alone).toMatchObject({ code: 0, err: "" })
    expect(alone.out).toBe((await home.run("config", "--help")).out)
    expect(alone.out).toContain("explain [options] <from> <to>")
  })

  test("tells the version", async () => {
    using home = createHome()
    expect(await home.run("--version")).toMatchObject({ code: 0, out: "1.2.3\n" })
  })
})

describe("what is not understood", () => {
  test.each([
    [["lst"], "unknown command 'lst'", "Did you mean list?"],
    [["list", "--al"], "unknown option '--al'", "Did you mean --all?"],
    [["config", "explian", "a", "b"], "unknown command 'explian'", "Did you mean explain?"],
    [["show"], "missing required argument 'id'", "pass-over show --help"],
    [["config", "set", "defaults"], "missing required argument 'setting'", "pass-over config set --help"],
    [["list", "extra"], "too many arguments", ""],
    [["list", "--limit", "many"], '--limit must be a whole number above 0, not "many".', ""],
    [["list", "--status", "sleeping"], "--status knows running,", ""],
    [["list", "--status", "running,returnd"], "--status knows running, initial", "Did you mean returned?"],
    [["list", "--directory", "/nowhere/at/all"], "There is no folder /nowhere/at/all.", ""],
    ...["init", "list", "doctor"].map((name): [string[], string, string] => [
      [name, "--directory", import.meta.path],
      "is a file, not a folder.",
      "",
    ]),
    [["help", "lst"], 'There is no command "lst".', "Did you mean list?"],
    [["help", "config", "nope"], 'There is no command "nope".', "show, explain"],
    [["run", "audit", ""], "What to do must not be empty.", ""],
    [["run", "", "Review"], "The name of the agent must not be empty.", ""],
    [["run", "audit", "Review", "--timeout", "0s"], '"0s" is no time to work in.', "Write 90s"],
    [["run", "audit", "Review", "--timeout", "25h"], '"25h" is too long.', "At most 24 h"],
    [["run", "audit", "Review", "--model", "foo"], 'A model is written "provider/model".\n', ""],
    [
      ["run", "audit", "--files", "a.ts", "Review"],
      "missing required argument 'objective'",
      "--files takes every word",
    ],
    [["audit", "query", "--action", "appplied"], "--action knows requested", "Did you mean applied?"],
    [["flow", "run", "feature", "gaol=x"], 'has no input "gaol"', "pass-over flow show feature"],
    [["flow", "run", "feature"], "also needs: goal", "pass-over flow show feature"],
  ])("%j ends with 2 and says what was meant", async (argv, message, suggestion) => {
    using home = createHome()
    const { code, out, err } = await home.run(...argv)
    expect({ code, out }).toEqual({ code: EXIT.usage, out: "" })
    expect(err).toContain(message)
    expect(err).toContain(suggestion)
    const [first, ...more] = err.trimEnd().split("\n")
    expect(`${first}\n`).toContain(message)
    expect(more.length).toBeLessThan(2)
  })

  test("is one JSON value where a program reads", async () => {
    using home = createHome()
    const ran = await home.run("lst", "--json")
    expect(ran.code).toBe(EXIT.usage)
    expect(ran.err).toBe("")
    expect(ran.json()).toEqual({
      error: { code: "USAGE", message: "unknown command 'lst'", suggestion: "Did you mean list?" },
    })
  })
})

test("what is asked of the program itself is one JSON value too", async () => {
  using home = createHome()
  expect((await home.run("--version", "--json")).json()).toEqual({ version: "1.2.3" })
  for (const argv of [
    ["help"],
    ["--help"],
    ["list", "--help"],
    ["help", "list"],
    ["flow"],
    ["config"],
    ["audit"],
    [],
  ]) {
    const ran = await home.run(...argv, "--json")
    expect([argv, ran.code, ran.err]).toEqual([argv, EXIT.ok, ""])
    expect(ran.json()).toEqual({ help: expect.stringContaining("Usage: pass-over") })
  }
})

test("every command that reads answers with one JSON value in an empty home", async () => {
  using home = createHome()
  for (const argv of [
    ["list"],
    ["inbox"],
    ["doctor"],
    ["config", "show"],
    ["config", "validate"],
    ["config", "explain", "alice", "audit"],
    ["config", "schema"],
  ]) {
    const ran = await home.run(...argv, "--json")
    expect(ran.err).toBe("")
    expect(ran.json()).toBeObject()
  }
})

test("a mistake of ours is a sentence, never a stack", async () => {
  using home = createHome()
  // A database that is a folder is foreseen; preferences that are a pipe to nowhere are a fault of the file.
  mkdirSync(home.database)
  const { code, err } = await home.run("show", "abcdef12")
  expect(code).toBe(EXIT.database)
  expect(err).toContain("→ ")
  expect(err).not.toMatch(/\n\s+at |\.ts:\d/)
})

test("a broken preferences file ends commands that need it with its line, and no others", async () => {
  using home = createHome()
  mkdirSync(join(home.project, ".opencode"))
  writeFileSync(join(home.project, ".opencode", "pass-over.json"), `{\n  "defaults": { "auto_aply": true }\n}`)
  const explain = await home.run("config", "explain", "alice", "audit")
  expect(explain.code).toBe(EXIT.config)
  expect(explain.err).toContain("pass-over.json:2:17 defaults.auto_aply: unknown setting")
  const validate = await home.run("config", "validate")
  expect(validate.code).toBe(EXIT.config)
  expect(validate.out).toContain(
    ':2:17 E030 defaults.auto_aply: unknown setting "auto_aply"; did you mean `auto_apply`?\n  "auto_aply": true\n',
  )
  expect((await home.run("list")).code).toBe(0)
})

test("a shell that an agent has started decides nothing, unless it works on another database", async () => {
  using home = createHome()
  process.env.PASS_OVER_SHELL = home.database
  const no = await home.run("config", "set", "audit", "can_modify_files", "true")
  expect([no.code, no.err]).toEqual([
    EXIT.failed,
    "pass-over config set is for a person, and an agent started this shell.\n→ Tell the user what you would do and why; they can call it in a terminal of their own, or as !pass-over config set in opencode. Work is passed on with the tool pass_over.\n",
  ])
  expect((await home.run("review", "x", "--accept", "*", "--json")).json()).toMatchObject({ error: { code: "E013" } })
  expect((await home.run("config", "show")).code).toBe(EXIT.ok)
  process.env.PASS_OVER_SHELL = "/another.db"
  expect((await home.run("config", "set", "audit", "can_modify_files", "true")).code).toBe(EXIT.ok)
})
