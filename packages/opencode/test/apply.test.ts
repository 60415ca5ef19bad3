import { expect, test } from "bun:test"
import { applyArtifacts } from "opencode-pass-over/api"
import { createHome } from "./cli/support"
import { back, createNestedWorld, put, read } from "./pass-over/support/nested"

test("of a file that was changed and proposed two come back, and what was changed is written", async () => {
  using home = createHome()
  using world = createNestedWorld({ "a.txt": "one\n" }, { path: home.database })
  const { pass, outcome } = await world.run("audit", async (child) => {
    put(child.tree, "a.txt", "two\n")
    const said = { type: "file_modification", path: "a.txt", new_content: "three\n", reason: "as I remember it" }
    await back(child, { artifacts: [said] })
  })
  const { artifacts } = (await outcome).output
  const modified = artifacts.filter((one) => one.type === "file_modification")
  expect(modified.map((one) => one.new_content)).toEqual(["three\n", "two\n"])
  const from = { work_id: pass.id }
  const other = expect.stringContaining("The new content of a.txt is another than the one that came back")
  await expect(applyArtifacts(modified.slice(0, 1), from)).rejects.toMatchObject({ message: other })
  const invented = { ...modified[0]!, new_content: "four\n" }
  await expect(applyArtifacts([...modified, invented], from)).rejects.toMatchObject({ message: other })
  expect(read(world.directory, "a.txt")).toBe("one\n")
  expect(await applyArtifacts(artifacts, from)).toEqual(["a.txt"])
  expect(read(world.directory, "a.txt")).toBe("two\n")
})

test("a file that is to go goes, and is not emptied instead", async () => {
  using home = createHome()
  using world = createNestedWorld({ "a.txt": "one\n", "b.txt": "one\n" }, { path: home.database })
  const { pass, outcome } = await world.run("audit", async (child) => {
    await back(child, { artifacts: [{ type: "file_modification", path: "a.txt", deleted: true, reason: "unused" }] })
  })
  const { artifacts } = (await outcome).output
  const from = { work_id: pass.id }
  const [gone] = artifacts.filter((one) => one.type === "file_modification")
  const { deleted: _deleted, ...emptied } = gone!
  await expect(applyArtifacts([emptied], from)).rejects.toMatchObject({ code: "E030" })
  expect(await applyArtifacts(artifacts, from)).toEqual(["a.txt"])
  expect([read(world.directory, "a.txt"), read(world.directory, "b.txt")]).toEqual([undefined, "one\n"])
})
