/** What a tool call needs: one of the host's permissions, for each of these. */
export type Demand = { permission: string; patterns: string[] }

export type Place = {
  directory: string
  worktree: string
  /** The way from one path to another, as the host's own system tells it. */
  relative(from: string, to: string): string
  resolve(directory: string, path: string): string
}

const text = (value: unknown) => (typeof value === "string" ? value : "")

const PATCHED = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm

/** Pieces of a command line, as far as that can be told without a shell: whatever one of them is denied, all are. */
export function commands(line: string): string[] {
  const pieces: string[] = []
  let piece = ""
  let quote = ""
  const cut = () => {
    if (piece.trim()) pieces.push(piece.trim())
    piece = ""
  }
  for (let index = 0; index < line.length; index += 1) {
    const character = line[index] ?? ""
    if (quote !== "'" && character === "\\") {
      piece += character + (line[(index += 1)] ?? "")
      continue
    }
    if (quote) {
      // What stands in "$(…)" is run too.
      if (quote === '"' && character === "$" && line[index + 1] === "(") {
        const end = line.indexOf(")", index)
        if (end > index) pieces.push(...commands(line.slice(index + 2, end)))
      }
      if (character === quote) quote = ""
      piece += character
      continue
    }
    if (character === "'" || character === '"') {
      quote = character
      piece += character
      continue
    }
    if (";|&\n(){}`".includes(character) || (character === "$" && line[index + 1] === "(")) {
      cut()
      continue
    }
    piece += character
  }
  cut()
  return pieces
}

/** What the host will ask about this call, as it asks itself. A tool that we do not know is asked about by its name. */
export function demands(tool: string, args: Record<string, unknown>, place: Place): Demand[] {
  const path = (value: unknown) =>
    place.relative(place.worktree, place.resolve(place.directory, text(value))).replaceAll("\\", "/")
  switch (tool) {
    case "edit":
    case "write":
      return [{ permission: "edit", patterns: [path(args.filePath)] }]
    case "apply_patch": {
      const paths = [...text(args.patchText).matchAll(PATCHED)].map(([, found]) => path(found?.trim()))
      return [{ permission: "edit", patterns: paths.length > 0 ? paths : ["*"] }]
    }
    case "read":
      return [{ permission: "read", patterns: [path(args.filePath)] }]
    case "grep":
    case "glob":
      return [{ permission: tool, patterns: [text(args.pattern)] }]
    case "list":
      return [{ permission: tool, patterns: [text(args.path) || place.directory] }]
    case "bash":
      return [{ permission: "bash", patterns: commands(text(args.command)) }]
    case "webfetch":
      return [{ permission: tool, patterns: [text(args.url)] }]
    case "websearch":
    case "codesearch":
      return [{ permission: tool, patterns: [text(args.query)] }]
    case "skill":
      return [{ permission: tool, patterns: [text(args.name)] }]
    case "task":
      return [{ permission: tool, patterns: [text(args.subagent_type)] }]
    case "list_mcp_resources":
    case "list_mcp_resource_templates":
    case "read_mcp_resource":
      return [{ permission: "read", patterns: [`mcp:${text(args.server) || "*"}:${text(args.uri) || "*"}`] }]
    default:
      return [{ permission: tool, patterns: ["*"] }]
  }
}
