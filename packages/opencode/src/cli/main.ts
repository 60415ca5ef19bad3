import { version } from "../../package.json"
import { execute } from "./program"

// What we start in turn must be opencode itself, and not the Bun inside of it.
delete process.env.BUN_BE_BUN

// A reader that has seen enough (`pass-over list | head`) is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0)
    throw error
  })
}

process.exitCode = await execute(process.argv.slice(2), {
  directory: process.cwd(),
  version,
  env: process.env,
  tty: process.stdout.isTTY,
  error_tty: process.stderr.isTTY,
  width: process.stdout.columns,
  now: () => Date.now(),
  write: (text) => void process.stdout.write(text),
  writeError: (text) => void process.stderr.write(text),
})
