import { describe, expect, test } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { keyOf, valueOf } from "../../src/cli/commands/config-set"
import { EXIT } from "../../src/cli/exit"
import { openStore } from "../pass-over/support/database"
import { createHome, type Home } from "./support"

const put = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
const projectFile = (home: Home) => join(home.project, ".opencode", "pass-over.json")

type Explained = {
  setting: string
  value: unknown
  source: { where: string }
  shadows: { value: unknown; where: string }[]
}

async function explained(home: Home, setting: string, from = "alice", to = "audit") {
  const { settings } = (await home.run("config", "explain", from, to, "--json")).json() as { settings: Explained[] }
  const found = settings.find((one) => one.setting === setting)
  if (!found) throw new Error(`nothing is said of ${setting}`)
  return found
}

test("explain prints value, source and file:line, and what is shadowed", async () => {
  using home = createHome()
  put(
    projectFile(home),
    `{\n  // longer\n  "pairs": {\n    "alice->audit": {\n      "timeout_ms": 900000\n    }\n  }\n}`,
  )
  put(home.folder.at("config", "opencode", "pass-over.json"), `{ "defaults": { "timeout_ms": 5000 } }`)
  const found = await explained(home, "timeout_ms")
  expect(found.value).toBe(900_000)
  expect(found.source.where).toBe(`${projectFile(home)}:5:7`)
  expect(found.shadows.map(({ value, where }) => [value, where])).toEqual([
    [5_000, `${home.folder.at("config", "opencode", "pass-over.json")}:1:17`],
    [600_000, "the agent's own default"],
    [600_000, "the shipped default"],
    [30_000, "the system default"],
  ])
  const { out } = await home.run("config", "explain", "alice", "audit")
  expect(out).toContain(`timeout_ms`)
  expect(out).toContain(" .opencode/pass-over.json:5:7")
  const { out: typo } = await home.run("config", "explain", "alice", "adit")
  expect(typo).toContain('There is no agent "adit" here; did you mean `audit`?')
})

test("what the environment says comes first, is shown with its place, and is validated like a file", async () => {
  using home = createHome()
  put(projectFile(home), `{ "defaults": { "timeout_ms": 900000 } }`)
  process.env.PASS_OVER_CONFIG_CONTENT = `{ "defaults": { "timeout_ms": 7000 } }`
  const found = await explained(home, "timeout_ms")
  expect([found.value, found.source.where]).toEqual([7_000, "PASS_OVER_CONFIG_CONTENT:1:17"])
  expect(found.shadows[0]).toMatchObject({ value: 900_000, where: `${projectFile(home)}:1:17` })
  expect((await home.run("config", "explain", "alice", "audit")).out).toContain(" PASS_OVER_CONFIG_CONTENT:1:17")
  expect((await home.run("config", "show")).out).toStartWith(
    `PASS_OVER_CONFIG_CONTENT\n  defaults.timeout_ms = 7000\n${projectFile(home)}\n`,
  )
  expect((await home.run("config", "validate")).out).toStartWith("PASS_OVER_CONFIG_CONTENT is valid.\n")

  process.env.PASS_OVER_CONFIG_CONTENT = `{ "defaults": { "timeout": 7000 } }`
  const { code, out } = await home.run("config", "validate")
  expect(code).toBe(EXIT.config)
  expect(out).toContain('PASS_OVER_CONFIG_CONTENT:1:17 E030 defaults.timeout: unknown setting "timeout"')

  process.env.PASS_OVER_CONFIG_CONTENT = ""
  expect((await explained(home, "timeout_ms")).value).toBe(900_000)
})

describe("config set", () => {
  test("writes into the project's file and says what changes for whom; unset takes it back", async () => {
    using home = createHome()
    await home.run("init")
    const before = readFileSync(projectFile(home), "utf8")
    const dry = await home.run("config", "set", "alice->audit", "timeout_ms", "900000", "--dry-run", "--json")
    expect(dry.json()).toMatchObject({
      saved: false,
      changes: [{ from: "alice", to: "audit", setting: "timeout_ms", before: 600_000, after: 900_000 }],
    })
    expect(readFileSync(projectFile(home), "utf8")).toBe(before)

    const set = await home.run("config", "set", "alice->audit", "timeout_ms", "900000")
    expect(set).toMatchObject({ code: 0, out: expect.stringContaining("alice → audit  timeout_ms  600000  900000") })
    expect((await explained(home, "timeout_ms")).value).toBe(900_000)
    const text = readFileSync(projectFile(home), "utf8")
    for (const comment of before.match(/\/\/ .*/g) ?? []) expect(text).toContain(comment)

    expect((await home.run("config", "unset", "alice->audit", "timeout_ms")).code).toBe(0)
    expect((await explained(home, "timeout_ms")).value).toBe(600_000)
  })

  test("writes for all projects, or into the database, where that is asked for", async () => {
    using home = createHome()
    await home.run("config", "set", "audit", "can_modify_files", "false", "--global")
    expect((await explained(home, "can_modify_files")).source.where).toStartWith(
      home.folder.at("config", "opencode", "pass-over.json"),
    )
    await home.run("config", "set", "audit", "can_modify_files", "true", "--stored")
    const found = await explained(home, "can_modify_files")
    expect(found).toMatchObject({
      value: true,
      source: { where: "subagents.audit.can_modify_files in the stored preferences" },
    })
    expect((await home.run("config", "show")).out).toContain("subagents.audit.can_modify_files = true")
    await home.run("config", "unset", "audit", "can_modify_files", "--stored")
    expect((await explained(home, "can_modify_files")).value).toBe(false)
    expect(await home.run("config", "set", "a->b", "enabled", "true", "--stored", "--global")).toMatchObject({
      code: EXIT.usage,
    })
  })

  test("from a folder inside the project what is stored for the project is meant", async () => {
    using home = createHome()
    const inside = home.folder.at("project", "src")
    mkdirSync(inside, { recursive: true })
    const here = (...argv: string[]) => home.run("config", ...argv, "--directory", inside)
    await here("set", "audit", "can_modify_files", "false", "--stored")
    expect((await explained(home, "can_modify_files")).value).toBe(false)
    expect((await here("show")).out).toContain("subagents.audit.can_modify_files = false")
    await home.run("config", "set", "audit", "max_compute_time_ms", "7000", "--stored")
    expect((await here("explain", "alice", "audit")).out).toContain("7000")
    await here("unset", "audit", "--stored")
    expect((await home.run("config", "show")).out).not.toContain("subagents.audit")
  })

  test("writes a limit, as a refusal for want of it names the command, and takes it back", async () => {
    using home = createHome()
    put(projectFile(home), `{\n  // mine\n  "limits": { "running": 2 }\n}`)
    const dry = await home.run("config", "set", "limits", "tree.passes", "7", "--dry-run", "--json")
    expect(dry.json()).toEqual({
      where: projectFile(home),
      saved: false,
      changes: [{ setting: "tree.passes", before: 100, after: 7 }],
    })
    expect(readFileSync(projectFile(home), "utf8")).not.toContain("passes")
    const set = await home.run("config", "set", "limits", "tree.passes", "7")
    expect(set.out).toMatch(/Written to [^]*tree\.passes +100 +7/)
    expect(readFileSync(projectFile(home), "utf8")).toMatch(/\/\/ mine[^]*"tree": \{\s*"passes": 7/)
    await home.run("config", "set", "limits", "tree.cost", "2.5", "--global")
    expect((await home.run("config", "show")).out).toContain("limits.tree.cost = 2.5")
    for (const [argv, said] of [
      [["tree.cost", "much"], "limits.tree.cost"],
      [["tree.pases", "7"], 'unknown setting "pases"'],
      [["walking", "7"], 'unknown setting "walking"'],
    ] as const) {
      const refused = await home.run("config", "set", "limits", ...argv)
      expect(refused.code).toBe(EXIT.config)
      expect(refused.err).toContain(said)
    }
    expect((await home.run("config", "set", "limits", "running", "3", "--stored")).code).toBe(EXIT.usage)
    expect((await home.run("config", "unset", "limits", "running")).out).toMatch(/running +2 +32/)
    expect((await home.run("config", "unset", "limits")).out).toMatch(/tree\.passes +7 +100/)
    expect(readFileSync(projectFile(home), "utf8")).not.toContain("limits")
  })

  test("takes all of a pair away where no setting is named, also what it does not understand", async () => {
    using home = createHome()
    await home.run("config", "set", "alice->audit", "timeout_ms", "5000")
    await home.run("config", "set", "alice->audit", "auto_apply", "true")
    expect(await home.run("config", "unset", "alice->audit")).toMatchObject({ code: 0, err: "" })
    expect(readFileSync(projectFile(home), "utf8")).not.toContain("alice")
    {
      using database = openStore(home.database)
      await database.store.putPreference({
        directory: home.project,
        key: { level: "pair", from: "alice", to: "audit" },
        before: {},
        settings: { from_the_future: 1 },
        actor: "ada",
        at: 1,
      })
    }
    expect(await home.run("config", "explain", "alice", "audit")).toMatchObject({
      code: EXIT.config,
      err: expect.stringContaining("config unset"),
    })
    expect(await home.run("config", "unset", "alice->audit", "--stored")).toMatchObject({ code: 0 })
    expect((await home.run("config", "explain", "alice", "audit")).code).toBe(0)
  })

  test.each([
    [["alice->audit", "timeout_ms", "30s"], "must be a number", "write 30000, in milliseconds"],
    [["alice->audit", "timout_ms", "5"], "unknown setting", "did you mean `timeout_ms`?"],
    [["alice->alice", "timeout_ms", "5"], "cannot pass work to itself", "take the pair out"],
    [["defaults", "enabled", "false"], "unknown setting", "`enabled` belongs into pairs"],
  ])("refuses %j and writes nothing", async (argv, message, suggestion) => {
    using home = createHome()
    for (const where of ["--stored", "--global", ""]) {
      const ran = await home.run("config", "set", ...argv, ...(where ? [where] : []))
      expect(ran.code).toBe(EXIT.config)
      expect(ran.err).toContain(message)
      expect(ran.err).toContain(suggestion)
    }
    expect(await Bun.file(projectFile(home)).exists()).toBe(false)
  })

  test("knows a pair whose quotes the shell has taken", async () => {
    using home = createHome()
    const ran = await home.run("config", "set", "alice-", "timeout_ms", "5")
    expect(ran.code).toBe(EXIT.usage)
    expect(ran.err).toContain("'alice->audit'")
  })
})

test("words on the command line become keys and values", () => {
  expect(keyOf("alice->audit")).toEqual({ level: "pair", from: "alice", to: "audit" })
  expect(keyOf("*->*")).toEqual({ level: "pair", from: "*", to: "*" })
  expect(keyOf("defaults")).toEqual({ level: "defaults" })
  expect(keyOf("audit")).toEqual({ level: "subagent", subagent: "audit" })
  expect(["true", "5", "always", '["read_only"]', '"5"'].map(valueOf)).toEqual([true, 5, "always", ["read_only"], "5"])
})

test("a file that is named is looked for from --directory, and one that is not there is not valid", async () => {
  using home = createHome()
  mkdirSync(join(home.project, "below"))
  put(join(home.project, "below", "mine.json"), `{ "speed": 1 }`)
  put(join(home.project, "below", "mine.yaml"), "name: Mine\nsteps: []\n")
  const below = ["--directory", join(home.project, "below")]
  expect(await home.run("config", "validate", "mine.json", ...below)).toMatchObject({
    code: EXIT.config,
    out: expect.stringContaining("mine.json:1:3 E030 speed: unknown setting"),
  })
  expect((await home.run("flow", "validate", "mine.yaml", ...below)).code).toBe(EXIT.config)
  for (const kind of ["config", "flow"]) {
    const ran = await home.run(kind, "validate", "mine.json")
    expect([kind, ran.code, ran.err]).toEqual([
      kind,
      EXIT.not_found,
      expect.stringContaining("There is no file mine.json."),
    ])
  }
})

describe("what is written and taken away", () => {
  test("the settings of the record of passes, which share their word with a subagent", async () => {
    using home = createHome()
    const set = await home.run("config", "set", "audit", "retention_days", "5")
    expect(set).toMatchObject({ code: 0, out: expect.stringMatching(/retention_days +30 +5/) })
    await home.run("config", "set", "audit", "can_modify_files", "false")
    expect(JSON.parse(readFileSync(projectFile(home), "utf8"))).toEqual({
      audit: { retention_days: 5 },
      subagents: { audit: { can_modify_files: false } },
    })
    expect((await home.run("config", "set", "audit", "retention_days", "0")).err).toContain("audit.retention_days")
    expect((await home.run("config", "set", "audit", "retention_days", "9", "--stored")).code).toBe(EXIT.usage)
    expect((await home.run("config", "unset", "audit", "retention_days")).out).toMatch(/retention_days +5 +30/)
  })

  test("a number as text, where text is wanted", async () => {
    using home = createHome()
    expect((await home.run("config", "set", "alice->audit", "reason", "12")).code).toBe(0)
    expect(JSON.parse(readFileSync(projectFile(home), "utf8"))).toEqual({ pairs: { "alice->audit": { reason: "12" } } })
    expect((await home.run("config", "set", "alice->audit", "timeout_ms", "soon")).err).toContain("must be a number")
  })

  test("an agent that nobody knows, with a hint", async () => {
    using home = createHome()
    const hint = 'There is no agent "adit" here; did you mean `audit`?'
    expect((await home.run("config", "set", "alice->adit", "timeout_ms", "5000")).out).toContain(hint)
    const json = await home.run("config", "set", "adit", "can_modify_files", "false", "--json")
    expect(json.json()).toMatchObject({ saved: true, hints: [hint] })
    expect((await home.run("config", "set", "*->audit", "timeout_ms", "5000")).out).not.toContain("no agent")
  })

  test.each([
    [["alice->audit"]],
    [["alice->audit", "timeout_ms"]],
    [["audit", "--stored"]],
    [["audit", "can_modify_files", "--stored"]],
    [["limits", "running"]],
    [["limits", "tree.constructor"]],
    [["limits"]],
    [["audit", "retention_days"]],
    [["defaults", "constructor"]],
  ])("nothing, where nothing is written: %j", async (argv) => {
    using home = createHome()
    const absent = await home.run("config", "unset", ...argv)
    expect(absent).toMatchObject({ code: EXIT.not_found, err: expect.stringContaining("nothing to take away") })
    put(projectFile(home), `{ "pairs": { "scout->audit": {} } }`)
    expect((await home.run("config", "unset", ...argv)).code).toBe(EXIT.not_found)
    expect(readFileSync(projectFile(home), "utf8")).toBe(`{ "pairs": { "scout->audit": {} } }`)
  })

  test.each([
    [["alice->audit", "__proto__", "1"], EXIT.config, 'unknown setting "__proto__"'],
    [["alice->audit", "constructor", "1"], EXIT.config, 'unknown setting "constructor"'],
    [["limits", "tree.__proto__", "1"], EXIT.config, 'unknown setting "__proto__"'],
    [["limits", "__proto__", "1"], EXIT.config, 'unknown setting "__proto__"'],
    [["__proto__", "can_modify_files", "true"], EXIT.usage, "No agent can be called __proto__."],
    [["__proto__->audit", "enabled", "true"], EXIT.usage, "No agent can be called __proto__."],
    [["", "can_modify_files", "true"], EXIT.usage, "is empty"],
  ] as const)("no name that objects have by themselves, and none that is empty: %j", async (argv, code, said) => {
    using home = createHome()
    const ran = await home.run("config", "set", ...argv)
    expect({ code: ran.code, err: ran.err }).toEqual({ code, err: expect.stringContaining(said) })
  })
})
