#!/usr/bin/env node
// Plain Node, no dependencies: finds a Bun to run the command line on. opencode's own binary is one, so whoever has
// opencode needs nothing else; a `bun` of the machine will do as well. In words that an old Node understands: it only
// has to start something else.
import { spawn, spawnSync } from "node:child_process"
import { accessSync, constants, existsSync, statSync } from "node:fs"
import { constants as os, homedir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const windows = process.platform === "win32"
const ENTRIES = ["src/cli/main.ts", "dist/cli.js"]

function runs(path) {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function onPath(name) {
  const names = windows ? [`${name}.exe`, `${name}.cmd`] : [name]
  // An empty or relative entry would look into the project, where anybody may have put a program of that name.
  const folders = (process.env.PATH || "").split(delimiter).filter((folder) => /^([\\/]|[a-z]:)/i.test(folder))
  return folders.flatMap((folder) => names.map((file) => join(folder, file))).filter(runs)
}

const unique = (list) => [...new Set(list)]

function candidates() {
  const own = process.env.PASS_OVER_OPENCODE
  const opencode = [
    ...(own ? [own] : []),
    ...onPath("opencode"),
    join(homedir(), ".opencode", "bin", windows ? "opencode.exe" : "opencode"),
  ].filter(runs)
  const bun = [...onPath("bun"), join(homedir(), ".bun", "bin", windows ? "bun.exe" : "bun")].filter(runs)
  return unique([...opencode, ...bun])
}

const shell = (path) => windows && path.endsWith(".cmd")

// oxlint-disable-next-line no-control-regex
const COLOURS = /\u001b\[[\d;]*m/g

// Another build of opencode might not know the switch, and would take our arguments for its own.
function isBun(path) {
  // Bun heeds FORCE_COLOR before NO_COLOR, even where it is empty, and colours its first words.
  const { FORCE_COLOR: _forced, ...env } = process.env
  const asked = spawnSync(path, ["--help"], {
    encoding: "utf8",
    env: { ...env, BUN_BE_BUN: "1", NO_COLOR: "1" },
    shell: shell(path),
    stdio: ["ignore", "pipe", "ignore"],
    timeout: 20000,
  })
  return asked.status === 0 && asked.stdout.replace(COLOURS, "").startsWith("Bun is a ")
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

const entry = ENTRIES.map((path) => join(root, path)).find((path) => existsSync(path))
if (!entry) fail("Pass Over is not complete: its command line is missing. Install opencode-pass-over again.")

const found = candidates()
const runtime = found.find(isBun)
if (!runtime) {
  fail(
    found.length === 0
      ? "Pass Over needs opencode, or Bun, and finds neither. Install opencode (https://opencode.ai), or name its binary with PASS_OVER_OPENCODE."
      : `Pass Over needs opencode 1.18 or later, or Bun, and cannot run on ${found.join(", ")}. Update opencode, or name its binary with PASS_OVER_OPENCODE.`,
  )
}

// The project that this is called in must not decide what is loaded: no .env, no bunfig.toml, no packages from the net.
const flags = ["--no-env-file", "--no-install", `--config=${join(root, "bin", "bunfig.toml")}`]
const child = spawn(runtime, [...flags, entry, ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...process.env, BUN_BE_BUN: "1" },
  shell: shell(runtime),
})

// The terminal sends Ctrl-C to both of us; the child decides what it means.
process.on("SIGINT", () => {})
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
child.on("error", (error) => fail(`${runtime} could not be started: ${error.message}`))
child.on("exit", (code, signal) => process.exit(signal ? 128 + (os.signals[signal] || 0) : code === null ? 1 : code))
