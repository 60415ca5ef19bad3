import type { ToolContext } from "@opencode-ai/plugin"
import { expect, test } from "bun:test"
import { dirname, join } from "node:path"
import { passOverReviewTool } from "../../../src/tool/pass-over-review"
import { back, createNestedWorld, FILES, prefer, put, read } from "../support/nested"

test("opencode's own question about an edit names the file that is written, also where it was opened inside the work tree", async () => {
  using world = createNestedWorld(FILES)
  prefer(world, { defaults: { require_user_approval: false } })
  const { pass } = await world.run("scout", async (scout) => {
    put(scout.tree, "sub/made.txt", "made\n")
    await back(scout)
  })
  const asked: unknown[] = []
  const context = {
    sessionID: "ses_root",
    agent: "alice",
    directory: world.directory,
    worktree: dirname(world.directory),
    abort: new AbortController().signal,
    ask: async ({ permission, patterns, metadata }: Parameters<ToolContext["ask"]>[0]) =>
      void asked.push({ permission, patterns, metadata }),
  }
  const tool = passOverReviewTool(world.engine, world.project)
  const args = { id: pass.id, accept: ["sub/made.txt"], action: "apply" }
  const answer = await tool.execute(args, context as unknown as ToolContext)
  expect(typeof answer === "string" ? answer : answer.output).toStartWith("Applied")
  expect(asked).toEqual([
    {
      permission: "edit",
      patterns: ["project/sub/made.txt"],
      metadata: { filepath: join(world.directory, "sub/made.txt") },
    },
  ])
  expect(read(world.directory, "sub/made.txt")).toBe("made\n")
})
