import { version } from "../../package.json"
import { EXIT } from "./exit"
import { execute } from "./program"

// What we start in turn must be opencode itself, and not the Bun inside of it.
delete process.env.BUN_BE_BUN

type Stream = typeof process.stdout | typeof process.stderr

const lost = new Set<Stream>()
const broken = { on: false }

/** Nothing more goes there; what the command does and ends with is its own affair. */
function lose(stream: Stream, error: unknown) {
  if (lost.has(stream)) return
  lost.add(stream)
  // A reader that has seen enough (`pass-over list | head`) is no error.
  if (error instanceof Error && "code" in error && error.code === "EPIPE") return
  broken.on = true
  const why = error instanceof Error ? error.message : String(error)
  if (stream === process.stdout) write(process.stderr, `What there was to say could not be written: ${why}.\n`)
  process.exitCode ||= EXIT.failed
}

function write(stream: Stream, text: string) {
  if (lost.has(stream)) return
  try {
    stream.write(text)
  } catch (error) {
    lose(stream, error)
  }
}

for (const stream of [process.stdout, process.stderr]) stream.on("error", (error) => lose(stream, error))

const code = await execute(process.argv.slice(2), {
  directory: process.cwd(),
  version,
  env: process.env,
  tty: process.stdout.isTTY,
  error_tty: process.stderr.isTTY,
  width: process.stdout.columns,
  now: () => Date.now(),
  write: (text) => write(process.stdout, text),
  writeError: (text) => write(process.stderr, text),
})
// Whether all of it could be written may turn out before this or after it.
process.exitCode = broken.on ? code || EXIT.failed : code
