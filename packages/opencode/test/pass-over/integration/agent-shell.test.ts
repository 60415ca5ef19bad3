import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { call, say, type ModelRequest } from "@pass-over/rehearsal"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { LAUNCHER } from "../support/launcher"
import { createWorld, endWorld, type World } from "../support/opencode"

setDefaultTimeout(120_000)

const held = {} as { world: World }

beforeAll(async () => {
  held.world = await createWorld({
    preferences: { defaults: { isolation: "none" } },
    config: { permission: { bash: "allow" } },
  })
})
afterAll(async () => {
  held.world.model.verify()
  expect(await endWorld(held.world)).toEqual([])
})

const ours = (words: string) =>
  `PASS_OVER_OPENCODE=${held.world.box.binary} ${Bun.which("node") ?? "node"} ${LAUNCHER} ${words}`
const bash = (command: string) => call("bash", { command: `${command}; echo "exit $?"`, description: "run it" })
const WIDER = "config set limits tree.passes 9000 --global"
const written = () => existsSync(join(held.world.box.env.XDG_CONFIG_HOME ?? "", "opencode", "pass-over.json"))

test("an agent's shell may look, and decides nothing in a person's name, however it is called", async () => {
  const { model, server } = held.world
  const tries = [
    ours(WIDER),
    `env -u PASS_OVER_SHELL -u PASS_OVER_ID ${ours(WIDER)}`,
    `unset PASS_OVER_SHELL; bash -c '${ours('run general "Do it"')}'`,
    ours("approve gat_1"),
    ours("list"),
  ]
  const told: string[] = []
  const hear = (request: ModelRequest) => void told.push(request.result("bash") ?? "")
  model.play({
    agents: {
      alice: [
        call("pass_over", { subagent: "scout", objective: "Widen it", reason: "planning" }),
        // What holds for a child holds for every agent.
        bash(ours("approve gat_1")),
        (request: ModelRequest) => {
          hear(request)
          return say("done")
        },
      ],
      scout: [
        ...tries.map((command, index) => (request: ModelRequest) => {
          if (index > 0) hear(request)
          return bash(command)
        }),
        (request: ModelRequest) => {
          hear(request)
          return call("pass_over_return", { decision: "approved" })
        },
      ],
    },
  })
  const { sessionID } = await server.prompt({ agent: "alice", text: "Go." })
  const refused = /is for a person, and an agent started this shell\.\n→ Tell the user/
  expect(told.map((one) => refused.test(one))).toEqual([true, true, true, true, false, true])
  expect(told[0]).toContain("pass-over config set is for a person")
  expect(told[0]).toContain("exit 1")
  expect(told[4]).toContain("exit 0")
  expect(written()).toBe(false)

  // What the user types after "!" is theirs.
  await server.client.session.shell({ sessionID, agent: "alice", command: ours(WIDER) })
  expect(written()).toBe(true)
})
