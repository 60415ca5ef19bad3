const cell = (text: string) => text.replaceAll("|", "\\|")

/** A table as the formatter would write it, so that a generated file passes it unchanged. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(cell))
  const widths = head.map((_title, index) => Math.max(3, ...all.map((row) => Bun.stringWidth(row[index] ?? ""))))
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, index) => `${row[index] ?? ""}${" ".repeat(width - Bun.stringWidth(row[index] ?? ""))}`).join(" | ")} |`
  const [first = [], ...others] = all
  return [line(first), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...others.map(line)].join("\n")
}

const MARK = (name: string) => ({ begin: `<!-- ${name}: generated, do not edit -->`, end: `<!-- ${name}: end -->` })

/** A document with the part between two marks written anew; what stands around them is written by people. */
export function fill(document: string, name: string, content: string): string {
  const { begin, end } = MARK(name)
  const [from, to] = [document.indexOf(begin), document.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the document has no part "${name}"`)
  return `${document.slice(0, from + begin.length)}\n\n${content}\n\n${document.slice(to)}`
}
