import { beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { z } from "zod"
import { WorkContext } from "../../../src/pass-over/domain/context"
import { WorkOutput } from "../../../src/pass-over/domain/output"
import type { Schema } from "../../../src/schema"
import { createPackages, type Packed } from "../support/package"

setDefaultTimeout(120_000)

const top = join(import.meta.dir, "../../../../..")
const held = {} as { folder: string; packed: Packed }

/** Somebody's project, with the package in it and nothing else: no zod, and no types of Node's or Bun's. */
beforeAll(async () => {
  const [packed] = await createPackages("0.1.0")
  held.packed = packed!
  held.folder = mkdtempSync(join(tmpdir(), "pass-over-consumer-"))
  const at = join(held.folder, "node_modules/opencode-pass-over")
  mkdirSync(at, { recursive: true })
  const { exitCode } = Bun.spawnSync(["tar", "-xzf", packed!.tarball, "-C", at, "--strip-components=1"])
  expect(exitCode).toBe(0)
  writeFileSync(join(held.folder, "package.json"), JSON.stringify({ type: "module" }))
  writeFileSync(join(held.folder, "globals.d.ts"), "declare const process: { env: Record<string, string | undefined> }")
})

type Setting = { module: string; moduleResolution: string; exactOptionalPropertyTypes?: boolean; lib?: string[] }

const SETTINGS: Setting[] = [
  { module: "ESNext", moduleResolution: "bundler" },
  { module: "NodeNext", moduleResolution: "nodenext" },
  { module: "NodeNext", moduleResolution: "nodenext", exactOptionalPropertyTypes: true },
]

/** What the compiler says of some files: "good.ts(3,1): error TS2345: …". */
function compile(files: Record<string, string>, setting: Setting) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(held.folder, name), text)
  const compilerOptions = { target: "ESNext", strict: true, skipLibCheck: false, noEmit: true, types: [], ...setting }
  const config = { compilerOptions, files: ["globals.d.ts", ...Object.keys(files)] }
  writeFileSync(join(held.folder, "tsconfig.json"), JSON.stringify(config))
  const done = Bun.spawnSync([join(top, "node_modules/.bin/tsc"), "-p", "."], { cwd: held.folder })
  return done.stdout.toString() + done.stderr.toString()
}

const snippets = () =>
  [...readFileSync(join(top, "docs/library.md"), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text]) => text!)

const GOOD = `
import { passOver, PassOver, PassOverError, type Schema, type WorkArtifact, type WorkOutput } from "opencode-pass-over"
import { AuditLog } from "opencode-pass-over/audit"
import { configSchema, explain, PassOverConfig } from "opencode-pass-over/config"
import { selectLog } from "opencode-pass-over/context"
import { ChainValidator, summarise } from "opencode-pass-over/core"
import server from "opencode-pass-over/server"
import tui from "opencode-pass-over/tui"

const output: WorkOutput = PassOver.WorkOutput.parse(JSON.parse("{}"))
const status: "completed" | "failed" | "aborted" | "partial" = output.status
const schema: Schema<PassOver.WorkOutput, unknown> = PassOver.WorkOutput
const context: Partial<PassOver.WorkContext> = { files: [{ path: "src/total.ts" }] }
const depth: number = ChainValidator.MAX_CHAIN_DEPTH
const told = (artifact: WorkArtifact): string => {
  switch (artifact.type) {
    case "finding": return artifact.severity + artifact.location?.line?.toFixed()
    case "file_modification": return artifact.new_content
    case "decision": return artifact.answer
    case "message": return artifact.content
    case "tool_result": return artifact.tool_name
  }
}
const names: string[] = [server.id, tui.id, status, ...output.artifacts.map(told)]
const failed = (error: unknown) => error instanceof PassOverError && error.code === "E002"
const timeout: number = PassOverConfig.resolvePreference("alice", "audit", { timeout_ms: 1 }).timeout_ms
const { lines } = await AuditLog.withAudit({}, (audit) => audit.query({ subagent: "audit", status: ["failed"] }))
const again: Promise<WorkOutput> = passOver({ subagent: "audit", reason: "r", work_context: { ...context, objective: "o" } })
export { again, configSchema, depth, explain, failed, lines, names, schema, selectLog, summarise, timeout }
`

/** What a user may get wrong, and how the compiler says so. */
const WRONG: Record<string, { text: string; says: RegExp }> = {
  "no-objective.ts": {
    text: `import { passOver } from "opencode-pass-over"
await passOver({ subagent: "audit", reason: "r", work_context: { files: [] } })`,
    says: /objective/,
  },
  "status.ts": {
    text: `import { returnFromPassOver } from "opencode-pass-over"
await returnFromPassOver({ status: "done" })`,
    says: /"done"/,
  },
  "override.ts": {
    text: `import { passOver } from "opencode-pass-over"
await passOver({ subagent: "a", reason: "r", work_context: { objective: "o" }, override: { timeout: 1 } })`,
    says: /timeout/,
  },
  "decision.ts": {
    text: `import { passOver } from "opencode-pass-over"
const { summary } = await passOver({ subagent: "a", reason: "r", work_context: { objective: "o" } })
if (summary.decision === "accepted") throw summary`,
    says: /"accepted"/,
  },
  "artifact.ts": {
    text: `import { applyArtifacts } from "opencode-pass-over"
await applyArtifacts([{ type: "finding", severity: "fatal", category: "c", message: "m" }])`,
    says: /"fatal"/,
  },
  "query.ts": {
    text: `import { AuditLog } from "opencode-pass-over"
await AuditLog.query({ status: "finished" })`,
    says: /"finished"/,
  },
  "member.ts": {
    text: `import { PassOver } from "opencode-pass-over"
PassOver.WorkOutput.parse({}).artefacts`,
    says: /artefacts/,
  },
}

test.each(SETTINGS)("what the documents show compiles with the package alone: %o", (setting) => {
  const shown = snippets()
  expect(shown.length).toBeGreaterThan(2)
  const files = Object.fromEntries(shown.map((text, at) => [`shown-${at}.ts`, text]))
  expect(compile({ "good.ts": GOOD, ...files }, setting)).toBe("")
})

test.each(SETTINGS)("what is wrong does not compile: %o", (setting) => {
  const files = Object.fromEntries(Object.entries(WRONG).map(([name, { text }]) => [name, text]))
  const said = compile(files, setting)
    .split("\n")
    .filter((line) => /^\S/.test(line))
  for (const [name, { says }] of Object.entries(WRONG)) {
    const of = said.filter((line) => line.startsWith(`${name}(`))
    expect([name, of.length]).toEqual([name, 1])
    expect(of[0]).toMatch(says)
  }
  expect(said).toHaveLength(Object.keys(WRONG).length)
})

test("there are declarations for each entry, and they take little room", () => {
  const paths = held.packed.files.map(({ path }) => path)
  const { exports } = JSON.parse(
    readFileSync(join(held.folder, "node_modules/opencode-pass-over/package.json"), "utf8"),
  ) as { exports: Record<string, string | { types: string; default: string }> }
  const entries = Object.values(exports).flatMap((entry) => (typeof entry === "string" ? [] : [entry]))
  expect(entries).toHaveLength(8)
  for (const { types, default: code } of entries) {
    expect(paths).toContain(types.slice(2))
    expect(paths).toContain(code.slice(2))
  }
  const declared = held.packed.files.filter(({ path }) => path.endsWith(".d.ts"))
  expect(declared.reduce((sum, { size }) => sum + size, 0)).toBeLessThan(100_000)
})

test("the schemas are what the declarations say that they are", () => {
  // The compiler is the test; the values are looked at so that it is one for Bun too.
  const output: Schema<WorkOutput, z.input<typeof WorkOutput>> = WorkOutput
  const context: Schema<WorkContext, z.input<typeof WorkContext>> = WorkContext
  for (const schema of [output, context]) {
    const read = schema.safeParse({})
    expect(read.error?.issues[0]?.path).toHaveLength(1)
    expect(schema["~standard"]).toMatchObject({ version: 1, vendor: "zod" })
  }
})

const SIGNALLED = `
import { passOver } from "opencode-pass-over/api"
import * as audit from "opencode-pass-over/audit"
import * as config from "opencode-pass-over/config"
import * as context from "opencode-pass-over/context"
import * as core from "opencode-pass-over/core"
export const all = [audit, config, context, core]
`

test("the declarations need nothing but the language itself, and take the host's own signal where there is one", () => {
  const setting = { module: "NodeNext", moduleResolution: "nodenext" }
  expect(compile({ "alone.ts": SIGNALLED }, { ...setting, lib: ["ESNext"] })).toBe("")
  const given = `${SIGNALLED}\nexport type Signal = NonNullable<Parameters<typeof passOver>[0]["signal"]>
export const aborted = (signal: Signal): boolean => signal.aborted\n`
  expect(compile({ "given.ts": given }, { ...setting, lib: ["ESNext", "DOM"] })).toBe("")
})
