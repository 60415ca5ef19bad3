import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { call, calls, eachSession, reply, say, type ModelRequest } from "@pass-over/rehearsal"
import { openEnvelope } from "../../../src/pass-over/domain/envelope"
import { createWorld, endWorld, toolCalls, type World } from "../support/opencode"

setDefaultTimeout(120_000)

const held = {} as { world: World }

const LINES = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join("")

beforeAll(async () => {
  held.world = await createWorld({
    files: { "src/shared.txt": LINES, ".gitignore": "node_modules\n", "gone.txt": "bye\n" },
    preferences: {
      defaults: { isolation: "worktree", require_user_approval: false },
      subagents: { scout: { can_modify_files: false } },
      // The user's own agents pass work on where a pair says so.
      pairs: { "general->audit": {} },
    },
  })
})
afterEach(() => held.world.model.verify())
afterAll(async () => {
  const { server, box } = held.world
  // opencode lets go of a project, and no tree of ours is left.
  await server.client.instance.dispose()
  const trees = () => box.git("worktree", "list").trim().split("\n")
  // What is kept beside a tree goes after it.
  const left = () =>
    readdirSync(join(box.data, "opencode/pass-over/trees"), { recursive: true }).filter((path) =>
      String(path).includes("tree-"),
    )
  const gone = () => trees().length === 1 && left().length === 0
  for (let tries = 0; tries < 200 && !gone(); tries += 1) await Bun.sleep(100)
  expect(trees()).toHaveLength(1)
  expect(left()).toEqual([])
  expect(await endWorld(held.world)).toEqual([])
})

const pass = (more: Record<string, unknown> = {}) =>
  call("pass_over", { subagent: "general", objective: "Change it", reason: "work", ...more })

const idOf = (request: ModelRequest) =>
  /pass_over_read with id ([0-9a-f-]{36})/.exec(JSON.stringify(request.messages))?.[1] ?? ""

const back = (more: Record<string, unknown> = {}) =>
  call("pass_over_return", { status: "completed", decision_reason: "done", ...more })

test("a child works in a tree of its own that starts as the user's is, and what it changed comes back as a proposal", async () => {
  const { model, server, box, store } = held.world
  box.write("src/shared.txt", LINES.replace("line 40", "uncommitted"))
  box.write("untracked.txt", "mine\n")
  box.write("node_modules/dep/index.js", "1\n")
  const seen: string[] = []
  model.play({
    agents: {
      alice: [
        pass({ objective: `Change ${join(box.project, "src/shared.txt")}` }),
        (request: ModelRequest) => call("pass_over_review", { id: idOf(request), accept: ["*"], action: "apply" }),
        (request: ModelRequest) => say(request.result("pass_over_review") ?? ""),
      ],
      general: [
        (request: ModelRequest) => {
          seen.push(request.user)
          return calls(
            [
              "bash",
              {
                command:
                  "cat src/shared.txt | tail -1; cat untracked.txt; cat node_modules/dep/index.js; git status --short",
                description: "look",
              },
            ],
            ["read", { filePath: "src/shared.txt" }],
          )
        },
        (request: ModelRequest) => {
          seen.push(request.result("bash") ?? "")
          const [, path = ""] = /Change (\S+shared\.txt)/.exec(request.user) ?? []
          return calls(
            ["edit", { filePath: path, oldString: "line 5\n", newString: "line five\n" }],
            [
              "bash",
              {
                command:
                  "echo made > made.txt; rm gone.txt; chmod +x untracked.txt; mkdir -p .opencode && echo x > .opencode/evil.ts",
                description: "more",
              },
            ],
          )
        },
        back({ evidence: [{ type: "file", path: "src/shared.txt", line: 5 }] }),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  const [envelope] = toolCalls(answer.messages, "pass_over").map((part) => openEnvelope(part.state.output ?? ""))
  expect(envelope?.headline).toMatch(/^VERIFIED · general: completed · .* · 4 files proposed$/)
  // What it saw was the user's tree as it was.
  expect(seen[1]).toContain("uncommitted\nmine\n1\n")
  expect(seen[1]).toContain("?? untracked.txt")
  expect(seen[0]).not.toContain(join(box.project, "src/shared.txt"))
  const [passed] = await store.list({ session_id: answer.sessionID })
  const [change] = await store.changes(passed!.id)
  expect(change?.files.map(({ path, old, new: after }) => [path, old?.mode ?? null, after?.mode ?? null])).toEqual([
    ["gone.txt", "100644", null],
    ["made.txt", null, "100644"],
    ["src/shared.txt", "100644", "100644"],
    ["untracked.txt", "100644", "100755"],
  ])
  expect(change?.notes.join()).toContain(".opencode")
  expect(change?.notes.join()).toContain("linked from the project: node_modules")
  // And applied it is the user's.
  expect(answer.text).toContain("Applied: 4 file operations")
  expect(box.read("src/shared.txt")).toBe(LINES.replace("line 40", "uncommitted").replace("line 5\n", "line five\n"))
  expect(box.read("made.txt")).toBe("made\n")
  expect(existsSync(join(box.project, "gone.txt"))).toBe(false)
  expect(existsSync(join(box.project, ".opencode/evil.ts"))).toBe(false)
})

test("what a child wrote that may not change files is discarded and told", async () => {
  const { model, server, box, store } = held.world
  model.play({
    agents: {
      alice: [pass({ subagent: "scout" }), say("ok")],
      scout: [call("bash", { command: "echo x > by-scout.txt", description: "x" }), back()],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  const [passed] = await store.list({ session_id: answer.sessionID })
  expect(existsSync(join(box.project, "by-scout.txt"))).toBe(false)
  const [change] = await store.changes(passed!.id)
  expect(change?.files).toEqual([])
  expect(change?.notes.join()).toContain("discarded: by-scout.txt")
})

test("a child of a child that may not change files leaves nothing of its shell's in the tree above, and it is told", async () => {
  const { model, server, box, store } = held.world
  box.write("src/shared.txt", LINES)
  const [seen, read] = [new Array<string>(), new Array<string>()]
  const logs = () =>
    readdirSync(join(box.project, ".opencode/pass-over-logs"), { recursive: true })
      .filter((name) => String(name).endsWith(".jsonl"))
      .map((name) => box.read(join(".opencode/pass-over-logs", String(name))))
      .join("")
  const bash = (command: string) => call("bash", { command, description: "x" })
  model.play({
    agents: {
      alice: [pass({ override: {} }), say("ok")],
      general: [
        // What it writes into its copy of the preferences changes nothing.
        bash(`echo '{"defaults":{"max_chain_depth":1}}' > .opencode/pass-over.json; echo above > above.txt; pwd`),
        (request: ModelRequest) => {
          seen.push(request.result("bash") ?? "")
          return pass({ subagent: "audit", objective: "Look below", override: { can_modify_files: false } })
        },
        (request: ModelRequest) => (
          read.push(request.result("pass_over") ?? ""),
          bash("ls; cat src/shared.txt | head -1")
        ),
        (request: ModelRequest) => (seen.push(request.result("bash") ?? ""), back()),
      ],
      audit: [
        bash("pwd; cat above.txt; echo below > below.txt; echo ruined > src/shared.txt"),
        (request: ModelRequest) => (seen.push(request.result("bash") ?? ""), back()),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(read[0]).toContain("audit: completed")
  const [above = "", below = "", after = ""] = seen
  const tree = (text: string) => /\S+\/trees\/\S+/.exec(text)?.[0] ?? "none"
  expect(tree(below)).not.toBe(tree(above))
  expect(below).toContain("above\n")
  expect(after).toContain("above.txt")
  expect(after).not.toContain("below.txt")
  expect(after).toContain("line 1\n")
  expect(existsSync(join(box.project, "below.txt"))).toBe(false)
  const passes = await store.list({ root_session_id: answer.sessionID })
  expect(passes.map((one) => one.directory)).toEqual([box.project, box.project])
  const [general, audit] = passes
  // Lines come into their files a moment after they are in the database.
  for (let tries = 0; tries < 50 && !logs().includes(audit!.id); tries += 1) await Bun.sleep(100)
  expect(logs()).toContain(audit!.id)
  const [told] = await store.changes(audit!.id)
  expect([told?.files, told?.notes.join()]).toEqual([
    [],
    expect.stringContaining("discarded: below.txt, src/shared.txt"),
  ])
  const [change] = await store.changes(general!.id)
  expect(change?.files.map(({ path }) => path)).toEqual(["above.txt"])
})

test("what a child of a child changes is a proposal to the one above, and applied there part of its own to the user", async () => {
  const { model, server, box, store } = held.world
  box.write("src/shared.txt", LINES)
  const told: string[] = []
  const review = (id: string, more: Record<string, unknown> = {}) =>
    call("pass_over_review", { id, accept: ["*"], action: "apply", ...more })
  const below = async () => (await store.list({})).filter(({ parent_pass_id }) => parent_pass_id !== null).slice(-2)
  const idsOf = (request: ModelRequest) => [
    ...new Set(
      [...JSON.stringify(request.messages).matchAll(/pass_over_read with id ([0-9a-f-]{36})/g)].map(
        ([, id = ""]) => id,
      ),
    ),
  ]
  model.play({
    agents: {
      alice: [pass({ objective: "Change all of it" }), say("ok")],
      general: [
        call("bash", { command: "sed -i 's/^line 20$/of general/' src/shared.txt", description: "x" }),
        reply(
          pass({ subagent: "audit", objective: "Change line 3" }),
          pass({ subagent: "audit", objective: "Change line 37" }),
        ),
        (request: ModelRequest) => (told.push(request.result("pass_over") ?? ""), review(idsOf(request)[0] ?? "")),
        (request: ModelRequest) => (
          told.push(request.result("pass_over_review") ?? ""),
          review(idsOf(request)[1] ?? "")
        ),
        (request: ModelRequest) => {
          told.push(request.result("pass_over_review") ?? "")
          return call("pass_over_review", { id: idsOf(request)[1], action: "merge" })
        },
        (request: ModelRequest) => review(idsOf(request)[1] ?? ""),
        (request: ModelRequest) => {
          told.push(request.result("pass_over_review") ?? "")
          return call("bash", { command: "cat src/shared.txt", description: "x" })
        },
        (request: ModelRequest) => (told.push(request.result("bash") ?? ""), back()),
      ],
      audit: eachSession((first: ModelRequest) => {
        const n = /Change line (\d+)/.exec(first.user)?.[1] ?? "?"
        const command = `grep -c general src/shared.txt; sed -i 's/^line ${n}$/of audit ${n}/' src/shared.txt; echo ${n} > nested-${n}.txt`
        return [call("bash", { command, description: "x" }), back()]
      }),
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  expect(told[1]).toContain("Applied in the tree of the pass above: 2 file operations")
  expect(told[2]).toContain("E041")
  expect(told[3]).toContain("Applied")
  expect(told[4]).toContain("of audit 3\n")
  expect(told[4]).toContain("of audit 37\n")
  expect(told[4]).toContain("of general\n")
  // The user's own is as it was, and nobody was asked about a tree.
  expect(box.read("src/shared.txt")).toBe(LINES)
  const [general, ...nested] = await store.list({ root_session_id: answer.sessionID })
  expect(nested.map(({ id }) => id)).toEqual((await below()).map(({ id }) => id))
  const change = (await store.changes(general!.id)).at(-1)
  const whose = (at: number) => `audit in pass ${nested[at]?.id}`
  expect(change?.files.map(({ path, reason }) => [path, reason])).toEqual([
    ["nested-3.txt", expect.stringContaining("made by audit in pass")],
    ["nested-37.txt", expect.stringContaining("made by audit in pass")],
    ["src/shared.txt", `made by ${whose(0)} and ${whose(1)}, and applied to its tree; changed in its own tree besides`],
  ])
  model.play({ agents: { alice: [review(general!.id), say("ok")] } })
  await server.prompt({ agent: "alice", text: "Take it.", sessionID: answer.sessionID })
  expect(box.read("src/shared.txt")).toContain("of audit 37\n")
  expect(box.read("nested-3.txt")).toBe("3\n")
})

test("ten children side by side change overlapping files while the user edits: nothing is lost, conflicts are named", async () => {
  const { model, server, box, store } = held.world
  box.write("src/shared.txt", LINES)
  const numbers = Array.from({ length: 10 }, (_, index) => index + 1)
  model.play({
    agents: {
      alice: [reply(...numbers.map((n) => pass({ objective: `Change number ${n}` }))), say("ok")],
      // Each has a line and a file of its own, and all want the last line.
      general: eachSession((first: ModelRequest) => {
        const n = /Change number (\d+)/.exec(first.user)?.[1] ?? "?"
        return [
          call("bash", {
            command: `sed -i 's/^line ${3 * Number(n)}$/line of ${n}/; s/^line 40$/last of ${n}/' src/shared.txt; echo ${n} > own-${n}.txt`,
            description: "x",
          }),
          back(),
        ]
      }),
    },
  })
  const { id } = (await server.client.session.create()).data!
  const going = server.prompt({ agent: "alice", text: "Go.", sessionID: id })
  await model.waitFor("general", { count: 10 })
  writeFileSync(join(box.project, "src/user.txt"), "by the user\n")
  writeFileSync(join(box.project, "src/shared.txt"), LINES.replace("line 1\n", "line of the user\n"))
  await going
  const passes = await store.list({ session_id: id })
  expect(passes).toHaveLength(10)
  for (const one of passes) {
    const n = /Change number (\d+)/.exec(one.objective)?.[1]
    const [change] = await store.changes(one.id)
    expect(change?.files.map(({ path }) => path)).toEqual([`own-${n}.txt`, "src/shared.txt"])
  }
  // Not one of them has touched what is the user's.
  expect(box.read("src/shared.txt")).toBe(LINES.replace("line 1\n", "line of the user\n"))
  expect(box.read("src/user.txt")).toBe("by the user\n")
  // The first is merged with what the user did; the second wants the same last line and is named as a conflict.
  model.play({
    agents: {
      alice: [
        call("pass_over_review", { id: passes[0]!.id, accept: ["*"], action: "apply" }),
        call("pass_over_review", { id: passes[0]!.id, action: "merge" }),
        call("pass_over_review", { id: passes[0]!.id, accept: ["*"], action: "apply" }),
        call("pass_over_review", { id: passes[1]!.id, action: "merge" }),
        say("ok"),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Take them.", sessionID: id })
  const told = toolCalls(answer.messages, "pass_over_review")
    .map((part) => part.state.output ?? "")
    .slice(-4)
  expect(told[0]).toContain("E041")
  expect(told[2]).toContain("Applied")
  expect(told[3]).toContain("both sides changed the same lines")
  const n = /Change number (\d+)/.exec(passes[0]!.objective)?.[1]
  expect(box.read("src/shared.txt")).toContain("line of the user\n")
  expect(box.read("src/shared.txt")).toContain(`last of ${n}\n`)
})
