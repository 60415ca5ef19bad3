import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dir, "../../../..")
const PLACES = [
  "packages/opencode/src/pass-over",
  "packages/opencode/src",
  "packages/opencode/test/pass-over",
  "packages/opencode/test",
  "packages/opencode",
  "",
]
const document = readFileSync(join(root, "docs/spec-coverage.md"), "utf8")

const found = (path: string) =>
  PLACES.map((place) => join(root, place, path)).find((candidate) => existsSync(candidate))

/** Whatever looks like a file of ours: with a folder in front or one of our endings behind. */
const PATHS = /`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|tsx|txt|md|json|yaml))`/g
const SHOWN = /`([\w./-]+\.ts)`((?:,? "[^"]+")+)/g

// Names of files that the specification gives and that lie in their layer, or that are written when it runs.
const ELSEWHERE = [".opencode/config.json", ".opencode/pass-over.json", "audit-summary.json", "state/current.json"]
const RENAMED = ["types.ts", "pass-over.sql.ts", "api-send.ts", "api-return.ts", "audit-query.ts"]
const COMPONENTS = ["pass-over-status.tsx", "pass-over-audit.tsx", "pass-over-preferences.tsx"]
const NOT_HERE = [...ELSEWHERE, ...RENAMED, ...COMPONENTS]

test("the account of the specification names only files that are there", () => {
  const named = [...document.matchAll(PATHS)].map(([, path = ""]) => path)
  expect(named.length).toBeGreaterThan(200)
  expect(named.filter((path) => !NOT_HERE.includes(path) && !found(path))).toEqual([])
})

test("and only tests that are there, by a part of their title", () => {
  const missing = [...document.matchAll(SHOWN)].flatMap(([, path = "", titles = ""]) => {
    const text = readFileSync(found(path) ?? "", "utf8")
    return [...titles.matchAll(/"([^"]+)"/g)].flatMap(([, title = ""]) =>
      text.includes(title) ? [] : [`${path}: ${title}`],
    )
  })
  expect(missing).toEqual([])
})
