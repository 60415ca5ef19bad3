import { describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { EXIT } from "../../src/cli/exit"
import { halves, isOurs, packageRoot } from "../../src/cli/plugin-entry"
import { parseConfig } from "../../src/pass-over/store/config-text"
import { createHome, type Home } from "./support"

const put = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const read = (home: Home, ...parts: string[]) => readFileSync(join(home.project, ...parts), "utf8")

type Step = { what: string; path: string; did: string }
const steps = async (home: Home, ...argv: string[]) => {
  const ran = await home.run("init", "--json", ...argv)
  return { code: ran.code, steps: (ran.json() as { steps: Step[] }).steps }
}

const snapshot = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: "utf8", withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [join(entry.parentPath, entry.name), readFileSync(join(entry.parentPath, entry.name), "utf8")]),
  )

describe("init", () => {
  test("in an empty project installs the plugin and writes preferences that change nothing", async () => {
    using home = createHome()
    const { code, out } = await home.run("init")
    expect(code).toBe(0)
    expect(out).toContain("Ready. Start opencode again")
    expect(JSON.parse(read(home, ".opencode", "opencode.json"))).toEqual({
      $schema: "https://opencode.ai/config.json",
      plugin: [packageRoot()],
    })
    const file = parseConfig(read(home, ".opencode", "pass-over.json"))
    expect(file).toEqual({
      ok: true,
      preferences: { $schema: "./pass-over.schema.json", defaults: {}, pairs: {}, subagents: {} },
    })
    expect(JSON.parse(read(home, ".opencode", "pass-over.schema.json"))).toMatchObject({
      title: "Pass Over preferences",
    })
    for (const half of halves()) {
      const name = half === "server" ? "opencode.json" : "tui.json"
      expect(JSON.parse(read(home, ".opencode", name)).plugin).toEqual([packageRoot()])
    }
  })

  test("run twice changes nothing", async () => {
    using home = createHome()
    await home.run("init")
    const before = snapshot(home.project)
    const again = await steps(home)
    expect(again.code).toBe(0)
    expect(again.steps.map((step) => step.did)).toEqual(again.steps.map(() => "unchanged"))
    expect(snapshot(home.project)).toEqual(before)
    expect((await home.run("init")).out).toContain("Everything was in place already.")
  })

  test("adds to what is there, and keeps comments, order and other plugins", async () => {
    using home = createHome()
    const text = `// mine\n{\n  "model": "a/b", // the good one\n  "plugin": [\n    "other-plugin", // keep\n  ],\n}\n`
    put(join(home.project, ".opencode", "opencode.jsonc"), text)
    await home.run("init")
    const after = read(home, ".opencode", "opencode.jsonc")
    for (const kept of ["// mine", '"model": "a/b", // the good one', '"other-plugin"', "// keep"])
      expect(after).toContain(kept)
    expect(after).toContain(JSON.stringify(packageRoot()))
    expect(existsSync(join(home.project, ".opencode", "opencode.json"))).toBe(false)
    expect((await steps(home)).steps.every((step) => step.did === "unchanged")).toBe(true)
  })

  test.each([
    ["by name in the project's own file", ["opencode.json"], "opencode-pass-over"],
    [
      "by name and version in the user's file",
      ["..", "config", "opencode", "opencode.json"],
      "opencode-pass-over@1.2.3",
    ],
    ["by the path of its source", [".opencode", "opencode.json"], join(packageRoot(), "src", "index.ts")],
    ["by the address of its file", ["opencode.jsonc"], `file://${join(packageRoot(), "src", "index.ts")}`],
  ])("finds itself where it is there already, %s", async (_name, file, spec) => {
    using home = createHome()
    put(join(home.project, ...file), JSON.stringify({ plugin: [[spec, { option: 1 }]] }))
    const [server] = (await steps(home)).steps
    expect(server).toMatchObject({ did: "unchanged", path: join(home.project, ...file) })
  })

  test("leaves preferences that are there alone", async () => {
    using home = createHome()
    put(join(home.project, ".opencode", "pass-over.json"), `{ "defaults": { "auto_apply": true } }`)
    await home.run("init")
    expect(read(home, ".opencode", "pass-over.json")).toBe(`{ "defaults": { "auto_apply": true } }`)
  })

  test("does not touch a file of opencode's that is broken, and says where", async () => {
    using home = createHome()
    put(join(home.project, ".opencode", "opencode.json"), `{\n  "plugin": ["a"\n}`)
    const ran = await home.run("init")
    expect(ran.code).toBe(EXIT.config)
    expect(ran.out).toContain("opencode.json:3:1 is not valid JSON")
    expect(read(home, ".opencode", "opencode.json")).toBe(`{\n  "plugin": ["a"\n}`)
  })

  test.each(["opencode.json", "pass-over.json", "pass-over.schema.json"])(
    "of a project whose %s is a link out of it writes nothing at all",
    async (name) => {
      using home = createHome()
      const [precious, folder] = [home.folder.at("home", "precious.json"), join(home.project, ".opencode")]
      writeFileSync(precious, "{}")
      mkdirSync(folder)
      symlinkSync(precious, join(folder, name))
      const ran = await home.run("init")
      expect(ran.code).toBe(EXIT.failed)
      expect(ran.err).toContain("leads out of the project over a link")
      expect(readFileSync(precious, "utf8")).toBe("{}")
      expect(readdirSync(folder)).toEqual([name])
    },
  )

  test("of a project whose .opencode is a link out of it writes nothing at all", async () => {
    using home = createHome()
    symlinkSync(home.folder.at("home"), join(home.project, ".opencode"))
    expect((await home.run("init")).code).toBe(EXIT.failed)
    expect((await home.run("config", "set", "defaults", "auto_apply", "true")).code).toBe(EXIT.failed)
    expect(readdirSync(home.folder.at("home"))).toEqual([])
  })

  test.each(["{}", '"a"', "null"])("does not replace a plugin list that is %s", async (plugin) => {
    using home = createHome()
    const before = `{\n  "plugin": ${plugin}\n}`
    put(join(home.project, ".opencode", "opencode.json"), before)
    const ran = await home.run("init")
    expect(ran.code).toBe(EXIT.config)
    expect(ran.out).toContain(`opencode.json:2:13 "plugin" is no list`)
    expect(read(home, ".opencode", "opencode.json")).toBe(before)
  })

  test("reads a file that begins with the mark of its encoding, as opencode does, and leaves it there", async () => {
    using home = createHome()
    put(join(home.project, ".opencode", "opencode.json"), `\uFEFF{ "plugin": ["another"] }`)
    expect((await home.run("init")).code).toBe(0)
    const after = read(home, ".opencode", "opencode.json")
    expect(after).toStartWith("\uFEFF{")
    expect(JSON.parse(after.slice(1))).toEqual({ plugin: ["another", packageRoot()] })
    expect((await home.run("doctor")).out).not.toContain("not valid JSON")
  })

  test("says what it cannot read, and writes the rest", async () => {
    using home = createHome()
    mkdirSync(join(home.project, ".opencode", "opencode.json"), { recursive: true })
    mkdirSync(join(home.project, ".opencode", "pass-over.json"))
    const ran = await home.run("init")
    expect(ran.code).toBe(EXIT.config)
    expect(ran.out).toContain("opencode.json cannot be read: it is a folder.")
    expect(ran.out).toContain("pass-over.json cannot be read: it is a folder.")
    expect(existsSync(join(home.project, ".opencode", "pass-over.schema.json"))).toBe(true)
  })

  test("from a folder below installs at the top of the project", async () => {
    using home = createHome()
    mkdirSync(join(home.project, "packages", "app"), { recursive: true })
    await home.run("init", "--directory", join(home.project, "packages", "app"))
    expect(existsSync(join(home.project, ".opencode", "opencode.json"))).toBe(true)
    expect(existsSync(join(home.project, "packages", "app", ".opencode"))).toBe(false)
  })

  test("for all projects writes beside opencode's own configuration", async () => {
    using home = createHome()
    await home.run("init", "--global", "--plugin", "opencode-pass-over@latest")
    const folder = home.folder.at("config", "opencode")
    expect(JSON.parse(readFileSync(join(folder, "opencode.json"), "utf8")).plugin).toEqual([
      "opencode-pass-over@latest",
    ])
    expect(existsSync(join(folder, "pass-over.json"))).toBe(true)
    expect(existsSync(join(home.project, ".opencode"))).toBe(false)
  })

  test("for all projects does so too where this one names the plugin already", async () => {
    using home = createHome()
    await home.run("init")
    const made = await steps(home, "--global")
    const path = home.folder.at("config", "opencode", "opencode.json")
    expect(made.steps[0]).toMatchObject({ did: "written", path })
    expect((await steps(home, "--global")).steps[0]).toMatchObject({ did: "unchanged", path })
  })
})

test("an entry is ours by name, version, alias or path, and nobody else's is", () => {
  const file = join(packageRoot(), "opencode.json")
  const ours = [
    "opencode-pass-over",
    "opencode-pass-over@1",
    "opencode-pass-over@file:/x.tgz",
    ["opencode-pass-over", {}],
    packageRoot(),
    "./src/index.ts",
  ]
  const theirs = [
    "opencode-pass-over-extra",
    "pass-over",
    "@me/opencode-pass-over",
    "/somewhere/else",
    "./../../README.md",
    7,
    null,
    {},
  ]
  expect(ours.filter((entry) => !isOurs(entry, file))).toEqual([])
  expect(theirs.filter((entry) => isOurs(entry, file))).toEqual([])
})
