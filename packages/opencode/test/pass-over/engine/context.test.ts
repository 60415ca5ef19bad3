import { expect, test } from "bun:test"
import { join } from "node:path"
import type { Client } from "../../../src/session/client"
import { createHost } from "../../../src/session/host"
import { createObserved } from "../../../src/session/observed"
import { createTurns } from "../../../src/session/turns"
import { clock } from "../../../src/runtime"
import type { Pass } from "../../../src/pass-over/domain/pass"
import { readPass } from "../../../src/pass-over/service/read-pass"
import { message, part } from "../sample"
import { back, createNestedWorld, type NestedWorld, type Working } from "../support/nested"

/** What a pass took along, by path: the content, and what the manifest says of it. */
async function taken({ engine }: NestedWorld, { id }: Pick<Pass, "id">) {
  const { request, manifest } = (await engine.store.request(id))!
  const of = (path: string) => ({
    content: request.work_context.files.find((file) => file.path === path)?.content,
    taken: manifest.items.find(({ ref }) => ref === path)?.taken,
    why: manifest.items.find(({ ref }) => ref === path)?.why,
  })
  return { of, paths: request.work_context.files.map(({ path }) => path) }
}

/** The scripted host, with files and git as the real one has them. */
function world(files: Record<string, string>): NestedWorld {
  const made = createNestedWorld(files)
  const { files: read, nearby } = createHost({
    client: {} as Client,
    observed: createObserved(),
    turns: createTurns(clock),
  })
  Object.assign(made.host, { files: read, nearby })
  return made
}

const returns = async (child: Working) => void (await back(child))

const FILES = {
  ".gitignore": "config/local.json\ncache/\n",
  "config/local.json": '{ "token": "mine" }\n',
  "config/shared.json": "{}\n",
  "cache/answers.txt": "kept from yesterday\n",
}

test("an ignored file that was only spoken of or written goes along by name; one that the call names, with its content", async () => {
  using made = world(FILES)
  const wrote = part({
    type: "tool",
    tool_name: "write",
    tool_status: "completed",
    tool_input: { filePath: join(made.directory, "cache/answers.txt") },
  })
  made.host.messages = async () => [message({ parts: [wrote] })]
  const objective = "Compare config/local.json with config/shared.json"
  const found = await taken(made, (await made.run("audit", returns, { objective })).pass)
  expect(found.of("config/local.json")).toEqual({
    content: undefined,
    taken: "none",
    why: expect.stringMatching("ignored"),
  })
  expect(found.of("cache/answers.txt")).toMatchObject({ content: undefined, taken: "none" })
  expect(found.of("config/shared.json")).toMatchObject({ content: "{}\n", taken: "whole" })
  expect(made.host.prompts[0]?.text).toContain("config/local.json")
  expect(made.host.prompts[0]?.text).not.toContain("mine")

  const files = ["config/local.json"]
  const named = await taken(made, (await made.run("audit", returns, { files })).pass)
  expect(named.of("config/local.json")).toMatchObject({ content: '{ "token": "mine" }\n', taken: "whole" })
})

test("a child learns which files it is about, and what is withheld by which setting", async () => {
  using made = world(FILES)
  const files = ["config/shared.json"]
  const setting = { pass_context: false, pass_files: false }
  const runner = await made.run("audit", returns, { objective: "Review it", files, override: setting })
  const told = made.host.prompts[0]?.text
  const withheld = "withheld: the conversation (pass_context), the content of 1 file (pass_files)"
  expect(told).toContain(`What came along: nothing; ${withheld}.`)
  expect(told).toContain("### config/shared.json\n")
  expect(told).not.toContain("{}")
  const read = await readPass(made.engine, made.project, { session_id: "ses_root", id: runner.pass.id })
  expect(read.ok && read.text).toContain(`went along: nothing; ${withheld}\n`)

  await made.run("audit", returns, { objective: "Think", override: setting })
  expect(made.host.prompts[1]?.text).toContain(
    "\n\nWhat came along: nothing; withheld: the conversation (pass_context).\n",
  )
})
