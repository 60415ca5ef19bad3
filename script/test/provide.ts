/** What the tests need beyond npm: installed where that is allowed, named in one line where it is not. */
import { existsSync } from "node:fs"

type Program = { name: string; packages: string; here(): boolean }

const CHROMIUM = [
  process.env["CHROMIUM_PATH"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:/Program Files/Google/Chrome/Application/chrome.exe",
]

/** The Chromium of this machine, or undefined. */
export const chromiumPath = () => CHROMIUM.find((path): path is string => path !== undefined && existsSync(path))

const PROGRAMS: readonly Program[] = [
  { name: "Chromium", packages: "chromium", here: () => chromiumPath() !== undefined },
  { name: "tmux", packages: "tmux", here: () => Bun.which("tmux") !== null },
]

const mayInstall = () => process.platform === "linux" && process.getuid?.() === 0 && Bun.which("apt-get") !== null

/** Installs what is missing. Says what it could not, and how to. */
export function provide() {
  const missing = PROGRAMS.filter((program) => !program.here())
  if (missing.length === 0) return
  const packages = missing.map((program) => program.packages).join(" ")
  if (mayInstall()) {
    console.log(`Installing ${missing.map((program) => program.name).join(" and ")} …`)
    const ran = Bun.spawnSync(
      ["sh", "-c", `apt-get update -q && apt-get install -qy --no-install-recommends ${packages}`],
      { stdout: "pipe", stderr: "pipe", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } },
    )
    if (ran.exitCode !== 0) console.error(ran.stderr.toString().trimEnd().slice(-2_000))
  }
  for (const program of missing)
    if (!program.here())
      console.error(
        `${program.name} is missing, so its tests will fail. Install it: apt-get install ${program.packages}`,
      )
}
