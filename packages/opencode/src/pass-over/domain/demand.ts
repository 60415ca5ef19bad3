import { patched } from "./patch"
import { split } from "./shell"

/** What a tool call needs: one of the host's permissions, for each of these. */
export type Demand = {
  permission: string
  patterns: string[]
  /** These may not be all: it could not be read well enough to be held against patterns. */ unsure?: true
}

export type Place = {
  directory: string
  worktree: string
  /** The way from one path to another, as the host's own system tells it. */
  relative(from: string, to: string): string
  resolve(directory: string, path: string): string
}

const text = (value: unknown) => (typeof value === "string" ? value : "")

const UNREAD: Demand = { permission: "edit", patterns: ["*"], unsure: true }

// What is longer than this is not held against patterns letter by letter.
const MOST = 20_000

function commands(line: string): Demand {
  const { pieces, sure } = split(line)
  const known = sure && pieces.reduce((sum, { length }) => sum + length, 0) <= MOST
  // What holds nothing that could be told apart needs the shell all the same.
  return {
    permission: "bash",
    patterns: pieces.length > 0 ? pieces : [line.trim()],
    ...(known ? {} : { unsure: true }),
  }
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
      const paths = patched(text(args.patchText)).map(path)
      return [paths.length > 0 ? { permission: "edit", patterns: paths } : UNREAD]
    }
    case "read":
      return [{ permission: "read", patterns: [path(args.filePath)] }]
    case "grep":
    case "glob":
      return [{ permission: tool, patterns: [text(args.pattern)] }]
    case "list":
      return [{ permission: tool, patterns: [text(args.path) || place.directory] }]
    case "bash":
      return [commands(text(args.command))]
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
