import { join } from "node:path"
import type { Sandbox } from "@pass-over/rehearsal"

export type Launched = { code: number; out: string; err: string; json(): unknown }

export const LAUNCHER = join(import.meta.dir, "../../../bin/pass-over.mjs")

/** `pass-over …` in a sandbox's project, started by Node and run by opencode's own binary, as its users do. */
export async function passOver(box: Sandbox, ...argv: string[]): Promise<Launched> {
  const child = Bun.spawn([Bun.which("node") ?? "node", LAUNCHER, ...argv], {
    cwd: box.project,
    env: { ...box.env, PASS_OVER_OPENCODE: box.binary },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err, json: () => JSON.parse(out) as unknown }
}
