import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { call, calls, say, type ModelRequest } from "@pass-over/rehearsal"
import { createWorld, endWorld, type World } from "../support/opencode"

setDefaultTimeout(60_000)

const held = {} as { world: World }

const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join("")

beforeAll(async () => {
  held.world = await createWorld({
    files: { "a.txt": LINES, "b.txt": "b\n" },
    preferences: { defaults: { isolation: "none", require_user_approval: false } },
  })
})
afterEach(() => held.world.model.verify())
afterAll(async () => expect(await endWorld(held.world)).toEqual([]))

const idOf = (request: ModelRequest) =>
  /pass_over_read with id ([0-9a-f-]{36})/.exec(JSON.stringify(request.messages))?.[1] ?? ""

test("what a child changes in the project itself is recorded as its own, without the user's edits in between, and undone", async () => {
  const { model, server, box, store } = held.world
  const path = (name: string) => join(box.project, name)
  model.play({
    agents: {
      alice: [
        call("pass_over", { subagent: "general", objective: "Change it", reason: "work" }),
        (request: ModelRequest) => call("pass_over_review", { id: idOf(request), action: "undo" }),
        (request: ModelRequest) => say(request.result("pass_over_review") ?? ""),
      ],
      general: [
        call("read", { filePath: path("a.txt") }),
        call("edit", { filePath: path("a.txt"), oldString: "line 3\n", newString: "line three\n" }),
        (_request: ModelRequest) => {
          // The user, between two calls of the child, in the same file and in another.
          writeFileSync(path("a.txt"), box.read("a.txt").replace("line 15\n", "by the user\n"))
          writeFileSync(path("mine.txt"), "mine\n")
          return call("read", { filePath: path("a.txt") })
        },
        calls(
          ["edit", { filePath: path("a.txt"), oldString: "line 25\n", newString: "line twenty-five\n" }],
          ["bash", { command: "echo made > made.txt; rm b.txt", description: "x" }],
        ),
        call("pass_over_return", { status: "completed", decision_reason: "done" }),
      ],
    },
  })
  const answer = await server.prompt({ agent: "alice", text: "Go." })
  const [pass] = await store.list({ session_id: answer.sessionID })
  const [change] = await store.changes(pass!.id)
  expect(change).toMatchObject({ origin: "direct" })
  expect(change?.files.map((file) => file.path).toSorted()).toEqual(["a.txt", "b.txt", "made.txt"])
  const outcome = await store.outcome(pass!.id)
  const own = outcome?.output.artifacts.find((one) => one.type === "file_modification" && one.path === "a.txt")
  expect(own).toMatchObject({
    old_content: LINES,
    new_content: LINES.replace("line 3\n", "line three\n").replace("line 25\n", "line twenty-five\n"),
  })
  // The undo took back the child's work and left the user's.
  expect(answer.text).toContain("Taken back")
  expect(box.read("a.txt")).toBe(LINES.replace("line 15\n", "by the user\n"))
  expect(box.read("b.txt")).toBe("b\n")
  expect(box.read("mine.txt")).toBe("mine\n")
  expect(await Bun.file(path("made.txt")).exists()).toBe(false)
})
