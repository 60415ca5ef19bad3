import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { handoffSchemas } from "../../../src/pass-over/handoff/schema"

const FOLDER = join(import.meta.dir, "../../../schema")

test("every protocol has its JSON Schema, published and as the sources say", () => {
  const schemas = Object.entries(handoffSchemas())
  expect(schemas.map(([name]) => name)).toEqual([
    "flow.schema.json",
    "phase-request.schema.json",
    "phase-response.schema.json",
    "handoff-package.schema.json",
    "handoff-acknowledgment.schema.json",
    "handoff-log.schema.json",
    "handoff-envelope.schema.json",
  ])
  for (const [name, schema] of schemas) {
    expect(existsSync(join(FOLDER, name))).toBe(true)
    expect(JSON.parse(readFileSync(join(FOLDER, name), "utf8"))).toEqual(JSON.parse(JSON.stringify(schema)))
  }
})

test("the schemas say what is required and take nothing unknown", () => {
  const schemas = handoffSchemas() as Record<
    string,
    { required: string[]; additionalProperties: boolean; title: string }
  >
  expect(schemas["phase-request.schema.json"]).toMatchObject({
    required: ["task_id", "phase", "context", "instructions", "expected_output"],
    additionalProperties: false,
  })
  expect(schemas["handoff-envelope.schema.json"]).toMatchObject({
    required: ["meta", "status", "summary", "concerns", "assumptions", "routing"],
    additionalProperties: false,
  })
})
