import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { readFiles } from "../../src/session/files"
import { git, GitError } from "../../src/session/git"
import { createIgnored } from "../../src/session/ignored"
import { nearby } from "../../src/session/nearby"

const held = { root: "", project: "" }

const write = (path: string, content: string | Uint8Array) => {
  const whole = join(held.project, path)
  mkdirSync(dirname(whole), { recursive: true })
  writeFileSync(whole, content)
}

const run = (...args: string[]) => Bun.spawnSync(["git", "-C", held.project, ...args])

beforeAll(() => {
  held.root = mkdtempSync(join(tmpdir(), "files-"))
  held.project = join(held.root, "project")
  write("src/a.ts", "const a = 1\n")
  write("src/deep/a.ts", "const deep = 1\n")
  write("dist/out.js", "out")
  write("src/made.gen.ts", "made")
  write("src/kept.gen.ts", "kept")
  write(".gitignore", "dist/\n*.gen.ts\n")
  write("src/.gitignore", "!kept.gen.ts\nlocal/\n")
  write("src/local/x.ts", "x")
  write(".env", "SECRET=1")
  write("logo.png", new Uint8Array([137, 80, 78, 71, 0, 1]))
  write(
    "latin.txt",
    Uint8Array.from({ length: 400 }, () => 233),
  )
  write("big.log", `first\n${"line\n".repeat(200_000)}last\n`)
  writeFileSync(join(held.root, "outside.txt"), "outside")
  symlinkSync(join(held.project, ".env"), join(held.project, "innocent.txt"))
  symlinkSync(join(held.root, "outside.txt"), join(held.project, "inside.txt"))
  run("init", "-q")
  run("config", "user.email", "a@example.org")
  run("config", "user.name", "a")
  run("add", "src/a.ts", ".gitignore")
  run("commit", "-qm", "first")
  write("src/a.ts", "const a = 2\n")
})
afterAll(() => rmSync(held.root, { recursive: true }))

const read = async (path: string, found: string[] = []) => (await readFiles([path], held.project, found))[0]

describe("a file of the project", () => {
  test("comes with its content, size and age, by a relative or an absolute path", async () => {
    for (const path of ["src/a.ts", join(held.project, "src/a.ts"), "./src/../src/a.ts"]) {
      expect(await read(path)).toMatchObject({
        path: "src/a.ts",
        content: "const a = 2\n",
        metadata: { size_bytes: 12, is_binary: false, last_modified: expect.any(Number) },
      })
    }
  })

  test("that is binary, by a zero byte or by what is no UTF-8, has no content", async () => {
    for (const path of ["logo.png", "latin.txt"]) {
      const file = await read(path)
      expect(file?.metadata?.is_binary).toBe(true)
      expect(file?.content).toBeUndefined()
    }
  })

  test("that is large comes by its beginning and its end", async () => {
    const file = await read("big.log")
    expect(file?.content?.startsWith("first\n")).toBe(true)
    expect(file?.content?.endsWith("last\n")).toBe(true)
    expect(file?.content).toContain("[…]")
    expect(file?.content?.length).toBeLessThan(300_000)
    expect(file?.metadata?.size_bytes).toBe(1_000_011)
  })

  test("that holds secrets, lies outside or is not there has no content, whatever it is called", async () => {
    for (const path of [
      ".env",
      "innocent.txt",
      "inside.txt",
      "../outside.txt",
      "nothing.ts",
      "src",
      "\0",
      "/etc/passwd",
    ]) {
      expect((await read(path))?.content).toBeUndefined()
    }
  })

  test("that is ignored comes only to who asked for it by name", async () => {
    expect((await read("dist/out.js"))?.content).toBe("out")
    expect(await read("dist/out.js", ["dist/out.js"])).toMatchObject({ path: "dist/out.js", metadata: {} })
    expect((await read("dist/out.js", ["dist/out.js"]))?.content).toBeUndefined()
    expect((await read("src/a.ts", ["src/a.ts"]))?.content).toBeDefined()
  })

  test("that is tracked is not ignored, whatever the ignore files say", async () => {
    expect((await read("src/made.gen.ts", ["src/made.gen.ts"]))?.content).toBeUndefined()
    run("add", "-f", "src/made.gen.ts")
    expect((await read("src/made.gen.ts", ["src/made.gen.ts"]))?.content).toBe("made")
    run("rm", "-q", "--cached", "src/made.gen.ts")
    expect((await read("src/made.gen.ts", ["src/made.gen.ts"]))?.content).toBeUndefined()
  })

  test("may have a name that begins with two dots", async () => {
    write("..rc", "mine")
    expect((await read("..rc", ["..rc"]))?.content).toBe("mine")
  })
})

test("ignore files hold for their folders, and a deeper one may take back what one above it said", () => {
  const ignored = createIgnored(held.project)
  const paths = [
    "dist/out.js",
    "src/made.gen.ts",
    "src/kept.gen.ts",
    "src/local/x.ts",
    "src/a.ts",
    "node_modules/a/b.js",
    "../x",
    "/x",
  ]
  expect(paths.map(ignored)).toEqual([true, true, false, true, false, true, true, true])
})

test("ignore files of a repository hold for a project that is a folder of it", () => {
  const ignored = createIgnored(join(held.project, "src"))
  expect(
    ["made.gen.ts", "deep/made.gen.ts", "kept.gen.ts", "local/x.ts", "a.ts", "../dist/out.js"].map(ignored),
  ).toEqual([true, true, false, true, false, true])
})

describe("what git knows", () => {
  test("is files by name and what was changed, without what is ignored", async () => {
    const found = await nearby({ names: ["a.ts", "out.js", "*", "--help"], changed: true }, held.project)
    expect(found.named.toSorted()).toEqual(["src/a.ts", "src/deep/a.ts"])
    expect(found.changed).toContain("src/a.ts")
    expect(found.changed.some((path) => path.startsWith("dist"))).toBe(false)
  })

  test("is of the project that is asked about, whatever repository the environment names", async () => {
    const other = join(held.root, "other")
    mkdirSync(other)
    Bun.spawnSync(["git", "-C", other, "init", "-q"])
    writeFileSync(join(other, "elsewhere.ts"), "")
    const before = { ...process.env }
    Object.assign(process.env, { GIT_DIR: join(other, ".git"), GIT_WORK_TREE: other })
    try {
      const found = await nearby({ names: ["a.ts", "elsewhere.ts"], changed: true }, held.project)
      expect(found.named.toSorted()).toEqual(["src/a.ts", "src/deep/a.ts"])
      expect(found.changed).toContain("src/a.ts")
    } finally {
      for (const name of ["GIT_DIR", "GIT_WORK_TREE"]) {
        if (before[name] === undefined) delete process.env[name]
        if (before[name] !== undefined) process.env[name] = before[name]
      }
    }
  })

  test("is nothing where git takes longer than one waits for it", async () => {
    const began = performance.now()
    const slow = git({ cwd: held.project }, ["-c", "alias.nap=!sleep 5", "nap"], { timeout_ms: 100 })
    await expect(slow).rejects.toThrow(GitError)
    expect(performance.now() - began).toBeLessThan(4_000)
  })

  test("is nothing where nothing is asked, or where there is no repository", async () => {
    expect(await nearby({ names: [], changed: false }, held.project)).toEqual({ named: [], changed: [] })
    expect(await nearby({ names: ["a.ts"], changed: true }, held.root)).toEqual({ named: [], changed: [] })
  })
})

test("of a secret at the edge of what is shown of a large file nothing is shown", async () => {
  const token = ["ghp", "Z9yX8wV7uT6sR5qP4oN3mL2kJ1iH0gFeDcBa"].join("_")
  const size = 700 * 1024
  const lines = "const a = 1\n".repeat(size)
  for (const at of [192 * 1024 - 20, size - 64 * 1024 - 20]) {
    const secret = `\n${token}\n`
    write("edge.ts", (lines.slice(0, at) + secret + lines).slice(0, size))
    const content = (await read("edge.ts"))?.content ?? ""
    expect(content).toContain("bytes are not shown")
    const pieces = Array.from({ length: token.length - 11 }, (_, from) => token.slice(from, from + 12))
    expect(pieces.filter((piece) => content.includes(piece))).toEqual([])
  }
})
