/** Runs one suite in a process of its own: shows what it prints, counts what its report says, keeps what failed. */
import { readFileSync } from "node:fs"
import { join } from "node:path"

export type Tally = { passed: number; failed: number; skipped: number }
export type Suite = { name: string; cwd: string; args: readonly string[] }
export type Sink = { write(chunk: Uint8Array): unknown }
export type Run = { tally: Tally; failures: string[] }

/** A suite that hangs has failed: it must not take the others with it. */
const MOST_MS = 20 * 60_000
const MOST_LINES = 60

const number = (text: string, name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(text)?.[1] ?? 0)

/** What a suite's report says. A suite that died before it wrote one, or that ran nothing, has failed. */
export function tallyOf(report: string, ok: boolean): Tally {
  const head = /<testsuites[^>]*>/.exec(report)?.[0] ?? ""
  const [all, failed, skipped] = [number(head, "tests"), number(head, "failures"), number(head, "skipped")]
  const passed = Math.max(0, all - failed - skipped)
  // The report counts every attempt of a test that was made again; whether the last one passed the runner's end says.
  if (ok && all > 0) return { passed, failed: 0, skipped }
  return { passed, failed: Math.max(1, failed), skipped }
}

/** Here the runner says all failures once more. */
const RECAP = /^\d+ tests? failed:$/
const END = /^\((pass|fail|skip|todo)\) /

/** Each failure of a run as it was printed: what stands between the end of the test before it and its own. */
export function failuresIn(output: string): string[] {
  const found: string[] = []
  let lines: string[] = []
  for (const line of output.split("\n")) {
    if (RECAP.test(line)) break
    lines.push(line)
    const end = END.exec(line)
    if (!end) continue
    if (end[1] === "fail") found.push(lines.slice(-MOST_LINES).join("\n").trim())
    lines = []
  }
  return found
}

// What a suite has started may hold its output open for longer than it lives.
const LATE_MS = 5_000

type Output = { text: string }

/** Shows a stream as it comes, and keeps it. */
async function mirror(from: ReadableStream<Uint8Array>, to: Sink, kept: Output) {
  const decoder = new TextDecoder()
  for await (const chunk of from) {
    to.write(chunk)
    kept.text += decoder.decode(chunk, { stream: true })
  }
}

const read = (path: string) => {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}

export async function runSuite(
  suite: Suite,
  root: string,
  scratch: string,
  screen: Sink = process.stdout,
): Promise<Run> {
  const report = join(scratch, `${suite.name.replaceAll(/\W+/g, "-")}.xml`)
  const child = Bun.spawn(
    [process.execPath, "test", ...suite.args, "--reporter=junit", `--reporter-outfile=${report}`],
    {
      cwd: join(root, suite.cwd),
      stdio: ["ignore", "pipe", "pipe"],
      timeout: MOST_MS,
      killSignal: "SIGKILL",
    },
  )
  const [out, err]: [Output, Output] = [{ text: "" }, { text: "" }]
  const printed = Promise.all([mirror(child.stdout, screen, out), mirror(child.stderr, screen, err)])
  const ok = (await child.exited) === 0
  await Promise.race([printed, Bun.sleep(LATE_MS)])
  const tally = tallyOf(read(report), ok)
  const failures = tally.failed > 0 ? failuresIn(err.text + out.text) : []
  if (tally.failed > 0 && failures.length === 0)
    failures.push((err.text + out.text).trim().split("\n").slice(-MOST_LINES).join("\n"))
  return { tally, failures: failures.map((text) => `── ${suite.name}\n${text}`) }
}
