/** Writes every generated file anew; with --check it only says which are out of date. */
import { readFileSync, writeFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import { DOCUMENTS } from "../packages/opencode/script/documents"
import { httpDocument } from "../packages/opencode/script/http"
import { shownTools } from "../packages/opencode/script/tools"

const root = join(import.meta.dir, "..")

type Journal = { entries: { idx: number; tag: string }[] }

/** The migrations as a module, so that they travel inside the plugin's bundle. */
function migrations(): string {
  const folder = join(root, "migration/sqlite")
  const journal: Journal = JSON.parse(readFileSync(join(folder, "meta/_journal.json"), "utf8"))
  const list = journal.entries
    .toSorted((a, b) => a.idx - b.idx)
    .map(({ tag }) => ({
      tag,
      statements: readFileSync(join(folder, `${tag}.sql`), "utf8")
        .split("--> statement-breakpoint")
        .map((statement) => statement.trim())
        .filter(Boolean),
    }))
  return [
    "// Generated from migration/sqlite by `bun run generate`. Do not edit.",
    'import type { Migration } from "./migrate"',
    "",
    `export const MIGRATIONS: readonly Migration[] = ${JSON.stringify(list, undefined, 2)}`,
    "",
  ].join("\n")
}

const FILES: Record<string, () => string | Promise<string>> = {
  ...DOCUMENTS,
  "docs/http.md": httpDocument,
  "packages/opencode/src/pass-over/store/migration.gen.ts": migrations,
  "packages/opencode/src/tool/shown.gen.ts": shownTools,
}

const check = process.argv.includes("--check")
const stale: string[] = []
for (const [path, make] of Object.entries(FILES)) {
  const file = join(root, path)
  const content = await make()
  if (existsSync(file) && readFileSync(file, "utf8") === content) continue
  if (!check) writeFileSync(file, content)
  stale.push(path)
}
for (const path of stale) console.log(`${check ? "out of date" : "written"}: ${path}`)
if (check && stale.length > 0) process.exit(1)
