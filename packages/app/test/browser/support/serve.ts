import { dirname, join } from "node:path"
import { folderOf } from "../../../../opencode/src/server/address"
import { findServer, panelLink } from "../../../../opencode/src/server/client"
import { databaseOf, plugin, type World } from "../../../../opencode/test/pass-over/support/opencode"
import { until } from "./story"

export type Panel = { link(): Promise<string>; stop(): Promise<void> }

/** `pass-over serve` for the user of a sandbox, with the panel, as both ship. */
export async function serve({ box }: World): Promise<Panel> {
  const database = databaseOf(box)
  const cli = join(dirname(await plugin()), "cli.js")
  const child = Bun.spawn([process.execPath, cli, "serve"], {
    cwd: box.project,
    env: { ...process.env, ...box.env, PASS_OVER_DB: database },
    stdio: ["ignore", "ignore", "inherit"],
  })
  const found = { server: undefined as Awaited<ReturnType<typeof findServer>> }
  await until(async () => (found.server = await findServer(folderOf(database))) !== undefined, 20_000)
  return {
    link: () => panelLink(found.server!),
    stop: async () => {
      child.kill()
      await child.exited
    },
  }
}
