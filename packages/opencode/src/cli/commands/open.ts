import { folderOf } from "../../server/address"
import { detach, panelLink, reachServer } from "../../server/client"
import { databasePath } from "../../runtime"
import { Stop, type Command, type Invocation } from "../command"
import { EXIT } from "../exit"

const OPENERS: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
  linux: ["xdg-open"],
}

/** Shows a link in the user's browser, if there is one; it never fails, because the link is printed in any case. */
function show(link: string) {
  const command = OPENERS[process.platform]
  if (!command) return
  try {
    Bun.spawn([...command, link], { stdio: ["ignore", "ignore", "ignore"], detached: true }).unref()
  } catch {
    // No browser here: whoever reads the link takes it to one.
  }
}

async function runOpen({ out, options }: Invocation) {
  const start = () => detach([process.execPath, Bun.main, "serve"])
  const found = await out.progress("Starting the server …", () =>
    reachServer({ folder: folderOf(databasePath()), start }),
  )
  if (!found) throw new Stop(EXIT.failed, "The server did not start.", "pass-over serve says why.", "E014")
  const link = await panelLink(found)
  if (options.print !== true && !out.json) show(link)
  if (out.json) out.value({ link })
  if (!out.json) out.line(`${link}\nThis link opens the panel once, within a minute.`)
  return EXIT.ok
}

export const open: Command = {
  name: "open",
  person: true,
  summary: "open the panel in the browser",
  options: [{ flags: "--print", text: "only print the link" }],
  examples: ["pass-over open", "pass-over open --print"],
  run: runOpen,
}
