// The first step of `npm start` and `npm test`: plain Node, no dependencies. It fetches Bun from npm where the machine
// has none of the right version, installs the workspace with it, and hands over to the script that was asked for.
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(dirname(fileURLToPath(import.meta.url)), "..")
const version = JSON.parse(readFileSync(join(root, "tool/package.json"), "utf8")).dependencies.bun
const windows = process.platform === "win32"

function fail(message) {
  console.error(message)
  process.exit(1)
}

function is(bun) {
  const asked = spawnSync(bun, ["--version"], { encoding: "utf8" })
  return asked.status === 0 && asked.stdout.trim() === version
}

// The npm package links its binary in an install script, which npm may be told not to run. The platform packages hold
// the binary itself; of several the first that runs on this machine is taken.
function installed() {
  const folder = join(root, "tool/node_modules/@oven")
  if (!existsSync(folder)) return undefined
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name, "bin", windows ? "bun.exe" : "bun"))
    .find((path) => existsSync(path) && is(path))
}

function bun() {
  if (is("bun")) return "bun"
  const known = installed()
  if (known) return known
  console.log(`Fetching Bun ${version} from npm …`)
  const npm = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: join(root, "tool"),
    stdio: ["ignore", "inherit", "inherit"],
    shell: windows,
  })
  if (npm.status !== 0)
    fail(`Bun ${version} could not be fetched from npm. Check the network, or install that version of Bun yourself.`)
  return installed() ?? fail(`No build of Bun ${version} runs on ${process.platform} ${process.arch}.`)
}

const [script, ...rest] = process.argv.slice(2)
const runtime = bun()
const environment = {
  ...process.env,
  PATH: [runtime === "bun" ? undefined : dirname(runtime), join(root, "node_modules/.bin"), process.env.PATH]
    .filter(Boolean)
    .join(windows ? ";" : ":"),
}
const install = spawnSync(runtime, ["install", "--frozen-lockfile"], { cwd: root, env: environment, encoding: "utf8" })
if (install.status !== 0) fail(`The packages could not be installed:\n${install.stdout}${install.stderr}`)

const ran = spawnSync(runtime, [join(root, "script", `${script}.ts`), ...rest], {
  cwd: root,
  stdio: "inherit",
  env: environment,
})
process.exit(ran.status ?? 1)
