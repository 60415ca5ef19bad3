import { expect, test } from "bun:test"
import { createHooks } from "../src/hook"
import { started } from "./pass-over/support/drive"
import { createEngineWorld } from "./pass-over/support/engine"
import { settle } from "./pass-over/support/fake-clock"

test("commands of a child are told whose they are, and nobody else's", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => child.told)
  const { pass } = await started(world)
  await settle(20)
  const hooks = createHooks(world.engine, { directory: "/project", worktree: "/project" })
  const of = (sessionID: string | undefined) => {
    const output: { env: Record<string, string> } = { env: {} }
    hooks.shell(sessionID === undefined ? {} : { sessionID }, output)
    return output.env.PASS_OVER_ID
  }
  expect(of(world.host.children[0]?.session_id)).toBe(pass.id)
  expect(of("ses_root")).toBeUndefined()
  expect(of(undefined)).toBeUndefined()
})
