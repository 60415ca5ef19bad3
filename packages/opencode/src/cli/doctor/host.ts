import { opencodeConfigs, tuiConfigs } from "../opencode-config"
import { opencodeBinary } from "../../standby/binary"
import { halves, listedIn, namedIn } from "../plugin-entry"
import { fail, ok, warn, type Check, type Finding, type Scene } from "./finding"

/** The one that everything here was tried on. */
const TRIED = [1, 18] as const

/** What a binary says of its version; nothing where it cannot be started. */
async function versionOf(binary: string, env: Scene["env"]): Promise<string | undefined> {
  try {
    // The environment by name: what was taken out of that of this process would be handed on all the same.
    const child = Bun.spawn([binary, "--version"], {
      env: { ...env },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 30_000,
    })
    const [said, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
    return code === 0 ? said.trim() : undefined
  } catch {
    return undefined
  }
}

export const opencode: Check = async ({ env }) => {
  const named = env.PASS_OVER_OPENCODE
  const binary = opencodeBinary(env)
  const version = binary === undefined ? undefined : await versionOf(binary, env)
  const install = "Install opencode (https://opencode.ai), or name its binary with PASS_OVER_OPENCODE."
  if (version === undefined) return [fail("opencode", `${binary ?? (named || "opencode")} cannot be started.`, install)]
  const known = /^v?(\d+)\.(\d+)\./.exec(version)
  if (!known) return [fail("opencode", `${binary} says "${version}" for its version, which is none.`, install)]
  const [major, minor] = [Number(known[1]), Number(known[2])]
  if (named && named !== binary) {
    const instead = `PASS_OVER_OPENCODE names ${named}, which cannot be started; ${binary} (${version}) is taken instead.`
    return [warn("opencode", instead, "Correct PASS_OVER_OPENCODE, or take it away.")]
  }
  if (major > TRIED[0]) {
    return [
      fail(
        "opencode",
        `${version} is of a later generation, which loads plugins in another way.`,
        "Look for a newer Pass Over.",
      ),
    ]
  }
  if (major < TRIED[0] || minor < TRIED[1]) {
    return [warn("opencode", `${version} is older than what this was made for.`, "opencode upgrade")]
  }
  return [ok("opencode", version)]
}

export const plugin: Check = ({ directory }) => {
  const brought = halves()
  const of = (half: "server" | "tui", files: string[]): Finding[] => {
    const name = half === "server" ? "plugin" : "plugin (terminal)"
    if (!brought.includes(half)) return []
    const broken = files.flatMap((file) => {
      const found = listedIn(file)
      return found.ok ? [] : [fail(name, found.refusal.message, found.refusal.suggestion)]
    })
    const places = namedIn(files)
    const [first, second] = places
    if (!first) {
      const missing = `It is in no ${half === "server" ? "opencode" : "tui"}.json that counts here.`
      const found = half === "server" ? fail(name, missing, "pass-over init") : warn(name, missing, "pass-over init")
      return [...broken, found]
    }
    if (second && second.spec !== first.spec) {
      return [
        ...broken,
        warn(
          name,
          `It is named twice: ${places.map(({ file, spec }) => `${spec} in ${file}`).join(", ")}.`,
          "Keep one of them.",
        ),
      ]
    }
    return [...broken, ok(name, `${first.spec} in ${first.file}`)]
  }
  return [...of("server", opencodeConfigs(directory)), ...of("tui", tuiConfigs(directory))]
}
