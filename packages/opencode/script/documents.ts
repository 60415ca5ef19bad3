import { readFileSync } from "node:fs"
import { join } from "node:path"
import { configSchema } from "../src/pass-over/domain/config-schema"
import { handoffSchemas } from "../src/pass-over/handoff/schema"
import { commandsDocument, exitsDocument } from "./commands-document"
import { failureDocument, lifecycleDocument } from "./lifecycle"
import { fill } from "./markdown"
import { settingsDocument } from "./settings-document"

const root = join(import.meta.dir, "../../..")

const filled = (path: string, parts: Record<string, () => string>) => () =>
  Object.entries(parts).reduce(
    (document, [name, content]) => fill(document, name, content()),
    readFileSync(join(root, path), "utf8"),
  )

const schemas = Object.fromEntries(
  Object.entries(handoffSchemas()).map(([name, schema]) => [
    `packages/opencode/schema/${name}`,
    () => `${JSON.stringify(schema, undefined, 2)}\n`,
  ]),
)

/** What is written from the sources of the plugin, by its path in the repository. */
export const DOCUMENTS: Record<string, () => string> = {
  "packages/opencode/schema/pass-over.schema.json": () => `${JSON.stringify(configSchema(), undefined, 2)}\n`,
  ...schemas,
  "docs/configuration.md": filled("docs/configuration.md", { settings: settingsDocument }),
  "docs/command-line.md": filled("docs/command-line.md", { commands: commandsDocument, exits: exitsDocument }),
  "docs/lifecycle.md": lifecycleDocument,
  "docs/failure.md": failureDocument,
}
