import { version } from "../../../package.json"
import { databasePath } from "../../runtime"
import { folderOf } from "../../server/address"
import { findServer } from "../../server/client"
import { panelFolder } from "../../server/panel-folder"
import { openSecret } from "../../server/secret"
import { count, Stop, type Command, type Invocation } from "../command"
import { EXIT } from "../exit"

const MINUTE = 60_000
const HIGHEST_PORT = 65_535

function rotated({ out }: Invocation) {
  openSecret(folderOf(databasePath())).rotate()
  const text = "There is a new secret. Whoever had the old one, open panels included, is signed out."
  if (out.json) out.value({ rotated: true })
  if (!out.json) out.line(text)
  return EXIT.ok
}

async function runServe(call: Invocation) {
  const { out, options } = call
  if (options.rotate === true) return rotated(call)
  const port = count(options, "port", 0)
  if (port > HIGHEST_PORT) throw new Stop(EXIT.usage, `There is no port ${port}.`, "Take one below 65536.", "USAGE")
  // Only here: no other command needs a web server.
  const { serve: listen } = await import("../../server/serve")
  const served = await listen({
    port,
    idle_ms: count(options, "idle", 15) * MINUTE,
    panel: panelFolder(),
    version,
    log: (level, message, detail) => void (level === "info" || console.error(message, detail ?? "")),
  })
  if (!served.ok && served.reason === "running") {
    const known = await findServer(folderOf(databasePath()))
    const text = known ? `It runs already: ${known.url}` : served.problem
    if (known && port > 0 && new URL(known.url).port !== String(port))
      throw new Stop(EXIT.failed, `It runs already, on another port: ${known.url}.`, "Use that one, or end it first.")
    if (out.json) out.value({ url: known?.url ?? null, started: false })
    if (!out.json) out.line(text)
    return EXIT.ok
  }
  if (!served.ok) throw new Stop(EXIT.database, served.problem, "pass-over doctor says more.", "E014")
  if (out.json) out.value({ url: served.url, started: true })
  if (!out.json) out.line(`${served.url}  (pass-over open opens the panel there; Ctrl+C ends it)`)
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void served.stop())
  await served.stopped
  return EXIT.ok
}

export const serve: Command = {
  name: "serve",
  person: true,
  summary: "run the API and the panel; started by itself where it is needed",
  options: [
    { flags: "--port <number>", text: "a port of your own choice; otherwise the last one, or any that is free" },
    { flags: "--idle <minutes>", text: "how long it stays when nobody asks anything; 15 if not said" },
    { flags: "--rotate", text: "make a new secret: everybody who had the old one is signed out" },
  ],
  examples: ["pass-over serve", "pass-over serve --port 4097", "pass-over serve --rotate"],
  run: runServe,
}
