import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { applyArtifacts, passOver, returnFromPassOver } from "opencode-pass-over/api"
import { attend } from "../src/pass-over/service/command"
import { attendStarts } from "../src/pass-over/service/start"
import { enter } from "../src/server/presence"
import { createHome, type Home } from "./cli/support"
import { createEngineWorld, type EngineWorld } from "./pass-over/support/engine"
import { settle } from "./pass-over/support/fake-clock"

type Audit = Parameters<EngineWorld["host"]["script"]>[1]

/** An opencode that has the home's project open, and looks for work while a script does something. */
async function opencode(home: Home, audit: Audit) {
  const world = createEngineWorld({ path: home.database, seed: 80_000 })
  const presence = await enter(world.engine)
  world.project.directory = home.project
  world.engine.projects.set(home.project, world.project)
  world.host.script("audit", audit)
  const during = async <T>(script: Promise<T>): Promise<T> => {
    const state = { over: false }
    const over = () => (state.over = true)
    script.then(over, over)
    while (!state.over) {
      await attendStarts(world.engine, () => "alive")
      await attend(world.engine)
      await world.clock.advance(1_000)
      await settle()
      await Bun.sleep(5)
    }
    return script
  }
  const leave = async () => {
    await presence.leave()
    world[Symbol.dispose]()
  }
  return { ...world, during, [Symbol.asyncDispose]: leave }
}

const BEFORE = "export const total = (a, b) => a - b\n"
const AFTER = "export const total = (a, b) => a + b\n"
const edit = (path: string) => ({
  type: "file_modification",
  path,
  edits: [{ old_string: "a - b", new_string: "a + b" }],
  reason: "a sum adds",
})

function project(home: Home) {
  mkdirSync(join(home.project, "src"))
  for (const name of ["total.ts", "other.ts"]) writeFileSync(join(home.project, "src", name), BEFORE)
  return (name: string) => readFileSync(join(home.project, "src", name), "utf8")
}

const asking = (home: Home) => ({
  subagent: "audit",
  work_context: { objective: "Review the totals", directory: home.project, files: [{ path: "src/total.ts" }] },
  reason: "code_review",
})

test("a script passes work over, reads what came back, and applies what it likes of it (§11.1)", async () => {
  using home = createHome()
  const read = project(home)
  await using world = await opencode(home, async (child) => {
    await child.return({ decision: "approved", artifacts: [edit("src/total.ts"), edit("src/other.ts")] })
    child.step()
  })
  const result = await world.during(
    passOver({
      ...asking(home),
      work_context: { ...asking(home).work_context, errors: [{ type: "TypeError", message: "total is wrong" }] },
      override: { timeout_ms: 90_000 },
    }),
  )
  expect(result).toMatchObject({
    subagent_id: "audit",
    originating_agent_id: "alice",
    status: "completed",
    summary: { decision: "approved" },
  })
  const [pass] = await world.engine.store.list({})
  expect(pass).toMatchObject({ id: result.work_id, objective: "Review the totals", timeout_ms: 90_000 })
  expect(world.host.prompts[0]?.text).toMatch(
    /<<pass-over-context [0-9a-f]{32}\n[^]*## Open errors\n- TypeError: total is wrong/,
  )

  const liked = result.artifacts.filter((one) => one.type === "file_modification" && one.path === "src/total.ts")
  expect(await applyArtifacts(liked)).toEqual(["src/total.ts"])
  expect([read("total.ts"), read("other.ts")]).toEqual([AFTER, BEFORE])
})

test("artifacts that cannot be applied together, or not as they are, are refused in words, and nothing is written", async () => {
  using home = createHome()
  const read = project(home)
  const paths = ["src/total.ts", "src/other.ts"]
  await using world = await opencode(home, async (child) => {
    await child.return({ decision: "approved", artifacts: [edit(paths.shift()!)] })
    child.step()
  })
  const modified = async () => {
    const { work_id, artifacts } = await world.during(passOver(asking(home)))
    return { work_id, file: artifacts.find((one) => one.type === "file_modification")! }
  }
  const [first, second] = [await modified(), await modified()]
  const refused = (message: string) => ({ code: "E030", message: expect.stringContaining(message) })
  const applied = (...ask: Parameters<typeof applyArtifacts>) => expect(applyArtifacts(...ask)).rejects
  await applied([first.file, second.file]).toMatchObject(
    refused(`of 2 passes: ${first.work_id}, ${second.work_id}. Nothing`),
  )
  await applied([first.file], { work_id: second.work_id }).toMatchObject(refused("of 2 passes"))
  await applied([first.file, { ...second.file }]).toMatchObject(refused("Of 1 of these artifacts it is not known"))
  await applied([{ ...first.file }], { work_id: "7" }).toMatchObject(refused('"7" is no id of a pass'))
  const before = first.file.new_content
  first.file.new_content = "export const total = 0\n"
  await applied([first.file]).toMatchObject(refused("The new content of src/total.ts is another"))
  expect([read("total.ts"), read("other.ts")]).toEqual([BEFORE, BEFORE])

  first.file.new_content = before
  // A copy is looked at as well as what it was copied from: with what came back, and with the files that there are.
  const copy: typeof first.file = JSON.parse(JSON.stringify(first.file))
  const from = { work_id: first.work_id }
  const changed = refused("The new content of src/total.ts is another than the one that came back")
  await applied([{ ...copy, new_content: "export const total = 0\n" }], from).toMatchObject(changed)
  await applied([{ ...copy, deleted: true }], from).toMatchObject(changed)
  await applied([copy, { ...copy, new_content: "export const total = 0\n" }], from).toMatchObject(changed)
  for (const path of ["src/none.ts", "../src/total.ts", join(home.folder.at("elsewhere"), "src/total.ts")]) {
    const unknown = refused(`The pass wants no file ${JSON.stringify(path)} changed`)
    await applied([{ ...copy, path }], from).toMatchObject(unknown)
    await applied([copy, { ...copy, path }], from).toMatchObject(unknown)
  }
  expect([read("total.ts"), read("other.ts")]).toEqual([BEFORE, BEFORE])
  const [change] = await world.engine.store.changes(first.work_id)
  expect(await world.engine.store.verdicts(change!.change_id)).toEqual([])

  expect(await applyArtifacts([{ ...copy, path: join(home.project, "src/../src/./total.ts") }], from)).toEqual([
    "src/total.ts",
  ])
  expect(await applyArtifacts([{ ...second.file }], { work_id: second.work_id })).toEqual(["src/other.ts"])
  expect([read("total.ts"), read("other.ts")]).toEqual([AFTER, AFTER])
})

test("a copy from which a secret was taken is written with the secret that the file has", async () => {
  using home = createHome()
  const read = project(home)
  const secret = `export const token = "ghp_${"a1B2".repeat(9)}"\n`
  writeFileSync(join(home.project, "src", "total.ts"), secret + BEFORE)
  await using world = await opencode(home, async (child) => {
    await child.return({ decision: "approved", artifacts: [edit("src/total.ts")] })
    child.step()
  })
  const { work_id, artifacts } = JSON.parse(JSON.stringify(await world.during(passOver(asking(home)))))
  expect(artifacts[0].new_content).toBe(`export const token = "[redacted:github-token]"\n${AFTER}`)
  expect(await applyArtifacts(artifacts, { work_id })).toEqual(["src/total.ts"])
  expect(read("total.ts")).toBe(secret + AFTER)
})

test("what a script has of its own goes along: contents as given, and of a long history what matters", async () => {
  using home = createHome()
  const read = project(home)
  await using world = await opencode(home, async (child) => {
    await child.return({ decision: "approved" })
    child.step()
  })
  const token = `ghp_${"a1B2".repeat(9)}`
  const draft = `export const total = (a, b) => a * b // ${token}\n`
  const message = (id: string, text: string) => ({
    id,
    role: "assistant" as const,
    timestamp: 1_760_000_000_000,
    parts: [{ id: `prt_${id}`, type: "text" as const, text }],
  })
  const messages = Array.from({ length: 300 }, (_, at) => message(`m${at}`, `${at} ${"word ".repeat(300)}`))
  messages[3] = message("m3", "The widget factor is 17; it was decided for good.")
  const tool_results = [
    {
      tool_name: "bash",
      call_id: "call_lint",
      status: "completed" as const,
      input: { command: "lint" },
      output: "17 widgets",
      timestamp: 1,
    },
  ]
  const result = await world.during(
    passOver({
      ...asking(home),
      work_context: {
        objective: "Review the widget factor",
        directory: home.project,
        files: [
          { path: join(home.project, "src/total.ts"), content: draft },
          { path: "src/other.ts" },
          { path: ".env", content: token },
        ],
        messages,
        tool_results,
        todos: [{ content: "count the widgets", status: "pending" }],
      },
    }),
  )
  expect(result.status).toBe("completed")
  const text = world.host.prompts[0]?.text ?? ""
  expect(text).toContain("given by the caller, not read from disk)\nexport const total = (a, b) => a * b //")
  expect(text).toContain("content of src/other.ts")
  for (const part of ["The widget factor is 17", "17 widgets", "- [pending] count the widgets"])
    expect(text).toContain(part)
  const [pass] = await world.engine.store.list({})
  const { manifest } = (await world.engine.store.request(pass!.id))!
  const item = (ref: string) => manifest.items.find((one) => one.ref === ref)
  expect(item("src/total.ts")).toMatchObject({
    taken: "whole",
    why: "given by the caller, not read from disk",
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
  expect(item(".env")).toMatchObject({ taken: "none", why: expect.stringContaining("secrets") })
  expect(item("call_lint")).toMatchObject({ kind: "tool_result", taken: "whole" })
  expect(manifest.items.filter(({ kind }) => kind === "message")).toHaveLength(300)
  expect(manifest.tokens).toBeLessThanOrEqual(manifest.max_tokens)
  expect(read("total.ts")).toBe(BEFORE)
  // Nothing of it is kept twice, and no secret of it anywhere.
  const database = new Database(home.database, { readonly: true })
  const kept = database.query("select ask from pass_over_starts").values().join()
  database.close()
  expect([text, kept].join()).not.toContain("a1B2")
  expect(kept).not.toContain("word word")
})

test("what is refused is thrown with its code, and nothing is applied that came from nowhere", async () => {
  using home = createHome()
  await using world = await opencode(home, async () => {})
  const adit = passOver({ ...asking(home), subagent: "adit" })
  expect(await world.during(adit.catch((error: unknown) => error))).toMatchObject({ code: "E001" })
  const long = { ...asking(home).work_context, background: "x".repeat(30_000) }
  await expect(passOver({ ...asking(home), work_context: long })).rejects.toMatchObject({ code: "E012" })
  const files = [{ path: "a.ts", content: "x".repeat(4_000_000) }]
  const much = { ...asking(home).work_context, files }
  await expect(passOver({ ...asking(home), work_context: much })).rejects.toMatchObject({ code: "E012" })
  const strangeTalk = [{ id: "m1", role: "robot" }] as never
  const odd = { ...asking(home).work_context, messages: strangeTalk }
  await expect(passOver({ ...asking(home), work_context: odd })).rejects.toMatchObject({
    code: "E030",
    message: expect.stringContaining("work_context.messages.0.role"),
  })
  const strange = { ...edit("a"), type: "file_modification", old_content: "a", new_content: "b", confidence: "high" }
  await expect(applyArtifacts([strange as Parameters<typeof applyArtifacts>[0][number]])).rejects.toMatchObject({
    code: "E042",
  })
})

test("the opencode that has the project open is found however a script spells the folder, and from inside of it", async () => {
  using home = createHome()
  project(home)
  symlinkSync(home.project, home.folder.at("link"))
  await using world = await opencode(home, async (child) => {
    await child.return({ decision: "approved" })
    child.step()
  })
  const before = process.cwd()
  process.chdir(home.folder.at("project", "src"))
  try {
    for (const directory of [
      `${home.project}/`,
      home.folder.at("link"),
      join(home.project, "src"),
      ".",
      "..",
      undefined,
    ]) {
      const work_context = {
        objective: `Review it from ${directory}`,
        files: [{ path: "total.ts" }, { path: "src/total.ts" }],
        ...(directory === undefined ? {} : { directory }),
      }
      const { work_id } = await world.during(passOver({ ...asking(home), work_context }))
      const pass = await world.engine.store.find(work_id)
      const { manifest } = (await world.engine.store.request(work_id))!
      const named = manifest.items.filter(({ kind }) => kind === "file").map(({ ref }) => ref)
      const inside = directory === undefined || directory === "." || directory.endsWith("src")
      expect([pass?.directory, named]).toEqual([home.project, inside ? ["src/total.ts"] : ["total.ts", "src/total.ts"]])
    }
  } finally {
    process.chdir(before)
  }
  const nowhere = { objective: "Review it", directory: home.folder.at("nowhere") }
  await expect(passOver({ ...asking(home), work_context: nowhere })).rejects.toMatchObject({
    code: "E042",
    message: `There is no folder ${home.folder.at("nowhere")}.`,
  })
})

test("all that a request may say is passed on, and what it cannot say is told (§2.1)", async () => {
  using home = createHome()
  project(home)
  await using world = await opencode(home, async (child) => {
    await child.return({ decision: "approved" })
    child.step()
  })
  const { work_id } = await world.during(
    passOver({
      ...asking(home),
      priority: "high",
      timeout_ms: 45_000,
      expected_output_type: "report",
      auto_apply_on_success: true,
    }),
  )
  expect(await world.engine.store.find(work_id)).toMatchObject({
    priority: "high",
    timeout_ms: 45_000,
    expected_output_type: "report",
    auto_apply_on_success: true,
  })
  const refused = (more: object, message: string) =>
    expect(passOver({ ...asking(home), ...more })).rejects.toMatchObject({ code: "E030", message })
  await refused({ priorty: "high" }, "passOver takes no priorty; did you mean priority?")
  await refused({ subagent_id: "audit" }, "passOver takes no subagent_id; did you mean subagent?")
  await refused({ originating_agent_id: "scout" }, "passOver takes no originating_agent_id; did you mean from?")
  await refused({ objective: "x" }, "passOver takes objective in work_context.")
  await refused(
    { zzz: 1 },
    expect.stringMatching(/^passOver takes no zzz; it takes subagent, work_context, .*signal\.$/),
  )
  const context = asking(home).work_context
  await refused({ work_context: { ...context, file: [] } }, "passOver takes no work_context.file; did you mean files?")
  await refused({ work_context: undefined }, "passOver needs a work_context with an objective.")
  await refused({ priority: "urgent" }, expect.stringContaining("passOver cannot use priority: "))
})

test("another plugin returns a running pass in its child's place (guide 5.2)", async () => {
  using home = createHome()
  const work = Promise.withResolvers<void>()
  await using world = await opencode(home, async () => work.promise)
  const passed = passOver(asking(home))
  const returned = (async () => {
    while (world.host.prompts.length === 0) await Bun.sleep(5)
    const [pass] = await world.engine.store.list({})
    const work_id = pass!.id
    const nothing = returnFromPassOver({ work_id, status: "completed" }).catch((error: unknown) => error)
    expect(await nothing).toMatchObject({ message: expect.stringContaining("says nothing") })
    const aborted = returnFromPassOver({ work_id, status: "aborted", summary: { decision_reason: "I stopped" } })
    expect(await aborted.catch((error: unknown) => error)).toMatchObject({
      code: "E021",
      suggestedAction: expect.stringContaining("as failed"),
    })
    await returnFromPassOver({
      work_id,
      status: "failed",
      artifacts: [
        {
          type: "finding",
          severity: "error",
          category: "logic_error",
          message: "it subtracts",
          location: { path: "src/total.ts", line: 1 },
        },
      ],
      // As an outcome tells it, and one that only the summary tells.
      summary: { decision: "rejected", findings: ["src/total.ts:1 it subtracts", "nothing tests it"] },
    })
    work.resolve()
  })()
  const [output] = await world.during(Promise.all([passed, returned]))
  const findings = ["src/total.ts:1 it subtracts", "nothing tests it"]
  expect(output).toMatchObject({ status: "failed", summary: { decision: "rejected", findings } })
})
