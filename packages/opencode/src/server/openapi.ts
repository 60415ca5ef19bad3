import type { Hono } from "hono"
import { describeRoute, generateSpecs } from "hono-openapi"
import type { Env, ServerDeps } from "./deps"
import { FAILURES } from "./describe"

const TAGS = [
  { name: "passes", description: "What was asked of whom, where it stands, and what came of it." },
  { name: "changes", description: "What a pass has changed or proposes to change." },
  { name: "flows", description: "Several passes strung together, as durable runs." },
  { name: "inbox", description: "What waits for a person." },
  { name: "preferences", description: "Who may pass what to whom, and how." },
  { name: "record", description: "What was written down, and what it adds up to." },
  { name: "events", description: "What happens, as it happens." },
  { name: "server", description: "The server itself." },
]

/** The document of all routes, made of the same schemas that read and answer requests. */
export function document(app: Hono<Env>, version: string) {
  return generateSpecs(app, {
    excludeStaticFile: false,
    documentation: {
      openapi: "3.1.0",
      info: {
        title: "Pass Over",
        version,
        description:
          "Delegation between coding agents as a contract. Served on loopback by `pass-over serve` for the user who started it. All times are Unix milliseconds; queries also take seconds and ISO 8601.",
        license: { name: "MIT", identifier: "MIT" },
        contact: { name: "Pass Over", url: "https://www.npmjs.com/package/opencode-pass-over" },
      },
      servers: [
        {
          url: "http://{host}:{port}",
          description: "Your own machine.",
          variables: {
            host: { default: "127.0.0.1", enum: ["127.0.0.1", "localhost"] },
            port: { default: "4097", description: "`pass-over serve` prints it." },
          },
        },
      ],
      tags: TAGS,
      security: [{ secret: [] }],
      components: { securitySchemes: { secret: { type: "http", scheme: "bearer" } } },
    },
  })
}

export function documented(app: Hono<Env>, deps: Pick<ServerDeps, "version">, base: string) {
  let known: ReturnType<typeof document> | undefined
  app.get(
    `${base}/openapi.json`,
    describeRoute({
      operationId: "getDocument",
      tags: ["server"],
      summary: "Read this document",
      description: "The OpenAPI document of all routes.",
      responses: {
        200: { description: "OpenAPI 3.1.", content: { "application/json": { schema: { type: "object" } } } },
        ...FAILURES,
      },
    }),
    async (c) => c.json(await (known ??= document(app, deps.version))),
  )
}
