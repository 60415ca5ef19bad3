/** A command line in pieces, and whether these are surely all that it runs. */
export type Split = { pieces: string[]; sure: boolean }

type Heredoc = { word: string; quoted: boolean; tabs: boolean }

/** Where a reading stands. What is read again inside of something else has a state of its own. */
type State = { text: string; at: number; pieces: string[]; sure: boolean; waiting: Heredoc[]; depth: number }

const CUTS = ";|&\n(){}`"
// Behind one of these a "#" begins a comment in every shell; behind others only in some.
const COMMENT_BEHIND = " \t\n;&|"
const COMMENT_MAYBE = "()<>`"

// Nobody writes so many inside of each other; whoever does is not followed.
const DEEPEST = 40

const begin = (text: string): State => ({ text, at: 0, pieces: [], sure: true, waiting: [], depth: 0 })

/** Pieces of a command line, as far as that can be told without a shell: whatever one of them is denied, all are. */
export function split(line: string): Split {
  const state = begin(line)
  code(state, false)
  return { pieces: state.pieces, sure: state.sure }
}

/** Reads commands up to the end, or inside of "$(…)" up to its closing mark. */
function code(state: State, inside: boolean) {
  let [piece, depth, cases] = ["", 0, false]
  const cut = () => {
    if (piece.trim()) state.pieces.push(piece.trim())
    cases ||= /\bcase\b/.test(piece)
    piece = ""
  }
  // What reads on stops at the last letter that is part of it.
  const take = (read: (state: State) => void) => {
    const from = state.at
    read(state)
    piece += state.text.slice(from, state.at + 1)
  }
  for (; state.at < state.text.length; state.at += 1) {
    const [character, after] = [state.text.charAt(state.at), state.text.charAt(state.at + 1)]
    if (inside && character === ")" && depth === 0) break
    if (character === "(") depth += 1
    if (character === ")") depth -= 1
    if (character === "\\") {
      if (after === "`") state.sure = false
      // A line that goes on in the next is one line.
      if (after !== "\n") piece += character + after
      state.at += 1
      continue
    }
    const read = reader(state, character, after)
    if (read) {
      take(read)
      continue
    }
    if (!CUTS.includes(character) && !(character === "$" && after === "(")) {
      piece += character
      continue
    }
    cut()
    if (character === "\n") bodies(state)
  }
  cut()
  if (state.waiting.length > 0 || (inside && state.at >= state.text.length)) state.sure = false
  // A pattern of "case" ends with the same mark as "$(…)".
  if (inside && cases) state.sure = false
  state.waiting = []
}

/** What reads something that is no command, and holds none that would stand by itself. */
function reader(state: State, character: string, after: string): ((state: State) => void) | undefined {
  if (character === "'") return single
  if (character === '"') return quoted
  if (character === "<" && after === "<") return heredoc
  return character === "#" && begins(state) ? comment : undefined
}

const quoted = (state: State) => double(state, '"')

function single(state: State) {
  const end = state.text.indexOf("'", state.at + 1)
  // "$'…\'" ends here for some shells and goes on for others.
  if (end < 0 || (state.text[state.at - 1] === "$" && state.text[end - 1] === "\\")) state.sure = false
  state.at = end < 0 ? state.text.length : end
}

/** What stands in double quotes is text, but for what is run in it: up to their end, or that of the text. */
function double(state: State, close: '"' | "}" | "") {
  const from = close === '"' ? 1 : 0
  if (state.depth > DEEPEST) {
    state.sure = false
    state.at = state.text.length
  }
  state.depth += 1
  for (state.at += from; state.at < state.text.length; state.at += 1) {
    const [character, after] = [state.text.charAt(state.at), state.text.charAt(state.at + 1)]
    if (character === close) break
    if (close === "}" && (character === '"' || character === "'")) state.sure = false
    if (character === "\\") state.at += 1
    if (character === "`") backticks(state)
    if (character !== "$") continue
    if (after !== "(" && after !== "{") continue
    state.at += 2
    if (after === "{") double(state, "}")
    if (after === "(") code(state, true)
  }
  state.depth -= 1
  if (close !== "" && state.at >= state.text.length) state.sure = false
}

/** What stands between backticks is run, wherever they stand. */
function backticks(state: State) {
  const end = state.text.indexOf("`", state.at + 1)
  const within = split(state.text.slice(state.at + 1, end < 0 ? state.text.length : end))
  state.pieces.push(...within.pieces)
  if (end < 0 || !within.sure || within.pieces.some((piece) => piece.includes("\\"))) state.sure = false
  state.at = end < 0 ? state.text.length : end
}

function begins(state: State): boolean {
  const before = state.text[state.at - 1]
  // An escaped blank is part of a word.
  if (state.text[state.at - 2] === "\\") state.sure = false
  if (before === undefined || COMMENT_BEHIND.includes(before)) return true
  if (COMMENT_MAYBE.includes(before)) state.sure = false
  return false
}

/** Quotes do not count in a comment. */
function comment(state: State) {
  const end = state.text.indexOf("\n", state.at)
  const stop = end < 0 ? state.text.length : end
  if (state.text.slice(state.at, stop).includes("`")) state.sure = false
  state.at = stop - 1
}

/** "<<" and the word that ends what is read from the next line on. */
function heredoc(state: State) {
  const [whole = "<<", tabs, word = ""] =
    /^<<(<|-?)[ \t]*([^\s;&|()<>]*)/.exec(state.text.slice(state.at, state.at + 200)) ?? []
  // What is given as a word behind "<<<" is read as one.
  state.at += whole.length - 1 - (tabs === "<" ? word.length : 0)
  if (tabs === "<") return
  if (!/^(?:'[\w.+-]+'|"[\w.+-]+"|\\?[\w.+-]+)$/.test(word)) state.sure = false
  state.waiting.push({ word: word.replaceAll(/["'\\]/g, ""), quoted: /["'\\]/.test(word), tabs: tabs === "-" })
}

/** Behind the line that announces them: their text is not run, but for what is run in the text. */
function bodies(state: State) {
  for (const { word, quoted, tabs } of state.waiting.splice(0)) {
    const from = state.at + 1
    let [end, found] = [from, false]
    while (!found && end < state.text.length) {
      const next = state.text.indexOf("\n", end)
      const stop = next < 0 ? state.text.length : next
      const line = state.text.slice(end, stop)
      found = (tabs ? line.replace(/^\t+/, "") : line) === word
      if (found && !quoted) expanded(state, state.text.slice(from, end))
      end = found ? stop : stop + 1
    }
    if (!found) state.sure = false
    state.at = Math.min(end, state.text.length)
  }
}

function expanded(state: State, body: string) {
  const within = begin(body)
  double(within, "")
  state.pieces.push(...within.pieces)
  if (!within.sure) state.sure = false
}
