import { afterAll, describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { below, collisions, refusePath } from "../../../src/pass-over/domain/change/path"
import { apply } from "../../../src/pass-over/service/change/apply"
import { createChangeWorld, type ChangeWorld } from "../support/change"

const long = Boolean(process.env.PASS_OVER_LONG) || process.env.PASS_OVER_PROOF === "all"
const held: { world?: ChangeWorld } = {}

afterAll(() => held.world?.[Symbol.dispose]())

/** A project full of traps, and a folder beside it that nothing may be written into. */
function traps(world: ChangeWorld) {
  const outside = world.folder.at("outside")
  rmSync(world.project, { recursive: true, force: true })
  rmSync(outside, { recursive: true, force: true })
  mkdirSync(join(outside, "dir"), { recursive: true })
  writeFileSync(join(outside, "file.txt"), "outside\n")
  writeFileSync(join(outside, "dir/file.txt"), "outside\n")
  mkdirSync(join(world.project, "src/inner"), { recursive: true })
  const link = (to: string, path: string) => symlinkSync(to, join(world.project, path))
  writeFileSync(join(world.project, "src/real.txt"), "real\n")
  link(outside, "out")
  link("../outside", "out-relative")
  link(join(outside, "file.txt"), "src/out.txt")
  link("real.txt", "src/inside.txt")
  link(join(outside, "nothing"), "src/dangling.txt")
  link(".", "src/self")
  link("..", "src/inner/up")
  link("loop", "loop")
  linkSync(join(outside, "file.txt"), join(world.project, "src/hard.txt"))
  for (const folder of [".git/hooks", ".opencode/plugin", "sub/.git", "Straße", "caf\u00e9"]) {
    mkdirSync(join(world.project, folder), { recursive: true })
  }
  writeFileSync(join(world.project, ".git/config"), "[core]\n")
  writeFileSync(join(world.project, "opencode.json"), "{}\n")
  writeFileSync(join(world.project, "README.md"), "read me\n")
  Bun.spawnSync(["mkfifo", join(world.project, "src/pipe")])
  return { outside }
}

/** Everything in a folder, so that two moments of it can be compared. */
function print(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return `${path} ${entry.isFile() ? `${readFileSync(path, "utf8")} ${statSync(path).mode}` : ""}`
    })
    .toSorted()
}

const guarded = (world: ChangeWorld) => [
  ...print(join(world.project, ".git")),
  ...print(join(world.project, ".opencode")),
  readFileSync(join(world.project, "opencode.json"), "utf8"),
]

const GAMES: readonly [string, string][] = [
  ["a folder above", "../outside/new.txt"],
  ["a folder above, later", "src/../../outside/new.txt"],
  ["an absolute path", "/etc/pass-over-test"],
  ["a home", "~/new.txt"],
  ["a link to a folder outside", "out/new.txt"],
  ["a link to a folder outside, relative", "out-relative/new.txt"],
  ["a folder behind a link", "out/dir/new.txt"],
  ["a link to a file outside", "src/out.txt"],
  ["a link to a file inside", "src/inside.txt"],
  ["a link that leads nowhere", "src/dangling.txt"],
  ["a link to its own folder", "src/self/new.txt"],
  ["a link upwards", "src/inner/up/new.txt"],
  ["a link to itself", "loop/new.txt"],
  ["a link to itself as a file", "loop"],
  ["a file with a second name", "src/hard.txt"],
  ["a pipe", "src/pipe"],
  ["a folder as a file", "src/inner"],
  ["a file as a folder", "src/real.txt/new.txt"],
  ["git's folder", ".git/hooks/pre-commit"],
  ["git's configuration", ".git/config"],
  ["git's folder in capitals", ".GIT/hooks/pre-commit"],
  ["git's folder in mixed case", ".Git/config"],
  ["git's folder of a project below", "sub/.git/config"],
  ["git's folder as a file", "vendor/.git"],
  ["git's folder with an unseen letter", ".g\u200cit/config"],
  ["git's folder with a mark that joins", ".gi\u200dt/config"],
  ["git's folder with a dot behind", ".git./config"],
  ["git's folder with a blank behind", ".git /config"],
  ["git's folder in full-width letters", "\uff0egit/config"],
  ["git's folder with a dotless i", ".g\u0131t/config"],
  ["git's short name", "git~1/config"],
  ["git's folder as a stream", ".git::$INDEX_ALLOCATION/config"],
  ["git's folder behind a backslash", "src\\..\\.git\\config"],
  ["submodules", ".gitmodules"],
  ["opencode's folder", ".opencode/plugin/evil.ts"],
  ["opencode's folder in capitals", ".OpenCode/plugin/evil.ts"],
  ["opencode's configuration", "opencode.json"],
  ["opencode's configuration with comments", "opencode.jsonc"],
  ["opencode's configuration below", "packages/app/OPENCODE.JSON"],
  ["the terminal's configuration", "tui.json"],
  ["our configuration", "pass-over.json"],
  ["our configuration in its folder", ".opencode/pass-over.json"],
  ["a name that differs in case", "readme.md"],
  ["a folder that differs in case", "SRC/new.txt"],
  ["a folder that differs in composition", "cafe\u0301/new.txt"],
  ["a folder that differs in a sharp s", "strasse/new.txt"],
  ["a name that turns the reading direction", "src/\u202etxt.exe"],
  ["a line end in a name", "src/a\nb.txt"],
  ["a NUL in a name", "src/a\u0000.txt"],
  ["a terminal's escape in a name", "src/\u001b[2Ja.txt"],
  ["half a letter", "src/\ud800.txt"],
  ["an empty part", "src//new.txt"],
  ["a dot", "src/./new.txt"],
  ["nothing", ""],
  ["a name that is too long", `src/${"a".repeat(300)}`],
  ["a path that is too deep", `${"a/".repeat(200)}new.txt`],
]

describe.each([
  ["the way through open folders", true],
  ["the way of systems without /proc", false],
] as const)("%s", (_name, strong) => {
  test.each(GAMES)("refuses %s", async (_game, path) => {
    using world = await createChangeWorld({ strong })
    const { outside } = traps(world)
    const before = [print(outside), guarded(world)]
    const change = await world.change([{ path, new: "written\n" }])
    await world.accept(change)
    const result = await apply(world.deps, { ...world, change, actor: "ada" })
    expect(result.ok).toBe(false)
    expect([print(outside), guarded(world)]).toEqual(before)
    expect(existsSync("/etc/pass-over-test")).toBe(false)
  })

  test("lets plain paths through, whatever language they are in", async () => {
    using world = await createChangeWorld({ strong })
    traps(world)
    const paths = [
      "src/new.txt",
      "a/b/c/d.txt",
      ".github/workflows/ci.yml",
      ".gitignore",
      "漢字/ä ö.txt",
      "caf\u00e9/menu.txt",
      ".env.example",
      "src/git.ts",
    ]
    const change = await world.change(paths.map((path) => ({ path, new: `${path}\n` })))
    await world.accept(change)
    const result = await apply(world.deps, { ...world, change, actor: "ada" })
    expect(result.ok ? "" : result.refusal.message).toBe("")
    for (const path of paths) expect(world.get(path)).toBe(`${path}\n`)
  })
})

test("two files of one change that look the same are refused", async () => {
  using world = await createChangeWorld()
  const change = await world.change([
    { path: "Name.txt", new: "1\n" },
    { path: "name.txt", new: "2\n" },
  ])
  await world.accept(change)
  const result = await apply(world.deps, { ...world, change, actor: "ada" })
  expect(result.ok ? "" : result.refusal.message).toContain("looks the same")
  expect(collisions(["a/b", "A/b", "a/c"])).toEqual([["a/b", "A/b"]])
})

test("a rename that changes nothing but the case is let through", async () => {
  using world = await createChangeWorld()
  world.put("Readme.md", "x\n")
  const change = await world.change([{ path: "README.md", old_path: "Readme.md", old: "x\n", new: "x\n" }])
  await world.accept(change)
  const result = await apply(world.deps, { ...world, change, actor: "ada" })
  expect(result.ok ? "" : result.refusal.message).toBe("")
  expect(world.paths()).toEqual(["README.md"])
})

const Part = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("src", "inner", "new.txt", "real.txt", "a", "b.txt") },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "..",
      ".",
      "",
      "out",
      "out-relative",
      "self",
      "up",
      "loop",
      "out.txt",
      "hard.txt",
      "dangling.txt",
      "pipe",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ".git",
      ".GIT",
      "hooks",
      ".opencode",
      "opencode.json",
      ".g\u200bit",
      "git~1",
      "SRC",
      "readme.md",
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 8, unit: "binary" }) },
)
const Path = fc
  .tuple(fc.array(Part, { minLength: 1, maxLength: 5 }), fc.constantFrom("", "", "/"))
  .map(([parts, root]) => root + parts.join("/"))
  .filter((path) => path !== "")

test(`of ${long ? 6_000 : 400} generated paths none leads outside; a plain writeFile is led astray`, async () => {
  const world = (held.world = await createChangeWorld())
  const { outside } = traps(world)
  const before = [print(outside), guarded(world)]
  const tally = { written: 0, refused: 0, escaped: 0 }
  await fc.assert(
    fc.asyncProperty(Path, async (path) => {
      const change = await world.change([{ path, new: "written\n" }])
      await world.accept(change)
      const result = await apply(world.deps, { ...world, change, actor: "ada" })
      tally[result.ok ? "written" : "refused"] += 1
      if (result.ok) expect(refusePath(path)).toBeUndefined()
    }),
    { seed: 11, numRuns: long ? 6_000 : 400 },
  )
  expect([print(outside), guarded(world)]).toEqual(before)
  expect(tally.written).toBeGreaterThan(10)
  expect(tally.refused).toBeGreaterThan(100)
  // The control: the same paths, written as a careless tool writes them.
  traps(world)
  for (const path of fc.sample(Path, { seed: 11, numRuns: 400 })) {
    const target = join(world.project, path)
    if (path.includes("pipe") || !target.startsWith(world.folder.path)) continue
    try {
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, "written\n")
    } catch {
      // Not a path at all.
    }
  }
  expect([print(outside), guarded(world)]).not.toEqual(before)
}, 600_000)

test("a second process that swaps folders for links leads nothing outside; a plain writeFile is led astray", async () => {
  using world = await createChangeWorld()
  const outside = world.folder.at("outside")
  mkdirSync(outside)
  mkdirSync(join(world.project, "dir"), { recursive: true })
  const swapper = Bun.spawn(
    [process.execPath, join(import.meta.dir, "fixture/swap.ts"), join(world.project, "dir"), outside],
    {
      stdout: "pipe",
    },
  )
  try {
    await swapper.stdout.getReader().read()
    const rounds = long ? 5_000 : 300
    let written = 0
    // The folder is away more often than not: it goes on until something could be written.
    for (let round = 0; round < rounds || (written === 0 && round < rounds * 50); round += 1) {
      const change = await world.change([{ path: `dir/ours-${round}.txt`, new: "ours\n" }])
      await world.accept(change)
      const result = await apply(world.deps, { ...world, change, actor: "ada" }).catch(() => ({ ok: false }))
      if (result.ok) written += 1
    }
    expect(written).toBeGreaterThan(0)
    expect(readdirSync(outside).filter((name) => name.includes("ours") || name.includes("pass-over"))).toEqual([])
    // The control, in the same race.
    for (let round = 0; round < 20_000 && readdirSync(outside).length === 0; round += 1) {
      try {
        writeFileSync(join(world.project, `dir/plain-${round}.txt`), "plain\n")
      } catch {
        // The folder was away just then.
      }
    }
    expect(readdirSync(outside).length).toBeGreaterThan(0)
  } finally {
    swapper.kill("SIGKILL")
    await swapper.exited
  }
}, 600_000)

test("paths that a child names are taken below its directory", () => {
  expect(below("/project", "/project/src/a.ts")).toBe("src/a.ts")
  expect(below("/project", "src/a.ts")).toBe("src/a.ts")
  expect(below("/project", "./src/a.ts")).toBe("src/a.ts")
  expect(below("/project", "/projects/src/a.ts")).toBeUndefined()
  expect(below("/project", "/etc/passwd")).toBeUndefined()
})
