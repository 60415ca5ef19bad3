import { expect, test } from "bun:test"
import { proposedFiles } from "../../../src/pass-over/service/change/propose"
import { Report } from "../../../src/pass-over/domain/report"
import { createChangeWorld } from "../support/change"

test("a proposal with a mark in the place of a secret is kept, and never applied", async () => {
  using world = await createChangeWorld()
  world.put("a.env", "A=1\n")
  const propose = async (old_content: string, new_content: string) => {
    const report = Report.parse({
      artifacts: [{ type: "file_modification", path: "a.env", old_content, new_content, reason: "tidy" }],
    })
    const [file] = await proposedFiles(world.deps, world.project, report)
    return file?.refused
  }
  expect(await propose("A=1\n", "A=2\n")).toBeNull()
  expect(await propose("A=1\n", "A=[redacted:secret]\n")).toContain("in the place of a secret")
})
