import { Severity, type FindingArtifact } from "./artifact"
import type { MessagePart } from "./context"

// Near to linear, and on bounded lines.
const HEAD =
  /^[ \t>*_#-]*FINDING[*_ \t]*(?:[([](error|warning|info)[)\]][*_ \t]*)?(?:[:–—]|-(?=[ \t]))[*_ \t]*([^\n]*)$/i
const PLACE = /^`?([\w@+./-]{1,400}\.[A-Za-z]\w{0,9})`?(?::(\d{1,7}))?(?::(\d{1,7}))?`?[ \t]*(?:[:–—-][ \t]*)?/
const WORD = /^(error|warning|info)[:,]?[ \t]+/i

const LONGEST = 4_000
// A line longer than this is data.
const LINE = 20_000
// Nobody writes so many by hand.
const MOST = 1_000

const positive = (digits: string | undefined) => {
  const number = Number(digits)
  return digits !== undefined && number > 0 ? number : undefined
}

function read(said: string | undefined, rest: string): FindingArtifact[] {
  const word = WORD.exec(rest)
  const text = word && said === undefined ? rest.slice(word[0].length) : rest
  const named = (said ?? word?.[1])?.toLowerCase()
  const severity = Severity.options.find((one) => one === named) ?? "warning"
  const [all = "", path, line, column] = PLACE.exec(text) ?? []
  const message = text.slice(all.length).trim().slice(0, LONGEST)
  if (message === "") return []
  const at = positive(line)
  const in_line = at === undefined ? undefined : positive(column)
  return [
    {
      type: "finding",
      severity,
      category: "general",
      message,
      ...(path
        ? {
            location: {
              path,
              ...(at === undefined ? {} : { line: at }),
              ...(in_line === undefined ? {} : { column: in_line }),
            },
          }
        : {}),
    },
  ]
}

/** Findings that an agent wrote down in its text or reasoning as `FINDING (error): src/total.ts:12 …`. */
export function findings(part: MessagePart): FindingArtifact[] {
  if (part.type !== "text" && part.type !== "reasoning") return []
  if (part.synthetic || !part.text || !/finding/i.test(part.text)) return []
  const all: FindingArtifact[] = []
  for (const line of part.text.split(/\r?\n/)) {
    const found = line.length <= LINE ? HEAD.exec(line) : null
    if (found) all.push(...read(found[1], found[2] ?? ""))
    if (all.length >= MOST) break
  }
  return all
}
