import { expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { OPEN_ROUTES } from "../../src/server/app"
import { BASE, createTestServer } from "./support/server"

type Operation = { operationId: string; security?: unknown[]; responses: Record<string, unknown> }
type Document = { paths: Record<string, Record<string, Operation>> }

async function made(): Promise<Document> {
  using server = createTestServer()
  return server.get<Document>("/openapi.json")
}

const operations = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  )

test("the document names every route, and no other", async () => {
  using server = createTestServer()
  const routes = server.app.routes
    .filter(({ method }) => ["GET", "POST", "PUT", "DELETE"].includes(method))
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`)
  expect(new Set(operations(await made()).map(({ name }) => name))).toEqual(new Set(routes))
  expect(routes.length).toBeGreaterThan(20)
})

test("says of the open routes alone that they need no secret", async () => {
  const open = operations(await made()).filter(({ operation }) => operation.security?.length === 0)
  expect(open.map(({ name }) => name).toSorted()).toEqual(OPEN_ROUTES.toSorted())
})

test("gives each operation a name of its own, and says how it is refused", async () => {
  const all = operations(await made()).map(({ operation }) => operation)
  expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length)
  for (const { responses } of all) expect(Object.keys(responses)).toContain("4XX")
})

// Both are what others check such documents with. They run as programs of their own, as anybody would run them.
const LINTERS = {
  redocly: ["redocly", ["lint", "openapi.json", "--config", "redocly.yaml", "--max-problems", "20"]],
  spectral: ["spectral", ["lint", "openapi.json", "--ruleset", ".spectral.yaml", "--fail-severity", "warn"]],
} as const

const RULES = {
  // The routes are `/audit` beside `/{id}`, as designed: an id is a UUID, and literal names are found first.
  "redocly.yaml": "extends: [recommended-strict]\nrules:\n  no-ambiguous-paths: off\n",
  ".spectral.yaml": 'extends: ["spectral:oas"]\n',
}

function lint(name: keyof typeof LINTERS, document: unknown) {
  const folder = mkdtempSync(join(tmpdir(), "pass-over-openapi-"))
  try {
    writeFileSync(join(folder, "openapi.json"), JSON.stringify(document))
    for (const [file, text] of Object.entries(RULES)) writeFileSync(join(folder, file), text)
    const [program, args] = LINTERS[name]
    const binary = join(import.meta.dir, "../../node_modules/.bin", program)
    const run = Bun.spawnSync([binary, ...args], {
      cwd: folder,
      env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1" },
    })
    return { code: run.exitCode, said: run.stdout.toString() + run.stderr.toString() }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

for (const name of ["redocly", "spectral"] as const) {
  test(`is clean under ${name}, which would say so if it were not`, async () => {
    const document = await made()
    const found = lint(name, document)
    expect(found.code === 0 ? "" : found.said).toBe("")
    const broken = structuredClone(document)
    const health: Partial<Operation> = broken.paths[`${BASE}/health`]?.get ?? {}
    delete health.responses
    expect(lint(name, broken).code).not.toBe(0)
  }, 60_000)
}
