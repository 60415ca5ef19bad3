import type { FilePort } from "../pass-over/service/change/deps"

// A test suite takes its time; one that hangs must not hold an agent for ever.
const MOST_MS = 15 * 60 * 1000
const KEPT = 64 * 1024

/** Reads a stream to its end and keeps its last part: that is where a test says what failed. */
async function tail(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ""
  for await (const piece of stream) text = (text + decoder.decode(piece, { stream: true })).slice(-KEPT)
  return text
}

/** Runs a command of the user's own in a directory, as their shell would. What it leaves running goes with it. */
export const runCommand: FilePort["run"] = async (command, directory) => {
  const began = performance.now()
  const child = Bun.spawn(["sh", "-c", `exec 2>&1\n${command}`], {
    cwd: directory,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    detached: true,
  })
  const late = setTimeout(() => {
    // The whole group: a runner starts others.
    try {
      process.kill(-child.pid, "SIGKILL")
    } catch {
      // It is over already.
    }
  }, MOST_MS)
  try {
    const [output, code] = await Promise.all([tail(child.stdout), child.exited])
    const exit_code = child.signalCode === null ? code : null
    return { exit_code, output, duration_ms: Math.round(performance.now() - began) }
  } finally {
    clearTimeout(late)
  }
}
