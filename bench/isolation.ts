/**
 * What a tree of its own costs a pass: the same scripted pass in the project itself and in a worktree that is used
 * again, in turns, on the real opencode.
 *
 *   bun bench/isolation.ts [pairs]
 */
import { call, eachSession, repeat, say } from "@pass-over/rehearsal"
import { createWorld, endWorld } from "../packages/opencode/test/pass-over/support/opencode"
import { quantile, ratio } from "./statistics"

const [pairs = 30] = process.argv.slice(2).map(Number)

const world = await createWorld({
  files: { "src/a.txt": "a\n" },
  global: { defaults: { require_user_approval: false } },
})
const times = { none: [] as number[], worktree: [] as number[] }
const setting = (isolation: keyof typeof times) =>
  world.box.write(".opencode/pass-over.json", JSON.stringify({ defaults: { isolation } }))

async function turn(isolation: keyof typeof times): Promise<number> {
  setting(isolation)
  world.model.play({
    agents: {
      alice: [
        call("pass_over", { subagent: "audit", objective: `Look ${Math.random()}`, reason: "bench" }),
        say("done"),
      ],
      audit: eachSession([
        call("read", { filePath: "src/a.txt" }),
        call("pass_over_return", { status: "completed", decision: "approved", decision_reason: "fine" }),
      ]),
      title: repeat(say("bench")),
    },
  })
  const began = performance.now()
  await world.server.prompt({ agent: "alice", text: "Go." })
  const took = performance.now() - began
  // The tree is given back after the answer; nobody passes on within a few milliseconds.
  await Bun.sleep(300)
  return took
}

setting("none")
world.box.seed(`${world.box.project}/.opencode`)
await turn("none")
console.log(`the first isolated pass: ${Math.round(await turn("worktree"))} ms`)
for (let pair = 0; pair < pairs; pair += 1) {
  times.none.push(await turn("none"))
  times.worktree.push(await turn("worktree"))
}
for (const q of [0.5, 0.95]) {
  const { ratio: times_, low, high } = ratio(times.worktree, times.none, q)
  console.log(
    `p${q * 100}: isolated ${Math.round(quantile(times.worktree, q))} ms, in the project ${Math.round(quantile(times.none, q))} ms, ${times_.toFixed(2)} times (${low.toFixed(2)} to ${high.toFixed(2)})`,
  )
}
await endWorld(world)
