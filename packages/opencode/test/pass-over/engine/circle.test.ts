import { expect, test } from "bun:test"
import type { Child } from "../support/scripted-host"
import { outcomeOf, started, VERDICT } from "../support/drive"
import { createEngineWorld } from "../support/engine"

/** A child that does the same until it is stopped, one step after the other. */
const going =
  (each: (child: Child, round: number) => void, most = 60) =>
  async (child: Child) => {
    for (let round = 0; !child.stopped && round < most; round += 1) {
      each(child, round)
      child.step()
      await child.wait(100)
    }
  }

const again = (child: Child) => child.tool("grep", { pattern: "totl" }, "No files found")

test("a child that goes in circles is told once what it repeats, and ended as failed when it goes on", async () => {
  using world = createEngineWorld()
  let rounds = 0
  world.host.script(
    "audit",
    going((child) => {
      rounds += 1
      again(child)
    }),
  )
  const { output, error_code } = await outcomeOf(world, await started(world))
  expect(error_code).toBe("E011")
  expect(output.status).toBe("failed")
  expect(output.completion_reason).toContain('8 times grep {"pattern":"totl"}')
  expect(rounds).toBe(8)
  expect(world.host.said).toHaveLength(1)
  expect(world.host.said[0]?.text).toContain(
    '4 times the same, with the same answer. It is this: grep {"pattern":"totl"}.',
  )
  expect(world.host.children[0]!.stopped).toBeGreaterThan(0)
})

test("a child that has returned is told of no circle: it would begin to work once more", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    await going(again, 3)(child)
    await child.return(VERDICT)
    again(child)
    await child.told
  })
  const runner = await started(world)
  await world.clock.until(() => runner.run.phase === "staged")
  await world.clock.advance(1_000)
  expect(world.host.said).toEqual([])
})

test("what it had done before it went in circles is kept", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    child.say("The total is computed in src/cart.ts and is off by one cent.")
    child.tool("read", { filePath: "src/cart.ts" }, "export const total = 1")
    child.step()
    await going(again)(child)
  })
  const { output } = await outcomeOf(world, await started(world))
  expect(output.status).toBe("failed")
  expect(JSON.stringify(output)).toContain("off by one cent")
})

test("a round of several calls is named whole", async () => {
  using world = createEngineWorld()
  world.host.script(
    "audit",
    going((child) => {
      child.tool("read", { filePath: "a.ts" }, "const a = 1")
      child.step()
      child.tool("read", { filePath: "b.ts" }, "const b = 2")
    }),
  )
  const { output } = await outcomeOf(world, await started(world))
  expect(world.host.said[0]?.text).toContain('It is this: read {"filePath":"b.ts"}, then read {"filePath":"a.ts"}.')
  expect(output.completion_reason).toContain('8 times read {"filePath":"a.ts"}, then read {"filePath":"b.ts"}')
})

test("a child that stops when it is told is not ended", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    await going(again, 6)(child)
    await going(
      (_, round) => child.tool("read", { filePath: `src/${round}.ts` }, `const a${round} = ${round}`),
      12,
    )(child)
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const { output, error_code } = await outcomeOf(world, await started(world))
  expect(error_code).toBeNull()
  expect(output.status).toBe("completed")
  expect(world.host.said).toHaveLength(1)
})

test("what was under way when it was told does not count against it", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    await going(again, 3)(child)
    // The fourth comes with others in one step: it hears of them all only afterwards.
    for (let count = 0; count < 30; count += 1) again(child)
    child.step()
    await child.wait(100)
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const { output } = await outcomeOf(world, await started(world))
  expect(output.status).toBe("completed")
  expect(world.host.said).toHaveLength(1)
})

test("a batch of writes, a test after each edit and a poll that moves on are left alone", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    await going((_, round) => {
      child.tool("write", { filePath: `src/probe${round}.txt`, content: "" }, "Wrote file successfully.")
      child.step()
      child.tool(
        "edit",
        { filePath: "a.ts", oldString: `one${round}`, newString: `two${round}` },
        "Edit applied successfully.",
      )
      child.step()
      child.tool("bash", { command: "bun test" }, "12 pass\n0 fail")
      child.step()
      child.tool("bash", { command: "sleep 1; cat progress" }, `${round} of 40 done`)
    }, 40)(child)
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const { output } = await outcomeOf(world, await started(world))
  expect(output.status).toBe("completed")
  expect(world.host.said).toEqual([])
})

test("a circle is written down when the child is told and when it is ended", async () => {
  using world = createEngineWorld()
  world.host.script("audit", going(again))
  await outcomeOf(world, await started(world))
  const events = (await world.engine.store.events(0, 200)).filter(({ type }) => type === "pass.circle")
  expect(events.map(({ data }) => data)).toMatchObject([
    { times: 4, over: false },
    { times: 8, over: true },
  ])
})

test("an answer that the host tells of again is not a turn", async () => {
  using world = createEngineWorld()
  world.host.script("audit", async (child) => {
    const { session_id } = child
    const turn = { id: "prt_1", tool: "read", input: '{"filePath":"a.ts"}', output: "const a = 1", failed: false }
    for (let count = 0; count < 20; count += 1) {
      world.engine.hear({ type: "turn", session_id, turn })
      child.step()
    }
    await child.return(VERDICT)
    child.step()
    await child.told
  })
  const { output } = await outcomeOf(world, await started(world))
  expect(output.status).toBe("completed")
  expect(world.host.said).toEqual([])
})

test("a child whose answers break off again and again is ended", async () => {
  using world = createEngineWorld()
  world.host.script(
    "audit",
    going(() => {}),
  )
  const { output } = await outcomeOf(world, await started(world))
  expect(output.completion_reason).toContain("broke off 5 times in a row")
})
