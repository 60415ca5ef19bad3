import { expect, test } from "bun:test"
import { changeOf, createFlowTrees, paths } from "../support/flow-tree"
import { FILES, put, read } from "../support/nested"

const TWO = `
name: two
steps:
  - { id: write, agent: general, objective: Build it }
  - { id: check, agent: inspector, objective: Look at it, policy: { can_modify_files: false } }
`

test("a step sees the files that the step before it wrote", async () => {
  const seen: (string | undefined)[] = []
  using world = createFlowTrees([TWO], FILES, {
    "write#1": ({ tree }) => put(tree, "made.txt", "made\n"),
    "check#1": ({ tree }) => void seen.push(read(tree, "made.txt")),
  })
  const { state } = await world.rested(await world.start("two"))
  expect(state.status).toBe("completed")
  expect(seen).toEqual(["made\n"])
  expect(read(world.directory, "made.txt")).toBeUndefined()
  expect(await paths(world, "write#1")).toEqual(["made.txt"])
  // Who looks at it only proposes none of it, and discards nothing that it did not do.
  expect(await changeOf(world, "check#1")).toBeUndefined()
})
