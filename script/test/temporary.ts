/**
 * Whatever tests put into the system's temporary folder goes into one of theirs, and that goes with the run: `bun test`
 * ends without telling `process.on("exit")`. Loaded before the tests by each bunfig.toml. A child that a test kills has
 * to be given `env: process.env`: what it gets otherwise is the environment that Bun began with.
 */
import { afterAll } from "bun:test"
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const folder = realpathSync(mkdtempSync(join(tmpdir(), "pass-over-run-")))
process.env["TMPDIR"] = folder
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }))
