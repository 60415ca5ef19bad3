import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findHost } from "@pass-over/rehearsal"
import { PROMPT, readRun, readStore, SAMPLE, type Story } from "./story"

/** The same story with the user's own provider: their opencode configuration and keys, a copy of the sample project. */
export async function live(plugin: string, model: string): Promise<Story> {
  const { binary, version } = await findHost()
  const began = performance.now()
  const root = mkdtempSync(join(tmpdir(), "pass-over-start-"))
  const project = join(root, "project")
  const database = join(root, "pass-over.db")
  try {
    cpSync(SAMPLE, project, { recursive: true })
    await Bun.$`git init -q && git add -A && git -c user.name=sample -c user.email=sample@localhost commit -qm sample`.cwd(
      project,
    )
    const child = Bun.spawn([binary, "run", "--agent", "alice", "--model", model, "--format", "json"], {
      cwd: project,
      env: { ...process.env, PASS_OVER_DB: database, OPENCODE_CONFIG_CONTENT: JSON.stringify({ plugin: [plugin] }) },
      stdin: new Blob([`${PROMPT} Pass the review to audit.`]),
      stdout: "pipe",
      stderr: "pipe",
    })
    const [out, error] = await Promise.all([child.stdout.text(), child.stderr.text()])
    const events = out.split("\n").flatMap((line) => {
      try {
        return [JSON.parse(line)]
      } catch {
        return []
      }
    })
    return {
      model,
      opencode: version,
      project: "docs/example/sample-project",
      took_ms: performance.now() - began,
      ...(await readStore(database)),
      ...readRun(events),
      trouble: (await child.exited) === 0 ? "" : error.slice(-2_000),
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}
