import { existsSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { configSchema } from "../../pass-over/domain/config-schema"
import { PassOverErrorCode, refuse, type Refusal } from "../../pass-over/domain/errors"
import { editFile, replaceFile } from "../../pass-over/store/config-edit"
import { globalConfigPath } from "../../paths"
import { exitFor, EXIT } from "../exit"
import { text, type Command, type Invocation } from "../command"
import { oneLine } from "../clean"
import type { Output } from "../output"
import { globalFolder, opencodeConfigs, target, tuiConfigs } from "../opencode-config"
import { inProject, projectConfig, projectRoot } from "../place"
import { halves, listed, listedIn, namedIn, ownSpec, type Half } from "../plugin-entry"
import { readText } from "../read-text"
import { SCHEMA_FILE, STARTER } from "../starter"

type Step = {
  what: string
  path: string
  did: "written" | "added" | "unchanged" | "failed"
  refusal?: Refusal
  note?: string
}

const FILE = { server: "opencode", tui: "tui" } as const
const WHAT: Record<Half, string> = { server: "the plugin", tui: "the terminal's half of the plugin" }
const SCHEMA_OF: Record<Half, string> = {
  server: "https://opencode.ai/config.json",
  tui: "https://opencode.ai/tui.json",
}

/** Puts our entry into opencode's list, where it is not in one of the files that count here already. */
function install(half: Half, spec: string, folder: string, files: readonly string[]): Step {
  const [there] = namedIn(files)
  const what = WHAT[half]
  if (there) return { what, path: there.file, did: "unchanged", note: `is there as ${there.spec}` }
  const path = target(folder, FILE[half])
  const fresh = !existsSync(path)
  const found = listedIn(path)
  if (!found.ok) return { what, path, did: "failed", refusal: found.refusal }
  const edits = [
    ...(fresh ? [{ path: ["$schema"], value: SCHEMA_OF[half] }] : []),
    found.list
      ? { path: ["plugin", found.list.length], value: spec, insert: true }
      : { path: ["plugin"], value: [spec] },
  ]
  const edited = editFile(path, edits, (after) => {
    const check = listed(path, after)
    return check.ok ? undefined : check.refusal
  })
  if (!edited.ok) return { what, path, did: "failed", refusal: edited.refusal }
  return { what, path, did: fresh ? "written" : "added", note: `as ${spec}` }
}

function put(what: string, path: string, content: string, keep: boolean): Step {
  const file = readText(path)
  if (file.state === "unreadable") {
    const refusal = refuse(PassOverErrorCode.CONFIG_INVALID, `${path} cannot be read: ${file.problem}.`, {
      suggestion: "Put a file that can be read in its place.",
    })
    return { what, path, did: "failed", refusal }
  }
  const before = file.state === "text" ? file.text : undefined
  if (before === content || (keep && before !== undefined)) return { what, path, did: "unchanged" }
  try {
    const refusal = replaceFile(path, content, before)
    return refusal ? { what, path, did: "failed", refusal } : { what, path, did: "written" }
  } catch (error) {
    const message = `${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`
    return {
      what,
      path,
      did: "failed",
      refusal: refuse(PassOverErrorCode.CONFIG_INVALID, message, { suggestion: "Make it writable." }),
    }
  }
}

const MARK = { written: "+", added: "+", unchanged: "=", failed: "✗" } as const

function print(out: Output, steps: readonly Step[], missing: readonly Half[]) {
  for (const { what, path, did, refusal, note } of steps) {
    const style = did === "failed" ? "red" : did === "unchanged" ? "dim" : "green"
    out.line(
      `${out.paint(style, `${MARK[did]} ${did.padEnd(9)}`)} ${path} (${what}${note ? `, ${oneLine(note)}` : ""})`,
    )
    if (refusal) out.line(`  ${oneLine(refusal.message)} → ${oneLine(refusal.suggestion)}`)
  }
  for (const half of missing) out.line(out.paint("dim", `This package does not bring ${WHAT[half]}; it works without.`))
  if (steps.some((step) => step.did === "failed")) return
  const changed = steps.some((step) => step.did !== "unchanged")
  out.line(changed ? "Ready. Start opencode again, then ask alice for something." : "Everything was in place already.")
  out.line(out.paint("dim", "pass-over doctor looks whether all of it works."))
}

async function run({ out, options, directory }: Invocation) {
  const global = options.global === true
  const folder = global ? globalFolder() : join(projectRoot(directory), ".opencode")
  const spec = text(options, "plugin") ?? ownSpec()
  const brought = halves()
  const preferences = global ? globalConfigPath() : projectConfig(directory)
  const schema = join(dirname(preferences), SCHEMA_FILE)
  if (!global) {
    const files = (["opencode", "tui"] as const).map((name) => target(folder, name))
    for (const path of [...files, preferences, schema]) inProject(path, directory)
  }
  // For all projects only what stands in the user's own folder counts: another project does not read this one's.
  const counting = (half: Half) => {
    const found = half === "server" ? opencodeConfigs(directory) : tuiConfigs(directory)
    return global ? found.filter((path) => dirname(path) === folder) : found
  }
  const steps = [
    ...brought.map((half) => install(half, spec, folder, counting(half))),
    put(
      "what editors need to check the preferences",
      schema,
      `${JSON.stringify(configSchema(), undefined, 2)}\n`,
      false,
    ),
    put(`your preferences, ${basename(preferences)}`, preferences, STARTER, true),
  ]
  const missing = (["server", "tui"] as const).filter((half) => !brought.includes(half))
  const failed = steps.find((step) => step.refusal)?.refusal
  if (out.json) out.value({ steps, missing })
  if (!out.json) print(out, steps, missing)
  return failed ? exitFor(failed.code) : EXIT.ok
}

export const init: Command = {
  name: "init",
  summary: "install the plugin into this project and write commented preferences; safe to run twice",
  options: [
    { flags: "--global", text: "for all your projects instead of this one" },
    { flags: "--plugin <spec>", text: "what to name in opencode's list, if not this package" },
  ],
  examples: ["pass-over init", "pass-over init --global"],
  run,
}
