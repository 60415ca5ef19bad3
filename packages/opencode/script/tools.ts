import { toolsOf } from "../src/plugin"
import type { Opened } from "../src/project"

/** Our tools as the model is shown them, so that opencode need not load what checks their arguments to show them. */
export function shownTools(): string {
  // Of an opened project a tool's description needs nothing; what it does is not asked for here.
  const nowhere = { engine: { log: () => {} }, project: {}, flows: {} } as unknown as Opened
  const shown = toolsOf(nowhere).map(({ name, description, parameters }) => ({ name, description, parameters }))
  return [
    "// Generated from the tools by `bun run generate`. Do not edit.",
    "",
    "export type ShownTool = { name: string; description: string; parameters: Record<string, unknown> }",
    "",
    `export const TOOLS: readonly ShownTool[] = ${JSON.stringify(shown, undefined, 2)}`,
    "",
  ].join("\n")
}
