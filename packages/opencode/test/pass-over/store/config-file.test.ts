import { describe, expect, test } from "bun:test"
import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { PassOverError } from "../../../src/pass-over/domain/errors"
import { createConfigFiles, load } from "../../../src/pass-over/store/config-file"
import { projectFile } from "../../../src/pass-over/store/config-place"
import { parseConfig, type Fault } from "../../../src/pass-over/store/config-text"
import { createFolder, type Folder } from "../support/folder"

/** "3:14 the message", as an editor shows it. */
const faults = (text: string): string[] => {
  const file = parseConfig(text)
  return file.ok ? [] : file.faults.map(({ line, column, message }: Fault) => `${line}:${column} ${message}`)
}

const preferences = (text: string) => {
  const file = parseConfig(text)
  if (!file.ok) throw new Error(faults(text).join("; "))
  return file.preferences
}

describe("a preferences file", () => {
  test("may hold comments and trailing commas", () => {
    const text = `
      // for this project
      {
        "$schema": "https://example.com/schema.json",
        "defaults": { "timeout_ms": 5000, }, /* five seconds */
        "pairs": {
          "alice->audit": { "auto_apply": true },
          "*->*": { "enabled": false },
        },
      }`
    expect(preferences(text)).toEqual({
      $schema: "https://example.com/schema.json",
      defaults: { timeout_ms: 5_000 },
      pairs: { "alice->audit": { auto_apply: true }, "*->*": { enabled: false } },
    })
  })

  test("may be empty of settings", () => {
    expect(preferences("{}")).toEqual({})
  })

  test("may begin with a byte order mark, as some editors write it", () => {
    expect(preferences(`\uFEFF{ "defaults": {} }`)).toEqual({ defaults: {} })
    expect(faults(`\uFEFF{ "speed": 1 }`)).toEqual([`1:3 speed: unknown setting "speed"`])
  })

  test("may end its lines as Windows does", () => {
    expect(faults(`{\r\n  "defaults": {\r\n    "speed": 1\r\n  }\r\n}`)).toEqual([
      `3:5 defaults.speed: unknown setting "speed"`,
    ])
  })
})

describe("a fault", () => {
  test.each([
    ["nothing at all", "", "1:1"],
    ["only a comment", "// later", "1:9"],
    ["a brace that is not closed", `{\n  "defaults": {}\n`, "3:1"],
    ["a word without quotes", `{\n  "defaults": {\n    auto_apply: true\n  }\n}`, "3:5"],
    ["a comma that is missing", `{\n  "defaults": {}\n  "pairs": {}\n}`, "3:3"],
    ["something after the end", `{}\n\n  {}`, "3:3"],
  ])("in the writing is named where it stands: %s", (_what, text, where) => {
    const [first] = faults(text)
    expect(first).toStartWith(`${where} `)
    expect(first).toMatch(/not valid JSON: \w+|the file is empty/)
  })

  test.each([
    ["a list", "[]", /^1:1 the file must be an object in \{ \}, not \S/],
    ["a word", `"alice"`, /^1:1 the file must be an object in \{ \}, not \S/],
    ["nothing", "null", /^1:1 the file must be an object in \{ \}, not \S/],
  ])("of a file that holds something else is named at its beginning: %s", (_what, text, message) => {
    expect(faults(text)).toEqual([expect.stringMatching(message)])
  })

  test("is named for every setting that we do not know, at its key", () => {
    expect(
      faults(
        [
          "{",
          `  "default": {},`,
          `  "pairs": {`,
          `    "alice->audit": { "timeout": 5,  "auto_aply": true }`,
          `  },`,
          `  "audit": { "log": true }`,
          "}",
        ].join("\n"),
      ).toSorted(),
    ).toEqual([
      `2:3 default: unknown setting "default"; did you mean \`defaults\`?`,
      `4:23 pairs.alice->audit.timeout: unknown setting "timeout"; did you mean \`timeout_ms\`?`,
      `4:38 pairs.alice->audit.auto_aply: unknown setting "auto_aply"; did you mean \`auto_apply\`?`,
      `6:14 audit.log: unknown setting "log"`,
    ])
  })

  test.each([
    [
      "text for a number",
      `{ "defaults": {\n  "timeout_ms": "fast" } }`,
      /^2:3 defaults\.timeout_ms: must be a number, not "fast"$/,
    ],
    [
      "a number for a yes",
      `{ "defaults": {\n\n   "auto_apply": 1 } }`,
      /^3:4 defaults\.auto_apply: must be true or false, not 1$/,
    ],
    ["a time that is too long", `{ "defaults": { "timeout_ms": 1e12 } }`, /^1:17 defaults\.timeout_ms: /],
    ["a time below zero", `{ "defaults": { "timeout_ms": -5 } }`, /^1:17 defaults\.timeout_ms: /],
    ["a chain of one", `{ "defaults": { "max_chain_depth": 1 } }`, /^1:17 defaults\.max_chain_depth: /],
    ["a word that is none of the choices", `{ "defaults": { "notify_on_return": "loudly" } }`, /^1:17 .*always/],
    [
      "a list where an object belongs",
      `{\n "subagents": [] }`,
      /^2:2 subagents: must be an object in \{ \}, not a list$/,
    ],
    [
      "an entry of a list",
      `{ "pairs": { "a->b": { "constraints": [\n  "one",\n  2 ] } } }`,
      /^3:3 pairs\.a->b\.constraints\.1: /,
    ],
    [
      "a constraint that nothing enforces",
      `{ "pairs": { "a->b": { "constraints": [\n  "read_only",\n  "be careful" ] } } }`,
      /^3:3 pairs\.a->b\.constraints\.1: "be careful" is nothing that can be enforced; write one of read_only, .*objective$/,
    ],
    [
      "nested deep",
      `{ "subagents": { "audit": {\n  "max_memory_mb": true } } }`,
      /^2:3 subagents\.audit\.max_memory_mb: /,
    ],
    ["a pair that is not one", `{\n  "pairs": {\n    "alice": {} } }`, /^3:5 pairs\.alice: .*from->to/],
  ])("of a value is named where it stands: %s", (_what, text, message) => {
    expect(faults(text)).toEqual([expect.stringMatching(message)])
  })

  test("does not hide the next one", () => {
    const text = `{ "defaults": { "auto_apply": 1, "timeout_ms": "x" }, "nonsense": 2 }`
    expect(faults(text)).toHaveLength(3)
  })
})

const put = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const thrown = (run: () => unknown): PassOverError => {
  try {
    run()
  } catch (error) {
    if (error instanceof PassOverError) return error
    throw error
  }
  throw new Error("nothing was thrown")
}

describe("load", () => {
  test("reads a file", () => {
    using folder = createFolder()
    put(folder.at("pass-over.json"), `{ "defaults": { "auto_apply": true } }`)
    expect(load(folder.at("pass-over.json"))).toEqual({ defaults: { auto_apply: true } })
  })

  test("refuses a faulty file with the place of the first fault, and says how many there are", () => {
    using folder = createFolder()
    const path = folder.at("pass-over.json")
    put(path, `{\n  "speed": 1,\n  "size": 2,\n  "colour": 3\n}`)
    const error = thrown(() => load(path))
    expect(error.code).toBe("E030")
    expect(error.message).toBe(`${path}:2:3 speed: unknown setting "speed" (and 2 more)`)
    expect(error.context).toMatchObject({ path, faults: { length: 3 } })
  })
})

test("what is no file, and would be read without an end, is a refusal", () => {
  using folder = createFolder()
  const pipe = folder.at("pass-over.json")
  Bun.spawnSync(["mkfifo", pipe])
  const script = `const { load } = await import(${JSON.stringify(join(import.meta.dir, "../../../src/pass-over/store/config-file.ts"))})
    try { load(${JSON.stringify(pipe)}) } catch (error) { console.log(error.code, error.message) }`
  // In a process of its own, which can be ended if it never comes back.
  const { stdout, exitCode } = Bun.spawnSync([process.execPath, "-e", script], { timeout: 10_000 })
  expect(exitCode).toBe(0)
  expect(stdout.toString().trim()).toBe(`E030 ${pipe} cannot be read: it is not a file`)
})

describe("the project's file", () => {
  const name = join(".opencode", "pass-over.json")
  const tree = (folder: Folder, ...directories: string[]) => {
    for (const directory of directories) put(folder.at(directory, name), "{}")
    mkdirSync(folder.at("work", "packages", "app"), { recursive: true })
  }

  test("is the nearest one on the way up", () => {
    using folder = createFolder()
    tree(folder, "work", "work/packages")
    const found = projectFile(folder.at("work", "packages", "app"), folder.at("work"))
    expect(found).toBe(folder.at("work", "packages", name))
  })

  test("may be the one at the top of the work tree", () => {
    using folder = createFolder()
    tree(folder, "work")
    expect(projectFile(folder.at("work", "packages", "app"), folder.at("work"))).toBe(folder.at("work", name))
    expect(projectFile(folder.at("work"), folder.at("work"))).toBe(folder.at("work", name))
  })

  test("is never one above the work tree", () => {
    using folder = createFolder()
    tree(folder, ".")
    const found = projectFile(folder.at("work", "packages", "app"), folder.at("work"))
    expect(found).toBe(folder.at("work", name))
  })

  test("is the directory's own where that lies outside the work tree", () => {
    using folder = createFolder()
    tree(folder, ".", "work")
    mkdirSync(folder.at("elsewhere"))
    expect(projectFile(folder.at("elsewhere"), folder.at("work"))).toBe(folder.at("elsewhere", name))
    expect(projectFile(folder.at("work-too"), folder.at("work"))).toBe(folder.at("work-too", name))
  })

  test("is found from a folder whose name begins with dots", () => {
    using folder = createFolder()
    tree(folder, "work/..parts")
    mkdirSync(folder.at("work", "..parts", "app"), { recursive: true })
    const found = projectFile(folder.at("work", "..parts", "app"), folder.at("work"))
    expect(found).toBe(folder.at("work", "..parts", name))
  })

  test("is the directory's own where there is no work tree: what lies above belongs to whoever could write it", () => {
    using folder = createFolder()
    expect(projectFile("/", "/")).toBe(join("/", name))
    put(folder.at(name), "{}")
    mkdirSync(folder.at("a", "b"), { recursive: true })
    expect(projectFile(folder.at("a", "b"), "/")).toBe(folder.at("a", "b", name))
    expect(projectFile(folder.path, "/")).toBe(folder.at(name))
  })
})

describe("the preferences files of a project", () => {
  function files(folder: Folder) {
    const [project, global] = [folder.at(".opencode", "pass-over.json"), folder.at("global", "pass-over.json")]
    const warnings: string[] = []
    const config = createConfigFiles({ project: () => project, global, warn: (message) => void warnings.push(message) })
    return { project, global, warnings, config }
  }

  const good = (ms: number) => `{ "defaults": { "timeout_ms": ${ms} } }`

  test("say nothing where there are none", () => {
    using folder = createFolder()
    const { config, project, global, warnings } = files(folder)
    expect(config.read()).toEqual([
      { origin: "project", path: project, preferences: {} },
      { origin: "global", path: global, preferences: {} },
    ])
    expect(warnings).toEqual([])
  })

  test("are read again whenever they change, and the project comes first", () => {
    using folder = createFolder()
    const { config, project, global } = files(folder)
    const read = () => config.read().map(({ preferences }) => preferences.defaults?.timeout_ms)
    put(global, good(1_000))
    expect(read()).toEqual([undefined, 1_000])
    put(project, good(2_000))
    expect(read()).toEqual([2_000, 1_000])
    // The same length within the same moment: the time of the change has to tell.
    put(project, good(3_000))
    utimesSync(project, 10, 10)
    expect(read()).toEqual([3_000, 1_000])
    rmSync(project)
    expect(read()).toEqual([undefined, 1_000])
  })

  test("keep their last good state in force while they are broken, with one warning for each broken state", () => {
    using folder = createFolder()
    const { config, project, warnings } = files(folder)
    put(project, good(2_000))
    const read = () => config.read()[0]?.preferences.defaults?.timeout_ms
    expect(read()).toBe(2_000)

    put(project, `{\n  "speed": 1 }`)
    expect([read(), read(), read()]).toEqual([2_000, 2_000, 2_000])
    expect(warnings).toEqual([
      `${project}:2:3 speed: unknown setting "speed". Until it is corrected, what held before holds on.`,
    ])

    put(project, `{\n\n  "size": 1 }`)
    expect([read(), read()]).toEqual([2_000, 2_000])
    expect(warnings).toHaveLength(2)
    expect(warnings[1]).toStartWith(`${project}:3:3 size:`)

    put(project, good(4_000))
    expect([read(), read()]).toEqual([4_000, 4_000])
    expect(warnings).toHaveLength(2)
  })

  test("refuse with the place of the fault where nothing held before, and are accepted once corrected", () => {
    using folder = createFolder()
    const { config, global, warnings } = files(folder)
    put(global, `{ "defaults": {\n    "timeout_ms": "fast" } }`)
    const error = thrown(() => config.read())
    expect(error.code).toBe("E030")
    expect(error.message).toStartWith(`${global}:2:5 defaults.timeout_ms: `)
    expect(thrown(() => config.read()).message).toBe(error.message)
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toEndWith(" Until it is corrected no work is passed on; opencode itself works as before.")
    put(global, good(1_000))
    expect(config.read()[1]?.preferences).toEqual({ defaults: { timeout_ms: 1_000 } })
  })

  test("come after what the environment says, whose faults are named by the variable", () => {
    using folder = createFolder()
    const { project, global } = files(folder)
    put(project, good(2_000))
    const warnings: string[] = []
    const open = (text: string) =>
      createConfigFiles({
        project: () => project,
        global,
        content: { path: "VARIABLE", text },
        warn: (message) => void warnings.push(message),
      })
    expect(open(good(1_000)).read()).toEqual([
      { origin: "environment", path: "VARIABLE", preferences: { defaults: { timeout_ms: 1_000 } } },
      { origin: "project", path: project, preferences: { defaults: { timeout_ms: 2_000 } } },
      { origin: "global", path: global, preferences: {} },
    ])
    expect(warnings).toEqual([])

    const broken = open(`{ "speed": 1 }`)
    for (let time = 0; time < 3; time += 1) expect(thrown(() => broken.read()).code).toBe("E030")
    expect(warnings).toEqual([
      'VARIABLE:1:3 speed: unknown setting "speed". Until it is corrected no work is passed on; opencode itself works as before.',
    ])
  })

  test("that were taken away while broken are files that are not there", () => {
    using folder = createFolder()
    const { config, project } = files(folder)
    put(project, "{")
    expect(thrown(() => config.read()).code).toBe("E030")
    rmSync(project)
    expect(config.read()[0]?.preferences).toEqual({})
  })

  test("that cannot be read are a refusal and never an error of another kind", () => {
    using folder = createFolder()
    const { config, project, warnings } = files(folder)
    mkdirSync(project, { recursive: true })
    const error = thrown(() => config.read())
    expect(error.code).toBe("E030")
    expect(error.message).toStartWith(`${project} cannot be read: `)
    rmSync(project, { recursive: true })
    // A link that leads to itself: it is there, and nobody can look at it.
    symlinkSync(project, project)
    expect(thrown(() => config.read())).toMatchObject({
      code: "E030",
      message: expect.stringContaining("cannot be read"),
    })
    expect(warnings).toHaveLength(2)
  })

  test("whose folder is a file are files that are not there", () => {
    using folder = createFolder()
    const { config } = files(folder)
    writeFileSync(folder.at(".opencode"), "")
    expect(config.read().map(({ preferences }) => preferences)).toEqual([{}, {}])
  })
})
