import type { Turn } from "../../../src/pass-over/domain/circle"
import { random } from "./agent-log"

/** Draws what sessions are made of. The same seed draws the same. */
export type Draw = {
  int(from: number, to: number): number
  chance(of: number): boolean
  pick<T>(list: readonly T[]): T
  /** A path that was not drawn before. */
  path(): string
  /** A name that was not drawn before. */
  name(): string
  stamp(): string
  hex(length: number): string
  prose(count: number): string
}

const FOLDERS = ["src", "src/cart", "src/store", "lib", "packages/core/src", "app/routes", "server", "test/unit"]
const NOUNS =
  "cart order price total user session token invoice ledger stock route parser cache queue worker mailer".split(" ")
const VERBS = "load save parse render merge apply check build format send open close fetch sort count join".split(" ")
const TALK =
  "the module exports one function which reads its settings from disk before any request comes in and keeps them until somebody saves new ones so callers never see a half written value while errors travel up as rejected promises and are logged by the outermost handler with their cause".split(
    " ",
  )

export function createDraw(seed: number): Draw {
  const next = random(seed)
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  const pick = <T>(list: readonly T[]): T => list[int(0, list.length - 1)]!
  let serial = int(0, 20)
  let clock = 1_763_000_000_000 + int(0, 1e9)
  const name = () => `${pick(VERBS)}${pick(NOUNS)[0]!.toUpperCase()}${pick(NOUNS).slice(1)}${(serial += 1)}`
  return {
    int,
    pick,
    name,
    chance: (of) => next() < of,
    path: () => `${pick(FOLDERS)}/${pick(NOUNS)}-${pick(VERBS)}${(serial += 1)}.ts`,
    stamp: () => new Date((clock += int(300, 90_000))).toISOString(),
    hex: (length) => Array.from({ length }, () => int(0, 15).toString(16)).join(""),
    prose: (count) => Array.from({ length: count }, () => pick(TALK)).join(" "),
  }
}

export const call = (tool: string, input: Record<string, unknown>, output: string, failed = false): Turn => ({
  tool,
  input: JSON.stringify(input),
  output,
  failed,
})

export const bash = (command: string, output: string, description = "Runs a command"): Turn =>
  call("bash", { command, description }, output)

/** Lines of a source file that nobody has seen before. */
export const source = (draw: Draw, lines: number): string[] =>
  Array.from({ length: lines }, () => `const ${draw.name()} = ${draw.name()}(${draw.int(0, 999)}) // ${draw.prose(3)}`)

export const shown = (path: string, lines: readonly string[], from = 1) =>
  `<path>${path}</path>\n<content>\n${lines.map((line, index) => `${from + index}: ${line}`).join("\n")}\n</content>`

const NOISE: readonly ((draw: Draw) => Turn)[] = [
  (draw) => {
    const path = draw.path()
    return call("read", { filePath: path }, shown(path, source(draw, draw.int(3, 20))))
  },
  (draw) =>
    call(
      "grep",
      { pattern: draw.name() },
      `Found 1 match\n${draw.path()}:\n  Line ${draw.int(1, 400)}: ${draw.name()}()`,
    ),
  (draw) => call("glob", { pattern: `**/${draw.name()}*` }, draw.path()),
  (draw) =>
    call(
      "edit",
      { filePath: draw.path(), oldString: draw.name(), newString: draw.name() },
      "Edit applied successfully.",
    ),
  (draw) => bash(`wc -l ${draw.path()}`, String(draw.int(10, 900))),
  (draw) => bash(`git log -${draw.int(1, 40)} -- ${draw.path()}`, `${draw.hex(8)} ${draw.prose(5)}`),
]

/** A turn of honest work that has nothing to do with the rest. */
export const noise = (draw: Draw): Turn => draw.pick(NOISE)(draw)

/** Noise that only looks at things. */
export const looking = (draw: Draw): Turn => draw.pick(NOISE.slice(0, 3))(draw)

/** A failing test run as a runner prints it; only its durations differ from one run to the next. */
export function failing(draw: Draw) {
  const [name, path, want, got] = [draw.name(), draw.path(), draw.int(1, 99), draw.int(100, 999)]
  const trace = source(draw, draw.int(0, 12))
    .map((line) => `  | ${line}`)
    .join("\n")
  return (line = 12) =>
    `bun test v1.3\n${path}:\n${trace}\nerror: expect(received).toBe(expected)\nExpected: ${want}\nReceived: ${got}\n    at ${name} (${path}:${line}:5)\n(fail) ${name} [${draw.int(1, 900)}.${draw.int(10, 99)}ms]\n 11 pass\n 1 fail\nRan 12 tests across 3 files. [${draw.int(100, 900)}ms]`
}
