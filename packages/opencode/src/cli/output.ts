import { styleText } from "node:util"
import { clean, safeJson } from "./clean"
import { table, type Cell, type Column } from "./table"

export type Style = "red" | "green" | "yellow" | "cyan" | "dim" | "bold"

/** Where a command writes, and what the place can show. */
export type Output = {
  readonly json: boolean
  readonly width: number | undefined
  /** One line for a person. */
  line(text?: string): void
  /** Text as it is, for what is made for programs. */
  raw(text: string): void
  /** The one value that a program reads. */
  value(value: unknown): void
  table(columns: readonly Column[], rows: readonly (readonly Cell[])[]): void
  paint(style: Style, text: string): string
  /** Says what is going on while it takes its time; gone when it is done. */
  progress<T>(text: string, work: (tell: (text: string) => void) => Promise<T>): Promise<T>
}

export type Terminal = {
  json: boolean
  /** Whether standard output and standard error are terminals, and how wide. */
  tty: boolean
  error_tty: boolean
  width: number | undefined
  env: Readonly<Record<string, string | undefined>>
  write(text: string): void
  writeError(text: string): void
}

/** NO_COLOR and pipes mean none; FORCE_COLOR is for those who know what reads it. */
export const colourful = ({ tty, env, json }: Pick<Terminal, "tty" | "env" | "json">) => {
  if (json || env.NO_COLOR) return false
  if (env.FORCE_COLOR && env.FORCE_COLOR !== "0") return true
  return tty && env.TERM !== "dumb"
}

const CLEAR = "\r\u001b[2K"
const SHOW_AFTER_MS = 300

export function createOutput(terminal: Terminal): Output {
  const { json } = terminal
  const colours = colourful(terminal)
  const paint = (style: Style, text: string) => (colours ? styleText(style, text, { validateStream: false }) : text)
  const width = terminal.tty ? terminal.width : undefined
  const line = (text = "") => terminal.write(`${text}\n`)
  return {
    json,
    width,
    line,
    paint,
    raw: (text) => terminal.write(text),
    value: (value) => terminal.write(`${safeJson(value)}\n`),
    table: (columns, rows) => {
      for (const text of table(columns, rows, { width, head: (head) => paint("dim", head) })) line(text)
    },
    async progress(text, work) {
      if (!terminal.error_tty || json) return work(() => {})
      const shown = { text, on: false }
      const show = () => {
        shown.on = true
        terminal.writeError(`${CLEAR}${clean(shown.text)}`)
      }
      // What is done at once needs no word about it.
      const timer = setTimeout(show, SHOW_AFTER_MS)
      try {
        return await work((next) => {
          shown.text = next
          if (shown.on) show()
        })
      } finally {
        clearTimeout(timer)
        if (shown.on) terminal.writeError(CLEAR)
      }
    },
  }
}
