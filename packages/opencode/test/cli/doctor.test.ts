import { describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Finding } from "../../src/cli/doctor/finding"
import { EXIT } from "../../src/cli/exit"
import { migrate } from "../../src/pass-over/store/migrate"
import { MIGRATIONS } from "../../src/pass-over/store/migration.gen"
import { openStore } from "../pass-over/support/database"
import { accepted, createWorld } from "../pass-over/support/world"
import { createHome, NOW, type Home } from "./support"

const put = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** An opencode that only knows its version. */
function opencode(home: Home, version = "1.18.33", code = 0) {
  const path = home.folder.at("bin", "opencode")
  put(path, `#!/bin/sh\n[ -z "$BUN_BE_BUN" ] || exit 9\necho ${version}\nexit ${code}\n`)
  chmodSync(path, 0o755)
  process.env.PASS_OVER_OPENCODE = path
}

/** With its log beside it SQLite would still find everything there. */
function ruin(path: string) {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true })
  put(path, "not a database at all, but long enough to look at it as one".repeat(20))
}

async function examined(home: Home, now = NOW) {
  const ran = await home.on({ width: 0, now }, "doctor", "--json")
  const { healthy, findings } = ran.json() as { healthy: boolean; findings: Finding[] }
  expect(ran.code).toBe(healthy ? 0 : 1)
  // Whoever is told that something is wrong is told what to do.
  for (const finding of findings) expect(finding.state === "ok" || Boolean(finding.advice)).toBe(true)
  return { healthy, troubles: findings.filter(({ state }) => state !== "ok"), findings }
}

describe("doctor", () => {
  test("finds nothing wrong with a healthy setup, and says what it looked at", async () => {
    using home = createHome()
    opencode(home)
    await home.run("init")
    openStore(home.database)[Symbol.dispose]()
    const { healthy, troubles, findings } = await examined(home)
    expect({ healthy, troubles }).toEqual({ healthy: true, troubles: [] })
    const names = new Set(findings.map(({ name }) => name))
    for (const name of ["opencode", "plugin", "database", "preferences", "agents", "disk", "clock"])
      expect(names).toContain(name)
    const { out, code } = await home.run("doctor")
    expect(code).toBe(0)
    expect(out.split("\n").filter((line) => line.startsWith("ok ")).length).toBe(findings.length)
  })

  const BROKEN: [string, (home: Home) => void, string, RegExp, RegExp][] = [
    [
      "no opencode",
      () => {
        process.env.PASS_OVER_OPENCODE = "/nowhere/opencode"
        process.env.PATH = ""
      },
      "opencode",
      /cannot be started/,
      /Install opencode/,
    ],
    ["an opencode that fails", (home) => opencode(home, "", 1), "opencode", /cannot be started/, /Install/],
    [
      "an opencode that is another one than the one that is named",
      (home) => {
        process.env.PATH = home.folder.at("bin")
        process.env.PASS_OVER_OPENCODE = "/nowhere/opencode"
      },
      "opencode",
      /names \/nowhere\/opencode, which cannot be started; .*bin\/opencode \(1\.18\.33\)/,
      /Correct PASS_OVER_OPENCODE/,
    ],
    ["a version that is none", (home) => opencode(home, "local"), "opencode", /says "local"/, /Install opencode/],
    ["an old opencode", (home) => opencode(home, "1.17.9"), "opencode", /1\.17\.9 is older/, /opencode upgrade/],
    [
      "an opencode of another generation",
      (home) => opencode(home, "2.0.1"),
      "opencode",
      /later generation/,
      /newer Pass Over/,
    ],
    [
      "a plugin that is not installed",
      (home) => put(join(home.project, ".opencode", "opencode.json"), "{}"),
      "plugin",
      /in no opencode\.json/,
      /pass-over init/,
    ],
    [
      "a broken opencode.json",
      (home) => put(join(home.project, "opencode.json"), "{ nonsense"),
      "plugin",
      /opencode\.json:1:3 is not valid JSON/,
      /Correct that line/,
    ],
    [
      "a plugin that is named twice",
      (home) => put(join(home.project, "opencode.json"), `{"plugin":["opencode-pass-over"]}`),
      "plugin",
      /named twice/,
      /Keep one/,
    ],
    [
      "a database that is none",
      (home) => ruin(home.database),
      "database",
      /cannot be read \(SQLITE_NOTADB/,
      /audit restore/,
    ],
    [
      "a database that a newer version has changed",
      (home) => {
        using database = openStore(home.database)
        migrate(database.client, [...MIGRATIONS, { tag: "9999_later", statements: [] }])
      },
      "database",
      /was changed by a newer Pass Over; this one only reads it/,
      /opencode plugin opencode-pass-over@VERSION --force, with the version/,
    ],
    [
      "a database that others can read",
      (home) => chmodSync(home.database, 0o644),
      "database",
      /can be read by other users/,
      /chmod 600/,
    ],
    [
      "broken preferences",
      (home) => put(join(home.project, ".opencode", "pass-over.json"), `{\n "speed": 1 }`),
      "preferences",
      /pass-over\.json:2:2 speed: unknown setting/,
      /config validate/,
    ],
    [
      "preferences that contradict each other",
      (home) =>
        put(
          home.folder.at("config", "opencode", "pass-over.json"),
          `{ "pairs": { "a->b": { "enabled": false, "auto_return": true } } }`,
        ),
      "preferences",
      /a->b is disabled/,
      /config validate/,
    ],
    [
      "stored preferences that this version does not know",
      (home) => {
        using database = openStore(home.database)
        database.client.run(
          "insert into pass_over_preferences values (?, 'pair', 'alice', 'audit', '{\"from_the_future\":1}', 1, 1, 'ada')",
          [home.project],
        )
      },
      "preferences",
      /stored preferences of this project are not valid: .*from_the_future/,
      /config unset/,
    ],
    [
      "an agent that nobody has",
      (home) => put(join(home.project, ".opencode", "pass-over.json"), `{ "pairs": { "alice->adit": {} } }`),
      "agents",
      /"adit"/,
      /Did you mean audit\?/,
    ],
    [
      "an agent that is disabled",
      (home) => put(join(home.project, "opencode.json"), `{ "agent": { "audit": { "disable": true } } }`),
      "agents",
      /audit is disabled/,
      /disable/,
    ],
  ]

  test.each(BROKEN)("names %s, and what to do about it", async (_name, breakIt, ...[name, said, advice]) => {
    using home = createHome()
    opencode(home)
    await home.run("init")
    openStore(home.database)[Symbol.dispose]()
    breakIt(home)
    const { troubles } = await examined(home)
    expect(troubles).toHaveLength(1)
    expect(troubles[0]).toMatchObject({
      name,
      said: expect.stringMatching(said),
      advice: expect.stringMatching(advice),
    })
  })

  const project = (home: Home) => join(home.project, ".opencode", "pass-over.json")
  const UNREAD: [string, (home: Home, path: string) => void, RegExp][] = [
    ["a folder", (_home, path) => mkdirSync(path), /the file cannot be read: it is a folder/],
    ["a pipe", (_home, path) => Bun.spawnSync(["mkfifo", path]), /the file cannot be read: it is not a file/],
    ["a link to itself", (_home, path) => symlinkSync(path, path), /a link that leads back to itself/],
  ]

  test.each(UNREAD)(
    "ends neither itself nor config validate over preferences that are %s",
    async (_name, put, said) => {
      using home = createHome()
      opencode(home)
      await home.run("init")
      openStore(home.database)[Symbol.dispose]()
      rmSync(project(home))
      put(home, project(home))
      const { troubles } = await examined(home)
      expect(troubles).toMatchObject([{ name: "preferences", state: "fail", said: expect.stringMatching(said) }])
      const validate = await home.run("config", "validate")
      expect(validate.code).toBe(EXIT.config)
      expect(validate.out).toMatch(said)
      for (const argv of [["config", "explain", "alice", "audit"], ["config", "unset", "audit"], ["init"]]) {
        const ran = await home.run(...argv)
        expect([argv, ran.code]).not.toEqual([argv, EXIT.unexpected])
        expect([argv, ran.code]).not.toEqual([argv, EXIT.ok])
      }
    },
  )

  test("goes on where a file of opencode's is a folder, and where the database is one", async () => {
    using home = createHome()
    opencode(home)
    await home.run("init")
    mkdirSync(join(home.project, "opencode.json"))
    process.env.PASS_OVER_DB = home.folder.at("home")
    const { troubles, findings } = await examined(home)
    expect(troubles.map(({ name }) => name)).toEqual(["plugin", "database"])
    expect(troubles[0]?.said).toContain("opencode.json cannot be read: it is a folder")
    expect(findings.map(({ name }) => name)).toContain("clock")
  })

  test("knows the agents of the project's own files", async () => {
    using home = createHome()
    opencode(home)
    await home.run("init")
    put(join(home.project, ".opencode", "agent", "critic.md"), "---\nmode: subagent\n---\nYou judge.")
    put(join(home.project, ".opencode", "pass-over.json"), `{ "pairs": { "build->critic": {}, "*->general": {} } }`)
    expect((await examined(home)).troubles).toEqual([])
  })

  test("says that a clock is wrong which the database contradicts", async () => {
    using home = createHome()
    opencode(home)
    await home.run("init")
    {
      using database = openStore(home.database)
      const world = createWorld()
      accepted(await database.store.open(world.opening(world.pass({ time_created: NOW + 3_600_000 }))))
    }
    const { troubles } = await examined(home)
    expect(troubles).toMatchObject([
      { name: "clock", state: "warn", said: expect.stringContaining("1 h 00 min in the future") },
    ])
    expect((await examined(home, 0)).troubles.some(({ name, state }) => name === "clock" && state === "fail")).toBe(
      true,
    )
  })

  test("makes no database and changes none", async () => {
    using home = createHome()
    opencode(home)
    await home.run("init")
    await examined(home)
    expect(await Bun.file(home.database).exists()).toBe(false)
  })
})
