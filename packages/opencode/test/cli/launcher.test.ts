import ts from "@typescript/typescript6"
import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { EXIT } from "../../src/cli/exit"
import { outcomeOf, started, VERDICT } from "../pass-over/support/drive"
import { createEngineWorld } from "../pass-over/support/engine"
import { createFolder, type Folder } from "../pass-over/support/folder"

setDefaultTimeout(30_000)

const LAUNCHER = join(import.meta.dir, "../../bin/pass-over.mjs")
const node = Bun.which("node") ?? "node"

type Ran = { code: number; out: string; err: string }

/** The command as users start it: by Node, in a home of its own, with nothing on the PATH but what a test puts there. */
async function launch(
  folder: Folder,
  argv: readonly string[],
  env: Record<string, string> = {},
  launcher = LAUNCHER,
): Promise<Ran> {
  const child = Bun.spawn([node, launcher, ...argv], {
    cwd: folder.at("project"),
    env: {
      HOME: folder.at("home"),
      PATH: folder.at("bin"),
      PASS_OVER_DB: folder.at("pass-over.db"),
      USER: "ada",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

function createPlace(): Folder {
  const folder = createFolder()
  for (const path of ["home", "bin", join("project", ".git")]) mkdirSync(folder.at(path), { recursive: true })
  return folder
}

const script = (folder: Folder, name: string, text: string) => {
  writeFileSync(folder.at("bin", name), `#!/bin/sh\n${text}\n`)
  chmodSync(folder.at("bin", name), 0o755)
}

/** What the Bun of these tests would be inside of opencode's binary. */
const asOpencode = (folder: Folder) => {
  script(folder, "opencode", `[ "$BUN_BE_BUN" = 1 ] && exec ${process.execPath} "$@"\necho 1.18.33`)
}

describe("the launcher", () => {
  test("runs on opencode's own binary, and tells it to be Bun", async () => {
    using folder = createPlace()
    asOpencode(folder)
    const ran = await launch(folder, ["--version"])
    expect(ran).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), err: "" })
    // What it starts in turn is opencode again.
    const doctor = await launch(folder, ["doctor", "--json"])
    expect(doctor.out).toContain('"said": "1.18.33"')
  })

  test("runs on a bun where there is no opencode", async () => {
    using folder = createPlace()
    symlinkSync(process.execPath, folder.at("bin", "bun"))
    expect((await launch(folder, ["--version"])).code).toBe(0)
  })

  test.each(["1", "3", "true", ""])("runs where colours are forced with %j, and shows them", async (forced) => {
    using folder = createPlace()
    asOpencode(folder)
    const ran = await launch(folder, ["doctor"], { FORCE_COLOR: forced })
    expect(ran.err).toBe("")
    expect(ran.out).toContain("1.18.33")
    expect(ran.out.includes("\u001b")).toBe(forced !== "")
    expect((await launch(folder, ["doctor", "--json"], { FORCE_COLOR: forced })).out).not.toContain("\u001b")
  })

  test("is written in words that a Node of six years ago understands", () => {
    const text = readFileSync(LAUNCHER, "utf8")
    const [old, now] = [ts.ScriptTarget.ES2019, ts.ScriptTarget.ESNext].map(
      (target) => ts.transpileModule(text, { compilerOptions: { target, module: ts.ModuleKind.ESNext } }).outputText,
    )
    // Whatever is newer the compiler would have to write in another way.
    expect(old).toBe(now ?? "")
  })

  test("passes over an opencode that does not know how, because it would take our arguments for a prompt", async () => {
    using folder = createPlace()
    script(folder, "opencode", `case "$1" in --help) echo opencode;; *) echo "$@" >> ${folder.at("called")};; esac`)
    const none = await launch(folder, ["list"])
    expect(none.code).toBe(1)
    expect(none.err).toContain("Update opencode")
    symlinkSync(process.execPath, folder.at("bin", "bun"))
    expect((await launch(folder, ["list"])).code).toBe(0)
    expect(await Bun.file(folder.at("called")).exists()).toBe(false)
  })

  test("without either says what is missing in one sentence", async () => {
    using folder = createPlace()
    const ran = await launch(folder, ["list"])
    expect(ran).toMatchObject({ code: 1, out: "" })
    expect(ran.err).toMatch(/^Pass Over needs opencode, or Bun, and finds neither\. .*\n$/)
  })

  test("takes no program out of the project, and lets the project load nothing into it", async () => {
    using folder = createPlace()
    symlinkSync(process.execPath, folder.at("bin", "bun"))
    const trap = `import { writeFileSync } from "node:fs"\nwriteFileSync(${JSON.stringify(folder.at("trapped"))}, "x")\n`
    writeFileSync(folder.at("project", "trap.ts"), trap)
    writeFileSync(folder.at("project", "bunfig.toml"), 'preload = ["./trap.ts"]\n')
    writeFileSync(folder.at("project", ".env"), `PASS_OVER_DB=${folder.at("elsewhere.db")}\nFORCE_COLOR=1\n`)
    for (const name of ["opencode", "bun"]) {
      writeFileSync(folder.at("project", name), `#!/bin/sh\ntouch ${folder.at("trapped")}\n`)
      chmodSync(folder.at("project", name), 0o755)
    }
    const ran = await launch(folder, ["list"], { PATH: `.:${folder.at("bin")}:` })
    expect(ran.code).toBe(0)
    expect(await Bun.file(folder.at("trapped")).exists()).toBe(false)
    // The control: started the plain way, the same folder does load its trap.
    await Bun.spawn([process.execPath, join(LAUNCHER, "../../src/cli/main.ts"), "--version"], {
      cwd: folder.at("project"),
      stdio: ["ignore", "ignore", "ignore"],
    }).exited
    expect(await Bun.file(folder.at("trapped")).exists()).toBe(true)
  })

  test("hands on arguments as they are, and the exit code", async () => {
    using folder = createPlace()
    symlinkSync(process.execPath, folder.at("bin", "bun"))
    expect(await launch(folder, ["show", "a b'c\"$HOME"])).toMatchObject({
      code: 3,
      err: expect.stringContaining(`a b'c"$HOME`),
    })
    expect(await launch(folder, ["lst"])).toMatchObject({ code: 2 })
  })
})

test("reads what opencode wrote, without colours in a pipe", async () => {
  using folder = createPlace()
  symlinkSync(process.execPath, folder.at("bin", "bun"))
  using world = createEngineWorld({ path: folder.at("pass-over.db") })
  world.project.directory = folder.at("project")
  world.host.script("audit", async (child) => {
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const runner = await started(world, { objective: "Check the totals" })
  await outcomeOf(world, runner)
  const list = await launch(folder, ["list"], { TERM: "xterm-256color" })
  expect(list.out).toContain("Check the totals")
  expect(list.out).not.toContain("\u001b")
  const show = await launch(folder, ["show", runner.pass.id.slice(-8), "--json"])
  expect(JSON.parse(show.out)).toMatchObject({
    pass: { id: runner.pass.id },
    outcome: { output: { status: "completed" } },
  })
})

test("what is packed is enough: launcher, bundle and manifest, without sources or packages", async () => {
  using folder = createPlace()
  symlinkSync(process.execPath, folder.at("bin", "bun"))
  const packed = folder.at("node_modules", "opencode-pass-over")
  // In a process of its own: the bundler does not work beside a test runner.
  const naming = ["--target=bun", "--minify", "--entry-naming=cli.[ext]", `--outdir=${join(packed, "dist")}`]
  const build = Bun.spawnSync([process.execPath, "build", ...naming, join(LAUNCHER, "../../src/cli/main.ts")])
  expect(build.stderr.toString()).toBe("")
  cpSync(join(LAUNCHER, ".."), join(packed, "bin"), { recursive: true })
  cpSync(join(LAUNCHER, "../../package.json"), join(packed, "package.json"))
  const init = await launch(folder, ["init"], {}, join(packed, "bin", "pass-over.mjs"))
  expect(init).toMatchObject({ code: 0, err: "" })
  // Installed by npm it is named, not pointed at.
  expect(JSON.parse(readFileSync(folder.at("project", ".opencode", "opencode.json"), "utf8"))).toMatchObject({
    plugin: ["opencode-pass-over"],
  })
  const list = await launch(folder, ["list", "--json"], {}, join(packed, "bin", "pass-over.mjs"))
  expect(list).toEqual({ code: 0, out: '{\n  "passes": []\n}\n', err: "" })
  const show = await launch(folder, ["show", "abc"], {}, join(packed, "bin", "pass-over.mjs"))
  expect(show).toMatchObject({ code: EXIT.not_found })
})

test("a command waits for an answer for as long as it said it would", async () => {
  using folder = createPlace()
  symlinkSync(process.execPath, folder.at("bin", "bun"))
  using world = createEngineWorld({ path: folder.at("pass-over.db") })
  world.host.script("inspector", async (child) => child.told)
  const runner = await started(world, { subagent: "inspector" })
  const ran = await launch(folder, ["cancel", runner.pass.id])
  expect(ran.code).toBe(EXIT.unconfirmed)
  expect(ran.out).toMatch(/handed to the opencode|The opencode that ran this pass is gone/)
})

test("a reader that has seen enough is no error", async () => {
  using folder = createPlace()
  symlinkSync(process.execPath, folder.at("bin", "bun"))
  const child = Bun.spawn(["/bin/sh", "-c", `${node} ${LAUNCHER} config schema | head -n 1`], {
    cwd: folder.at("project"),
    env: { HOME: folder.at("home"), PATH: `${folder.at("bin")}:/usr/bin:/bin` },
    stdio: ["ignore", "pipe", "pipe"],
  })
  expect(await new Response(child.stdout).text()).toBe("{\n")
  expect(await new Response(child.stderr).text()).toBe("")
})

test("what cannot be written is a sentence and an exit code, and a reader that is gone changes no exit code", async () => {
  using folder = createPlace()
  symlinkSync(process.execPath, folder.at("bin", "bun"))
  const shell = async (line: string) => {
    const child = Bun.spawn(["/bin/sh", "-c", line], {
      cwd: folder.at("project"),
      env: { HOME: folder.at("home"), PATH: `${folder.at("bin")}:/usr/bin:/bin`, L: `${node} ${LAUNCHER}` },
      stdio: ["ignore", "pipe", "pipe"],
    })
    return new Response(child.stderr).text()
  }
  expect(await shell("$L list > /dev/full; echo $? >&2")).toBe(
    "What there was to say could not be written: ENOSPC: no space left on device, write.\n1\n",
  )
  // The reader is gone before anything is written.
  expect(await shell("(sleep 0.2; $L show abc --json; echo $? >&2) | true")).toBe("3\n")
  expect(await shell("(sleep 0.2; $L list --json; echo $? >&2) | true")).toBe("0\n")
})
