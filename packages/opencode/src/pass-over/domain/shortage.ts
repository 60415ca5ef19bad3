import { clip } from "./clip"
import type { ContextMessage } from "./context"
import { PassOverErrorCode, sentence } from "./errors"
import type { ErrorNote } from "./output"
import { SHELLS } from "./tool"

/** A command that has ended, as its agent saw it. */
export type Ended = { command: string; exit: number | null | undefined; output: string }

/** Why a command is thought to have run out of memory, and whether that is certain or only likely. */
export type Shortage = { sure: boolean; sign: string }

/** What the commands of a pass are held to, and who said so. */
export type MemoryLimit = { megabytes: number; where: string }

const LINES = 200
const CHARACTERS = 40_000
const LONGEST_LINE = 400
const MOST = 5

// How runtimes, compilers and tools say it themselves, each a line of its own: what merely speaks of memory does not
// look like this. Tried with a limit set: bash, perl, awk, tail, jq, git, python, node, bun, java, gcc, rustc, C++.
const SAID: readonly RegExp[] = [
  /(?:^|: |\] )cannot allocate memory(?:$|: )/i,
  /\bx(?:m|re|c)alloc: (?:\S+: )?cannot allocate \d+ bytes/,
  /^(?:E\s+)?(?:\w+\.)*_?(?:Array)?MemoryError(?:$|: )/,
  /(?:instance of '|exception of type |what\(\):\s+)std::bad_alloc\b/,
  /^memory allocation of \d+ bytes failed/,
  /^(?:fatal error|runtime): (?:runtime: )?(?:out of memory|cannot allocate memory)/,
  /^# There is insufficient memory for the Java Runtime Environment/,
  /^(?:Caused by: |Exception in thread "[^"]*" )?java\.lang\.OutOfMemoryError(?:$|: )/,
  /^(?:\S+\.)?OutOfMemoryException(?:$|: )|^Unhandled exception\. System\.OutOfMemoryException/,
  /^FATAL ERROR: .*(?:heap out of memory|Allocation failed)/,
  /^#? ?Fatal (?:process|JavaScript) out of memory/,
  /^(?:Uncaught )?RangeError: (?:Array buffer allocation failed|Out of memory)$/,
  /MemoryExhaustion: Crash intentionally because memory is exhausted/,
  /^(?:[\w./+-]+: )*(?:line \d+: )?(?:fatal: |error: |fatal error: |LLVM ERROR: |PHP Fatal error: +|run time error: )*(?:out of memory|(?:virtual )?memory exhausted)(?:$|[!.,]| \(| allocating | during | in perl:)/i,
  /: (?:final link failed: )?memory exhausted$/,
  /failed to allocate memory(?: \(NoMemoryError\))?$/,
  /error while loading shared libraries: \S+: failed to map segment from shared object/,
  /\bcode: ['"]ENOMEM['"]|\bspawn ENOMEM$|\bENOMEM: not enough memory/,
]

// A thread needs memory for its stack; there are other limits that keep one from being made.
const THREADS =
  /can't start new thread$|pthread_create failed|failed to create new OS thread|unable to create native thread/

// A program that does not look whether it got what it asked for is ended by one of these signals.
const SIGNALS = new Map([
  [133, "SIGTRAP"],
  [134, "SIGABRT"],
  [137, "SIGKILL"],
  [139, "SIGSEGV"],
])
const OTHERWISE =
  /assert|sanitizer|stack overflow|call stack|stack smashing|double free|free\(\): |corrupt|panic|instance of '(?!std::bad_alloc|terminate)|unreachable|breakpoint/i
const KILLS = /\b(?:p?kill|killall|timeout)\b/

// What only shows what is written somewhere. Behind a pipe an exit code says nothing of the program in front of it.
const SHOWS = /^\s*(?:cat|zcat|e?grep|rg|git|head|tail|less|sed|awk|jq|find|ls|echo|printf|journalctl|dmesg)\b/

// "src/pool.c:12:…" is a line that somebody has looked for; "x.rb:1:in …" is where something was raised.
const FOUND = /^[^\s:]+:\d+:(?!in )/

const lastLines = (output: string) =>
  output
    .slice(-CHARACTERS)
    .split(/\r?\n/)
    .slice(-LINES)
    .map((line) => line.slice(0, LONGEST_LINE).trimEnd())
    .filter((line) => line.trim() !== "" && !FOUND.test(line))

const saying = (lines: readonly string[], patterns: readonly RegExp[]) =>
  lines.find((line) => patterns.some((pattern) => pattern.test(line.trimStart())))

const short = (text: string, most = 100) => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return clip(line, most)
}

/** Whether a command has failed because it could not get memory. One that fails for another reason has no sign of it. */
export function shortage({ command, exit, output }: Ended): Shortage | undefined {
  if (typeof exit !== "number" || (exit === 0 && (!command.includes("|") || SHOWS.test(command)))) return
  const lines = lastLines(output)
  const said = saying(lines, SAID)
  if (said !== undefined) return { sure: exit !== 0, sign: `"${short(said)}"` }
  const threads = saying(lines, [THREADS])
  if (threads !== undefined) return { sure: false, sign: `"${short(threads)}"` }
  const signal = SIGNALS.get(exit)
  if (signal === undefined || lines.some((line) => OTHERWISE.test(line))) return
  if (exit === 137 && KILLS.test(command)) return
  return { sure: false, sign: `exit code ${exit}, ${signal}` }
}

const ACTION =
  "Do it in smaller pieces or with fewer at once; where it cannot be done with less, return what you have and say how much it needs, for the user can raise the setting."

const limited = ({ megabytes, where }: MemoryLimit) => `max_memory_mb is ${megabytes}, set at ${where}`

/** One line behind what a command said: an agent cannot know of a limit that nobody has told it of. */
export function shortageLine({ sure, sign }: Shortage, limit: MemoryLimit): string {
  const message = sure
    ? `The command ran out of memory (${sign}): ${limited(limit)}.`
    : `The command may have run out of memory (${sign}): ${limited(limit)}. If it fails for another reason, ignore this line.`
  return sentence({ code: PassOverErrorCode.RESOURCE_EXHAUSTED, message, suggestion: ACTION })
}

/** The commands of a child that have certainly run out of memory, as its outcome names them. */
export function shortages(messages: readonly ContextMessage[], limit: MemoryLimit | undefined): ErrorNote[] {
  if (!limit) return []
  const found = messages.flatMap(({ parts }) =>
    parts.flatMap(({ tool_name = "", tool_input, tool_output = "", metadata }) => {
      if (!SHELLS.includes(tool_name)) return []
      const command = typeof tool_input?.command === "string" ? tool_input.command : ""
      const exit = typeof metadata?.exit === "number" ? metadata.exit : undefined
      const short_of = shortage({ command, exit, output: tool_output })
      return short_of?.sure ? [`\`${short(command)}\` ran out of memory (${short_of.sign}): ${limited(limit)}`] : []
    }),
  )
  return [...new Set(found)].slice(0, MOST).map((message) => ({
    code: PassOverErrorCode.RESOURCE_EXHAUSTED,
    message,
    suggested_action: `Ask for less at once, or raise max_memory_mb at ${limit.where}.`,
  }))
}
